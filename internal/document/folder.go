package document

import (
	"path"
	"slices"
	"strings"
)

// FromFolder says where the document lies in a folder whose files open reads by their
// clean paths in it, and prints parts of these after it. Each refers to files from
// where it lies; a path with a slash before it begins at the folder. With the name "",
// the document lies in the folder itself. Errors: open's.
func (d *Document) FromFolder(name string, parts []string, open func(name string) ([]byte, error)) error {
	d.Path = name
	d.Asset = from(path.Dir(name), open)
	d.Include = d.Asset

	for _, name := range parts {
		content, err := open(name)
		if err != nil {
			return err
		}
		p := Part{Content: content, Path: name, Asset: from(path.Dir(name), open)}
		p.Include = p.Asset
		d.Parts = append(d.Parts, p)
	}

	return nil
}

func from(dir string, open func(string) ([]byte, error)) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		if rooted, ok := strings.CutPrefix(name, "/"); ok {
			return open(rooted)
		}

		return open(path.Join(dir, name))
	}
}

// Text is the document's with its parts'.
func (d Document) Text() []byte {
	if len(d.Parts) == 0 {
		return d.Content
	}

	texts := [][]byte{d.Content}
	for _, p := range d.Parts {
		texts = append(texts, []byte("\n\n"), p.Content)
	}

	return slices.Concat(texts...)
}
