package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"presswork/cmd/presswork/command"
	"presswork/internal/config"
)

func newManCommand(p *command.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "man",
		Short: "Print the manual page: presswork man | man -l -",
		Long: "Print the manual page in roff. To read it: presswork man | man -l -\n" +
			"To install it: presswork man > /usr/local/share/man/man1/presswork.1",
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return writeManual(p.Stdout, cmd.Root()) },
	}
}

// writeManual writes one manual page, in roff, for all commands.
func writeManual(w io.Writer, root *cobra.Command) error {
	m := &manual{}
	m.line(".TH PRESSWORK 1 \"\" \"presswork %s\" \"User Commands\"", roff(root.Version))
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

// line writes a line of roff.
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

// roff escapes text for a manual page. A line that begins with a dot would be a request.
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
