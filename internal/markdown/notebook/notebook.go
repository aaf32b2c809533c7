// Package notebook reads Jupyter notebooks (nbformat 4) as Markdown. Cells are not run: their stored outputs are
// shown.
package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/markdown/source"
)

const (
	// maxCells bounds the cells of a notebook.
	maxCells = 20_000
	// maxFiles bounds the bytes of the pictures of a notebook.
	maxFiles = 32 << 20
	// maxWarnings bounds the warnings about a notebook.
	maxWarnings = 100
)

// Notebook is a notebook as Markdown.
type Notebook struct {
	Markdown []byte
	// Files are the pictures of the notebook, by the names that the Markdown has for them.
	Files map[string][]byte
	// Warnings are about outputs that are left out. They begin with the number of the cell.
	Warnings []fault.Warning

	lines []int // the first line of each cell, from 1
}

// Place returns the name of the cell that a line of the Markdown is in, such as "cell 3".
func (n *Notebook) Place(line int) string {
	return fmt.Sprintf("cell %d", max(1, sort.SearchInts(n.lines, line+1)))
}

// document is a notebook as it is stored (https://nbformat.readthedocs.io/en/latest/format_description.html).
type document struct {
	Format   int `json:"nbformat"`
	Metadata struct {
		Title    text     `json:"title"`
		Authors  []author `json:"authors"`
		Language struct {
			Name string `json:"name"`
		} `json:"language_info"`
		Kernel struct {
			Language string `json:"language"`
		} `json:"kernelspec"`
	} `json:"metadata"`
	Cells []cell `json:"cells"`
}

// author is a name, or a map with a name.
type author string

// UnmarshalJSON reads a name. Other values are empty.
func (a *author) UnmarshalJSON(data []byte) error {
	var person struct {
		Name string `json:"name"`
	}

	if json.Unmarshal(data, (*string)(a)) != nil && json.Unmarshal(data, &person) == nil {
		*a = author(person.Name)
	}

	return nil
}

// cell is a cell of a notebook, in the form of nbformat 4.
type cell struct {
	Type     string `json:"cell_type"`
	Source   text   `json:"source"`
	Metadata struct {
		Tags    []string `json:"tags"`
		Type    string   `json:"raw_mimetype"`
		Format  string   `json:"format"`
		Jupyter struct {
			NoSource  bool `json:"source_hidden"`
			NoOutputs bool `json:"outputs_hidden"`
		} `json:"jupyter"`
	} `json:"metadata"`
	Attachments map[string]map[string]text `json:"attachments"`
	Outputs     []output                   `json:"outputs"`
}

// text is a text that may be stored as a list of its lines.
type text string

// UnmarshalJSON reads a text or a list of texts. Other values, such as those of widgets, are empty.
func (t *text) UnmarshalJSON(data []byte) error {
	var whole string
	if json.Unmarshal(data, &whole) == nil {
		*t = text(whole)
		return nil
	}

	var lines []string
	if json.Unmarshal(data, &lines) == nil {
		*t = text(strings.Join(lines, ""))
	}

	return nil
}

// Convert returns a notebook as Markdown. Errors: InvalidRequest for a file that is no notebook of nbformat 4, with
// the line in its message; ContentTooComplex for too many cells.
func Convert(data []byte) (*Notebook, error) {
	var d document
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &d); err != nil {
		return nil, notJSON(data, err)
	}

	switch {
	case d.Format == 0 && d.Cells == nil:
		return nil, fault.Errorf(fault.InvalidRequest, "it is not a Jupyter notebook: it has no nbformat and no cells")
	case d.Format != 4:
		return nil, fault.Errorf(fault.InvalidRequest, "the notebook has nbformat %d; allowed is 4; "+
			"`jupyter nbconvert --to notebook --nbformat 4` converts it", d.Format)
	case len(d.Cells) > maxCells:
		return nil, source.TooComplex("the notebook has more than %d cells", maxCells)
	}

	w := &writer{language: d.Metadata.Language.Name}
	if w.language == "" {
		w.language = d.Metadata.Kernel.Language
	}
	w.Files = map[string][]byte{}
	w.frontMatter(&d)

	for i := range d.Cells {
		w.cell, w.number, w.pictures = &d.Cells[i], i+1, 0
		w.lines = append(w.lines, 1+bytes.Count(w.out.Bytes(), []byte("\n")))
		w.writeCell()
	}
	w.Markdown = w.out.Bytes()

	return &w.Notebook, nil
}

