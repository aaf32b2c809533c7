package main

import (
	"slices"

	"github.com/spf13/cobra"

	"presswork/internal/config"
	"presswork/internal/local"
	"presswork/internal/terminal"
	"presswork/themes"
)

// completeDocuments completes what md2pdf takes: Markdown files, and the
// values of its flags.
func completeDocuments(cmd *cobra.Command, p *program) {
	cmd.ValidArgsFunction = cobra.FixedCompletions(markdownFiles(), cobra.ShellCompDirectiveFilterFileExt)
	completeValues(cmd, map[string][]string{
		"to":            {"pdf", "html", "epub", "png"},
		"as":            {"document", "book", "slides"},
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

// completeThemes completes what theme-preview takes.
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

// completeValues completes flags that take one of a few words.
func completeValues(cmd *cobra.Command, flags map[string][]string) {
	for flag, values := range flags {
		complete(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
}

// complete is RegisterFlagCompletionFunc for a flag that is there: the command
// was just given it.
func complete(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err)
	}
}

// themeNames completes the names of themes, with their descriptions.
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
