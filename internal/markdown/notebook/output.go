package notebook

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"presswork/internal/lazyregexp"
)

// output is a stored output of a cell: a stream of text, an error, or data in several media types.
type output struct {
	Type      string          `json:"output_type"`
	Name      string          `json:"name"`
	Text      text            `json:"text"`
	Error     string          `json:"ename"`
	Value     string          `json:"evalue"`
	Traceback []string        `json:"traceback"`
	Data      map[string]text `json:"data"`
	Metadata  json.RawMessage `json:"metadata"`
}

var (
	// cellOption matches an option of Quarto: a comment in the language of the cell. Its groups are name and value.
	cellOption = lazyregexp.New(`^(?:#|//|--|%%)\| ?([\w.-]+):[ \t]*(.*)$`)
	// escapeCode matches a control sequence of terminals.
	escapeCode = lazyregexp.New(`\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])`)
	// hiddenElement matches an element of HTML that shows nothing.
	hiddenElement = lazyregexp.New(`(?is)<(?:style|script)\b.*?</(?:style|script)[^>]*>`)
	// blankLines matches lines of HTML without content, which would end a block of HTML in Markdown.
	blankLines = lazyregexp.New(`\n(?:[ \t]*\n)+`)
	// preformatted matches an element of HTML whose line breaks are shown.
	preformatted = lazyregexp.New(`(?is)<pre\b.*?</pre>`)
)

// codeCell writes a code cell and its outputs. Tags, metadata and the options of Quarto may hide either. A label
// numbers the output as a figure or a table.
func (w *writer) codeCell() {
	code, options := takeOptions(string(w.cell.Source))
	if options["include"] == "false" {
		return
	}

	if options["echo"] != "false" && !w.cell.hides("input") && !w.cell.Metadata.Jupyter.NoSource {
		w.code(w.languageOf(code), clean(code))
	}

	if options["output"] == "false" || w.cell.hides("output") || w.cell.Metadata.Jupyter.NoOutputs {
		return
	}

	id, caption := options["label"], options["fig-cap"]
	isTable := strings.HasPrefix(id, "tbl-")

	if isTable {
		caption = options["tbl-cap"]
	} else if !strings.HasPrefix(id, "fig-") {
		id = "" // a label of other code numbers nothing
	}

	// A single picture gets the label itself. Other outputs are put into a division with the label.
	if !isTable && w.countPictures() == 1 {
		w.outputs(id, caption)
		return
	}

	if id != "" {
		w.block("::: {#" + id + "}")
	}
	w.outputs("", "")

	if id != "" {
		w.block(caption)
		w.block(":::")
	}
}

// takeOptions returns the code of a cell without the options of Quarto at its start, and these options.
func takeOptions(code string) (rest string, options map[string]string) {
	options = map[string]string{}

	for {
		line, after, _ := strings.Cut(code, "\n")

		m := cellOption().FindStringSubmatch(strings.TrimRight(line, "\r"))
		if m == nil {
			return code, options
		}
		options[m[1]], code = strings.Trim(strings.TrimSpace(m[2]), `"'`), after
	}
}

// languageOf returns the language of a cell: that of the kernel, unless a magic command such as %%bash names another.
// It removes characters that mean something in an info string.
func (w *writer) languageOf(code string) string {
	magic, _, _ := strings.Cut(strings.TrimSpace(code), "\n")
	name, _, _ := strings.Cut(strings.TrimPrefix(magic, "%%"), " ")

	for _, language := range []string{"bash", "sh", "html", "javascript", "latex", "R", "ruby", "perl", "sql"} {
		if strings.HasPrefix(magic, "%%") && strings.TrimSpace(name) == language {
			return strings.ToLower(language)
		}
	}

	return strings.Map(func(r rune) rune {
		if r <= ' ' || strings.ContainsRune("`{}~", r) {
			return -1
		}

		return r
	}, w.language)
}

// countPictures returns the number of pictures among the outputs of the cell.
func (w *writer) countPictures() (n int) {
	for _, o := range w.cell.Outputs {
		if o.Data["image/png"]+o.Data["image/svg+xml"]+o.Data["image/jpeg"] != "" {
			n++
		}
	}

	return n
}

// outputs writes the outputs of the cell. Pieces of one stream are joined. A picture gets the id and the caption.
func (w *writer) outputs(id, caption string) {
	stream, name := "", ""
	flush := func() {
		w.code("text", clean(stream))
		stream = ""
	}

	for _, o := range w.cell.Outputs {
		if o.Type == "stream" && o.Name == name {
			stream += string(o.Text)
			continue
		}
		flush()
		name = o.Name

		switch o.Type {
		case "stream":
			if o.Name == "stderr" && w.cell.hides("stderr") {
				continue
			}
			stream = string(o.Text)
		case "error":
			trace := strings.Join(o.Traceback, "\n")
			if trace == "" {
				trace = o.Error + ": " + o.Value
			}
			w.code("text", clean(trace))
		default:
			w.data(o, id, caption)
		}
	}
	flush()
}

