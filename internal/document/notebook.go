package document

import (
	"path"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/markdown/notebook"
)

// isNotebook reports whether a file of that name is a Jupyter notebook.
func isNotebook(name string) bool { return strings.EqualFold(path.Ext(name), ".ipynb") }

// Source returns the content of the named file as Markdown: that of a notebook converted, any other as it is. Errors:
// those of notebook.Convert.
func Source(name string, content []byte) ([]byte, error) {
	if !isNotebook(name) {
		return content, nil
	}

	n, err := notebook.Convert(content)
	if err != nil {
		return nil, err
	}

	return n.Markdown, nil
}

// ReadNotebook replaces the content of a part by Markdown if its file is a notebook. It returns warnings about
// outputs that are left out. Errors: those of notebook.Convert.
func (p *Part) ReadNotebook() ([]fault.Warning, error) {
	if !isNotebook(p.Path) {
		return nil, nil
	}

	n, err := notebook.Convert(p.Content)
	if err != nil {
		return nil, err
	}
	open := p.Asset
	p.Content, p.Place = n.Markdown, n.Place
	p.Include = nil // a stored output may look like a directive
	p.Asset = func(name string) ([]byte, error) {
		if data, ok := n.Files[name]; ok {
			return data, nil
		}

		return open(name)
	}

	return n.Warnings, nil
}

// readNotebooks replaces the content of the document and of its parts by Markdown where their files are notebooks.
// Errors: those of notebook.Convert, which begin with the name of the file.
func (d *Document) readNotebooks() error {
	first := Part{Content: d.Content, Path: d.Path, Asset: d.Asset, Include: d.Include}

	warnings, err := first.ReadNotebook()
	if err != nil {
		return err
	}
	d.Content, d.Asset, d.Include, d.Place = first.Content, first.Asset, first.Include, first.Place
	d.Warnings = append(d.Warnings, warnings...)

	for i := range d.Parts {
		p := &d.Parts[i]

		found, err := p.ReadNotebook()
		if err != nil {
			e := fault.AsError(err)
			return fault.Errorf(e.Code, "%s: %s", path.Base(p.Path), e.Message).WithCause(err)
		}

		for _, w := range found {
			w.Message = path.Base(p.Path) + ": " + w.Message
			d.Warnings = append(d.Warnings, w)
		}
	}

	return nil
}
