package markdown

import (
	"cmp"
	"slices"

	"presswork/internal/fault"
	"presswork/internal/markdown/dialect/kramdown"
	"presswork/internal/markdown/dialect/kramdownrfc"
	"presswork/internal/markdown/dialect/liquid"
	"presswork/internal/markdown/dialect/mdx"
	"presswork/internal/markdown/dialect/myst"
	"presswork/internal/markdown/include"
	"presswork/internal/markdown/source"
)

// rewriter makes what one program's Markdown has of its own the Markdown that is parsed.
type rewriter struct {
	rewrite func(*source.Source) []fault.Warning
	// except are the dialects whose documents it leaves as they are.
	except []string
}

// rewriters lists the rewriters in their order, with the reader of MyST.
func rewriters(m *myst.Reader) []rewriter {
	return []rewriter{
		{m.Directives, []string{GFM, Pandoc}},
		{kramdown.Rewrite, []string{GFM}},
		{kramdownrfc.Rewrite, []string{GFM}},
		{liquid.Rewrite, []string{GFM, MDX}},
		{m.Roles, []string{GFM}},
	}
}

// rewrite makes the source plain Markdown. Errors: ContentTooComplex, StoreUnavailable.
func (d *draft) rewrite(s *source.Source) error {
	if d.dialect == MDX {
		if err := mdx.Rewrite(s); err != nil {
			return err
		}
	}

	if d.options.Include != nil && d.dialect != GFM {
		warnings, err := include.Expand(s, d.options.Include, d.dialect == Obsidian)
		if err != nil {
			return err
		}
		d.warnings = append(d.warnings, warnings...)
	}

	m := &myst.Reader{
		Substitutions: d.options.Substitutions,
		Elsewhere:     func(key string) string { return d.options.Labels[key].ID },
		Bibliography:  d.works != nil,
	}
	for _, r := range rewriters(m) {
		if !slices.Contains(r.except, d.dialect) {
			d.warnings = append(d.warnings, r.rewrite(s)...)
		}
	}
	d.src, d.lines = s.Text(), s.Lines()
	d.aliases, d.unresolved = m.Aliases, m.Unresolved

	return nil
}

// maxWarnings keeps a hostile document from filling the job record.
const maxWarnings = 100

// sortedWarnings returns the warnings in the order of their lines.
func (d *draft) sortedWarnings() []fault.Warning {
	slices.SortStableFunc(d.warnings, func(a, b fault.Warning) int { return cmp.Compare(a.Line, b.Line) })
	return d.warnings[:min(len(d.warnings), maxWarnings)]
}