// notJSON returns the error for a file that is not the JSON of a notebook.
func notJSON(data []byte, err error) error {
	offset, reason := int64(0), "it is not JSON"
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset, reason = e.Offset, e.Error()
	} else if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		offset, reason = e.Offset, fmt.Sprintf("%s must not be a JSON %s", e.Field, e.Value)
	}
	line := 1 + bytes.Count(data[:min(int(offset), len(data))], []byte("\n"))

	return fault.Errorf(fault.InvalidRequest, "it is not a Jupyter notebook: line %d: %s", line, input.Short(reason)).
		WithCause(err)
}

// frontMatter writes the title and the authors of the notebook, unless its first cell has front matter.
func (w *writer) frontMatter(d *document) {
	if len(d.Cells) > 0 && strings.HasPrefix(string(d.Cells[0].Source), "---\n") {
		return
	}

	var authors []string
	for _, a := range d.Metadata.Authors {
		authors = append(authors, string(a))
	}

	if d.Metadata.Title == "" && len(authors) == 0 {
		return
	}
	w.out.WriteString("---\n")

	for _, pair := range [][2]string{{"title", string(d.Metadata.Title)}, {"author", strings.Join(authors, ", ")}} {
		if quoted, err := json.Marshal(pair[1]); err == nil && pair[1] != "" {
			fmt.Fprintf(&w.out, "%s: %s\n", pair[0], quoted)
		}
	}
	w.out.WriteString("---\n")
}

// writer writes a notebook as Markdown.
type writer struct {
	Notebook

	language string
	out      bytes.Buffer
	size     int // of Files

	cell     *cell
	number   int // of the cell, from 1
	pictures int // of the cell
}

// warn adds a warning about the cell.
func (w *writer) warn(format string, args ...any) {
	if len(w.Warnings) < maxWarnings {
		w.Warnings = append(w.Warnings, fault.Warning{
			Code: fault.SyntaxDropped, Message: fmt.Sprintf("cell %d: %s", w.number, fmt.Sprintf(format, args...)),
		})
	}
}

// hides reports whether the cell has one of the tags "hide-X" and "remove-X" of Jupyter Book.
func (c *cell) hides(what string) bool {
	return slices.ContainsFunc(c.Metadata.Tags, func(tag string) bool {
		tag = strings.ReplaceAll(tag, "_", "-")
		return tag == "hide-"+what || tag == "remove-"+what
	})
}

// block writes a block of Markdown.
func (w *writer) block(text string) {
	if text = strings.Trim(text, "\n"); text != "" {
		w.out.WriteString(text + "\n\n")
	}
}

// code writes a fenced code block.
func (w *writer) code(language, text string) {
	if text = strings.Trim(text, "\n"); strings.TrimSpace(text) == "" {
		return
	}

	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	w.block(fence + language + "\n" + text + "\n" + fence)
}

// writeCell writes a cell as Markdown, unless its tags hide it.
func (w *writer) writeCell() {
	c := w.cell
	if c.hides("cell") {
		return
	}

	switch c.Type {
	case "markdown":
		w.block(w.attached(string(c.Source)))
	case "raw":
		w.raw()
	case "code":
		w.codeCell()
	default:
		w.warn("its type %s is unknown; allowed are markdown, code and raw", input.Quote(c.Type))
	}
}

// raw writes a raw cell. As in Quarto, a first cell with front matter is the front matter of the document.
func (w *writer) raw() {
	text := string(w.cell.Source)
	format := w.cell.Metadata.Type + w.cell.Metadata.Format

	switch {
	case w.number == 1 && strings.HasPrefix(text, "---\n") || strings.Contains(format, "markdown"):
		w.block(text)
	case strings.Contains(format, "html"):
		w.html(text)
	case strings.Contains(format, "latex"):
		w.latex(text)
	case format == "":
		w.code("text", clean(text))
	default:
		w.warn("its raw text in %s is left out", input.Quote(format))
	}
}
