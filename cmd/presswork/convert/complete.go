package convert

import (
	"slices"

	"github.com/spf13/cobra"

	"presswork/cmd/presswork/command"
	"presswork/internal/document/layout"
	"presswork/internal/local"
	"presswork/internal/terminal"
	"presswork/themes"
)

// completeDocuments completes the arguments of md2pdf: names of Markdown files and values of flags.
func completeDocuments(cmd *cobra.Command, p *command.Program) {
	cmd.ValidArgsFunction = cobra.FixedCompletions(markdownFiles(), cobra.ShellCompDirectiveFilterFileExt)
	command.CompleteValues(cmd, map[string][]string{
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
	command.Complete(cmd, "theme", themeNames(p))
	command.Complete(cmd, "css", cobra.FixedCompletions([]string{"css"}, cobra.ShellCompDirectiveFilterFileExt))
	completeFolders(cmd)
}

// completeThemes completes the arguments of theme-preview.
func completeThemes(cmd *cobra.Command, p *command.Program) {
	cmd.ValidArgsFunction = themeNames(p)
	command.Complete(cmd, "explore", cobra.FixedCompletions(markdownFiles(), cobra.ShellCompDirectiveFilterFileExt))
	command.Complete(
		cmd,
		"output",
		cobra.FixedCompletions([]string{"pdf", "html"}, cobra.ShellCompDirectiveFilterFileExt),
	)
	completeFolders(cmd)
}

// completeFolders completes the flags that take a folder.
func completeFolders(cmd *cobra.Command) {
	for _, flag := range []string{"themes-dir", "allow"} {
		command.Complete(cmd, flag, cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
	}
}

// markdownFiles lists the extensions that completion offers for documents.
func markdownFiles() []string { return []string{"md", "markdown", "mdown", "txt"} }

// themeNames completes names of themes, each with its description.
func themeNames(p *command.Program) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		dir := ""
		if f := cmd.Flags().Lookup("themes-dir"); f != nil {
			dir = f.Value.String()
		}

		if cfg, err := p.Config(); err == nil && dir == "" {
			dir = cfg.ThemesDir
		}
		var names []cobra.Completion

		for _, t := range themes.Open(themes.Options{Dir: dir}).List() {
			if !slices.Contains(args, t.Name) {
				names = append(names,
					cobra.CompletionWithDesc(terminal.Printable(t.Name), terminal.Printable(t.Description)))
			}
		}

		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
