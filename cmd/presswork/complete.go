package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"presswork/internal/config"
	"presswork/internal/document/layout"
	"presswork/internal/local"
	"presswork/internal/terminal"
	"presswork/themes"
)

// completeDocuments completes the arguments of md2pdf: names of Markdown files and values of flags.
func completeDocuments(cmd *cobra.Command, p *program) {
	cmd.ValidArgsFunction = cobra.FixedCompletions(markdownFiles(), cobra.ShellCompDirectiveFilterFileExt)
	completeValues(cmd, map[string][]string{
		"to":            {"pdf", "html", "epub", "png"},
		"as":            append([]string{"auto", "document", "book", "slides"}, layout.Names()...),
		"columns":       {"1", "2"},
		"density":       themes.Densities(),
		"page-size":     {"A3", "A4", "A5", "A6", "B5", "Letter", "Legal", "Tabloid"},
		"margin-preset": {"none", "narrow", "normal", "wide"},
		"toc":           {"1", "2", "3", "4", "5", "6"},
		"numbering":     {"document", "chapter"},
		"chapter-start": {"continue", "page", "right"},
		"footnotes":     {"page", "end"},
		"speaker-notes": {"comments", "pages", "none"},
		"markdown":      {"gfm", "pandoc", "obsidian", "mdx"},
		"pdf-a":         {"2b", "2u", "3b"},
		"raw-html":      {"sanitized", "escaped"},
		"code-theme":    local.CodeThemes(),
	})
	complete(cmd, "theme", p.themeNames)
	complete(cmd, "css", cobra.FixedCompletions([]string{"css"}, cobra.ShellCompDirectiveFilterFileExt))
	completeFolders(cmd)
}

// completeThemes completes the arguments of theme-preview.
func completeThemes(cmd *cobra.Command, p *program) {
	cmd.ValidArgsFunction = p.themeNames
	complete(cmd, "explore", cobra.FixedCompletions(markdownFiles(), cobra.ShellCompDirectiveFilterFileExt))
	complete(cmd, "output", cobra.FixedCompletions([]string{"pdf", "html"}, cobra.ShellCompDirectiveFilterFileExt))
	completeFolders(cmd)
}

func completeFolders(cmd *cobra.Command) {
	for _, flag := range []string{"themes-dir", "allow"} {
		complete(cmd, flag, cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
	}
}

func markdownFiles() []string { return []string{"md", "markdown", "mdown", "txt"} }

// completeValues registers the allowed words of a flag.
func completeValues(cmd *cobra.Command, flags map[string][]string) {
	for flag, values := range flags {
		complete(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
}

// complete registers the completion of a flag. It panics if the command does not have the flag: a programming error.
func complete(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err)
	}
}

// themeNames completes names of themes, each with its description.
func (p *program) themeNames(
	cmd *cobra.Command, args []string, _ string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	dir := ""
	if f := cmd.Flags().Lookup("themes-dir"); f != nil {
		dir = f.Value.String()
	}

	if cfg, err := config.Load(p.getenv); err == nil && dir == "" {
		dir = cfg.ThemesDir
	}
	catalogue := themes.Open(themes.Options{Dir: dir})
	var names []cobra.Completion

	for _, t := range catalogue.List() {
		if !slices.Contains(args, t.Name) {
			names = append(
				names,
				cobra.CompletionWithDesc(terminal.Printable(t.Name), terminal.Printable(t.Description)),
			)
		}
	}

	return names, cobra.ShellCompDirectiveNoFileComp
}

func newManCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "man",
		Short: "Print the manual page: presswork man | man -l -",
		Long: "Print the manual page in roff. To read it: presswork man | man -l -\n" +
			"To install it: presswork man > /usr/local/share/man/man1/presswork.1",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return writeManual(p.stdout, cmd.Root()) },
	}
}

