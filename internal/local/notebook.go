package local

import (
	"path"
	"strings"

	"presswork/internal/document"
	"presswork/internal/fault"
	"presswork/internal/markdown/notebook"
)

// named returns warnings that begin with the name of a file.
func named(file string, warnings []fault.Warning) []fault.Warning {
	for i, w := range warnings {
		warnings[i].Message = file + ": " + w.Message
	}

	return warnings
}

// readNotebook replaces the content of a part by Markdown if its file is a notebook. It returns warnings about
// outputs that are left out. Errors: those of notebook.Convert.
func readNotebook(file string, p *document.Part) ([]fault.Warning, error) {
	if !strings.EqualFold(path.Ext(file), ".ipynb") {
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
