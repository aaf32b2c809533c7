// Package notebook reads Jupyter notebooks (nbformat 4) as Markdown. Cells are not run: their stored outputs are
// shown. Convert writes cell by cell, and keeps the pictures as files that the Markdown refers to.
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
	// maxCells is the largest number of cells of a notebook.
	maxCells = 20_000
	// maxPictures bounds the pictures of a notebook together, in bytes. Further pictures are left out.
	maxPictures = 32 << 20
	// maxWarnings is the largest number of warnings about a notebook.
	maxWarnings = 100
	// maxAlt is the longest alternative text of a picture, in bytes.
	maxAlt = 200
)

// Notebook is a notebook as Markdown.
type Notebook struct {
	// Markdown may begin with front matter.
	Markdown []byte
	// Files are the pictures of the notebook, by their names in the Markdown.
	Files map[string][]byte
	// Warnings are about outputs that are left out. They begin with the number of the cell.
	Warnings []fault.Warning

	lines []int // the line of the Markdown, from 1, at which each cell begins
}

// Place returns the name of the cell that a line of the Markdown, from 1, is in, such as "cell 3". Authors do not see
// the Markdown, so warnings name the cell.
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

// author is the name of an author, who may be stored as an object with a name.
type author string

// UnmarshalJSON reads a name or an object with a name. For other values the name is empty. It returns no error.
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

// UnmarshalJSON reads a text or a list of texts. For other values, such as those of widgets, the text is empty. It
// returns no error.
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

// Convert returns a notebook as Markdown. Outputs that cannot be shown are left out, with a warning. It returns
// InvalidRequest for a file that is not a notebook of nbformat 4; the message has the line of a syntax error. It
// returns ContentTooComplex for more than maxCells cells.
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

	language string // of the code cells
	out      bytes.Buffer
	size     int // of Files, in bytes

	cell     *cell // the current cell
	number   int   // the number of the current cell, from 1
	pictures int   // the number of pictures of the current cell so far
}

// warn adds a warning about the current cell, up to maxWarnings.
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

// block writes a block of Markdown and a blank line.
func (w *writer) block(text string) {
	if text = strings.Trim(text, "\n"); text != "" {
		w.out.WriteString(text + "\n\n")
	}
}

// code writes a fenced code block. The fence is longer than the fences in the text.
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

// raw writes a raw cell by its format. As in Quarto, a first cell with front matter is the front matter of the
// document.
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