// data writes an output in one of its media types. Pictures have priority, then HTML, LaTeX, Markdown and text.
func (w *writer) data(o output, id, caption string) {
	html := string(o.Data["text/html"])
	// HTML that needs scripts is used only if there is no other type.
	isStatic := html != "" && !strings.Contains(html, "<script") && !strings.Contains(html, "<iframe")

	switch {
	case o.Data["image/png"] != "":
		w.picture(o, "image/png", ".png", id, caption)
	case o.Data["image/svg+xml"] != "":
		w.picture(o, "image/svg+xml", ".svg", id, caption)
	case o.Data["image/jpeg"] != "":
		w.picture(o, "image/jpeg", ".jpg", id, caption)
	case isStatic:
		w.html(html)
	case o.Data["text/latex"] != "":
		w.latex(string(o.Data["text/latex"]))
	case o.Data["text/markdown"] != "":
		w.block(string(o.Data["text/markdown"]))
	case o.Data["text/plain"] != "":
		w.code("text", clean(string(o.Data["text/plain"])))
	case html != "":
		w.html(html)
	case len(o.Data) > 0:
		w.warn("an output is left out: its types %s are not shown",
			strings.Join(slices.Sorted(maps.Keys(o.Data)), ", "))
	}
}

// picture keeps a picture of a media type as a file and writes an image. The alternative text is the caption, else the
// output as text, else the number of the cell.
func (w *writer) picture(o output, kind, ext, id, caption string) {
	w.pictures++
	name := fmt.Sprintf("cell-%d-%d%s", w.number, w.pictures, ext)

	if !w.keep(name, kind, string(o.Data[kind])) {
		return
	}

	alt := caption
	if alt == "" {
		alt = strings.Trim(strings.Join(strings.Fields(string(o.Data["text/plain"])), " "), "<>")
	}

	if alt == "" || len(alt) > maxAlt {
		alt = fmt.Sprintf("Output of cell %d", w.number)
	}
	image := "![" + strings.NewReplacer("[", `\[`, "]", `\]`, "\\", `\\`).Replace(alt) + "](" + name + ")"

	switch {
	case id != "":
		image += "{#" + id + "}"
	case caption != "":
		image = strings.TrimSuffix(image, ")") + ` "` + strings.ReplaceAll(caption, `"`, "&quot;") + `")`
	}
	w.block(image)
}

// keep adds a picture to Files. Pictures other than SVG are in base64. It warns and returns false if the picture is
// damaged or exceeds maxPictures.
func (w *writer) keep(name, kind, content string) bool {
	data := []byte(content)

	if kind != "image/svg+xml" {
		var err error
		if data, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(content), "")); err != nil {
			w.warn("a picture is left out: its base64 is damaged")
			return false
		}
	}

	if w.size+len(data) > maxPictures {
		w.warn("a picture is left out: the pictures of the notebook are larger than %d MB together", maxPictures>>20)
		return false
	}
	w.size += len(data)
	w.Files[name] = data

	return true
}

// attached returns the Markdown of a cell with the names of files in place of its attachments, which it adds to Files.
func (w *writer) attached(markdown string) string {
	for i, name := range slices.Sorted(maps.Keys(w.cell.Attachments)) {
		for kind, content := range w.cell.Attachments[name] {
			_, ext, _ := strings.Cut(kind, "/")
			file := fmt.Sprintf("cell-%d-attachment-%d.%s", w.number, i+1, strings.TrimSuffix(ext, "+xml"))

			if w.keep(file, kind, string(content)) {
				markdown = strings.NewReplacer("attachment:"+name, file, "attachment:"+url.PathEscape(name), file).
					Replace(markdown)
			}
		}
	}

	return markdown
}

// html writes HTML as one block, without blank lines. The sanitiser checks it later.
func (w *writer) html(text string) {
	text = hiddenElement().ReplaceAllString(text, "")
	text = preformatted().ReplaceAllStringFunc(text, func(pre string) string {
		return strings.ReplaceAll(pre, "\n", "&#10;")
	})
	w.block("<div>\n" + strings.TrimSpace(blankLines().ReplaceAllString(clean(text), "\n")) + "\n</div>")
}

// latex writes LaTeX as a display formula. It adds dollars if the text has no delimiters.
func (w *writer) latex(text string) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "$") && !strings.HasPrefix(text, `\begin{`) && !strings.HasPrefix(text, `\[`) {
		text = "$$\n" + text + "\n$$"
	}
	w.block(text)
}

// clean returns the text that a terminal would show: without control sequences and overwritten lines.
func clean(text string) string {
	text = strings.ReplaceAll(escapeCode().ReplaceAllString(text, ""), "\r\n", "\n")

	var out strings.Builder

	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		line = strings.TrimRight(line, "\r")
		line = line[strings.LastIndexByte(line, '\r')+1:]
		out.WriteString(strings.Map(func(r rune) rune {
			if r < ' ' && r != '\t' {
				return -1
			}

			return r
		}, line))

		if ended {
			out.WriteByte('\n')
		}
	}

	return out.String()
}
