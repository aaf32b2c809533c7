package markdown

import (
	"slices"

	"presswork/internal/fault"
	"presswork/internal/markdown/dialect"
	"presswork/internal/markdown/dialect/kramdown"
	"presswork/internal/markdown/dialect/kramdownrfc"
	"presswork/internal/markdown/dialect/liquid"
	"presswork/internal/markdown/dialect/mdx"
	"presswork/internal/markdown/dialect/myst"
	"presswork/internal/markdown/dialect/quarto"
	"presswork/internal/markdown/include"
	"presswork/internal/markdown/source"
)

// rewriter rewrites the syntax of one program into the Markdown that the parser reads.
type rewriter struct {
	// rewrite changes the source and returns warnings about syntax that it left out.
	rewrite func(*source.Source) []fault.Warning
	// except lists the dialects whose documents do not have that syntax.
	except []string
}

// rewriters lists the rewriters in the order in which they run.
func rewriters(m *myst.Reader) []rewriter {
	return []rewriter{
		{m.Directives, []string{dialect.GFM, dialect.Pandoc}},
		{kramdown.Rewrite, []string{dialect.GFM}},
		{kramdownrfc.Rewrite, []string{dialect.GFM}},
		{liquid.Rewrite, []string{dialect.GFM, dialect.MDX}},
		{m.Roles, []string{dialect.GFM}},
	}
}

// rewrite includes files and rewrites the syntax of the dialects. It sets the text that is parsed. Errors:
// ContentTooComplex, StoreUnavailable.
func (p *parserState) rewrite(s *source.Source) error {
	if p.dialect == dialect.MDX {
		if err := mdx.Rewrite(s); err != nil {
			return err
		}
	}

	if p.options.Include != nil && p.dialect != dialect.GFM {
		found, err := include.Expand(s, include.Options{
			Open: p.options.Include, Folder: p.options.Folder, Obsidian: p.dialect == dialect.Obsidian,
		})
		if err != nil {
			return err
		}
		p.warnings.list = append(p.warnings.list, found...)
	}

	if p.options.Variable != nil && p.dialect != dialect.GFM {
		quarto.InsertVariables(s, p.options.Variable)
	}

	m := &myst.Reader{
		Substitutions: p.options.Substitutions,
		Elsewhere:     func(key string) string { return p.options.Labels[key].ID },
		Bibliography:  p.works != nil,
	}
	for _, r := range rewriters(m) {
		if !slices.Contains(r.except, p.dialect) {
			p.warnings.list = append(p.warnings.list, r.rewrite(s)...)
		}
	}
	p.src, p.warnings.lines = s.Text(), s.Lines()
	p.aliases, p.out.Unresolved = m.Aliases, m.Unresolved

	return nil
}