// writeManual writes one manual page, in roff, for all commands.
func writeManual(w io.Writer, root *cobra.Command) error {
	m := &manual{}
	m.line(".TH PRESSWORK 1 \"\" \"presswork %s\" \"User Commands\"", roff(version()))
	m.line(".SH NAME\npresswork \\- %s", roff(root.Short))
	m.line(".SH SYNOPSIS\n.B presswork\n.I COMMAND\n.RI [ FLAGS ]\\ [ ARGUMENTS ]")
	m.line(".SH COMMANDS")
	m.commands(root)
	m.line(".SH ENVIRONMENT\nSecrets may also be given as\n.IR NAME _FILE,\nthe path of a file that holds the value.")

	for _, s := range (config.Config{}).Settings() {
		m.entry("\\fB"+roff(s.Name)+"\\fR", withDefault(s.Meaning, s.Default))
	}
	m.entry("\\fBSOURCE_DATE_EPOCH\\fR",
		"Seconds since 1970, used by md2pdf as the current time: the same document then gives the same bytes.")
	m.entry("\\fBNO_COLOR\\fR", "Any value turns off colours on the terminal.")
	m.line(".SH EXIT STATUS")

	for _, status := range []struct {
		code    int
		meaning string
	}{
		{exitOK, "Done."},
		{exitFailed, "A file failed, or there were findings with --strict."},
		{exitUsage, "Invalid usage or an invalid setting."},
		{exitNoBrowser, "No Chromium was found."},
		{exitInterrupted, "Interrupted."},
	} {
		m.entry(fmt.Sprintf("\\fB%d\\fR", status.code), status.meaning)
	}
	_, err := io.WriteString(w, m.b.String())

	return err
}

// manual collects the roff source of the manual page.
type manual struct{ b strings.Builder }

func (m *manual) line(format string, args ...any) { fmt.Fprintf(&m.b, format+"\n", args...) }

// entry writes one row of a list: a term in roff, and its meaning in plain text.
func (m *manual) entry(term, meaning string) {
	m.line(".TP\n%s\n%s", term, roff(meaning))
}

// commands lists the commands below parent.
func (m *manual) commands(parent *cobra.Command) {
	for _, cmd := range parent.Commands() {
		if !cmd.IsAvailableCommand() || cmd.Name() == "help" || parent.Name() == "completion" {
			continue
		}

		_, arguments, _ := strings.Cut(cmd.Use, " ")
		if cmd.Name() == "completion" {
			arguments = "bash|zsh|fish|powershell"
		}
		m.line(".SS \"%s %s\"", roff(cmd.CommandPath()), roff(arguments))

		about := cmd.Long
		if about == "" || cmd.Name() == "completion" {
			about = cmd.Short + "."
		}
		m.line("%s", roff(about))

		if cmd.Example != "" {
			m.line(".PP\n.EX\n%s\n.EE", roff(cmd.Example))
		}
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && !f.Hidden {
				m.flag(f)
			}
		})
		m.commands(cmd)
	}
}

// flag writes the row of a flag. A flag whose value may be omitted is shown as --name[=VALUE].
func (m *manual) flag(f *pflag.Flag) {
	value, meaning := pflag.UnquoteUsage(f)

	term := "\\fB\\-\\-" + roff(f.Name) + "\\fR"
	if f.Shorthand != "" {
		term = "\\fB\\-" + roff(f.Shorthand) + "\\fR, " + term
	}

	switch optional, ok := strings.CutPrefix(value, "[="); {
	case ok:
		term += "[=\\fI" + roff(strings.TrimSuffix(optional, "]")) + "\\fR]"
	case value != "" && f.NoOptDefVal == "":
		term += " \\fI" + roff(value) + "\\fR"
	}
	m.entry(term, capital(meaning)+".")
}

// withDefault returns a setting's description followed by its default.
func withDefault(meaning, value string) string {
	if value == "" {
		return meaning
	}

	return meaning + " Default: " + value + "."
}

// capital returns s with its first letter, which must be ASCII, in upper case.
func capital(s string) string {
	if s == "" {
		return s
	}

	return strings.ToUpper(s[:1]) + s[1:]
}

// roff escapes text for a manual page.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "\"", `\(dq`, "…", "...").Replace(s)

	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") {
			lines[i] = `\&` + l
		}
	}

	return strings.Join(lines, "\n")
}
