package upload

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/markdown/dialect/htmldoc"
)

// maxFilename is the longest file name of a result, in bytes.
const maxFilename = 200

// NotebookName is the Path of a Jupyter notebook that has no name.
const NotebookName = "notebook.ipynb"

// Conversion is a request to convert a document, in whatever form it was sent.
type Conversion struct {
	// Content is the text of the document: Markdown, or a notebook in JSON.
	Content    string            `json:"content"`
	Theme      string            `json:"theme"`
	Output     presswork.Output  `json:"output"`
	Options    presswork.Options `json:"options"`
	WebhookURL string            `json:"webhook_url"`
	Filename   string            `json:"filename"`
	// Priority is "interactive", "bulk" or "" for the default.
	Priority string `json:"priority"`

	// Assets are the files that came with the content.
	Assets []*Asset `json:"-"`
	// Path is the path of the content in the folder that holds the assets; "" when asset names are relative to the
	// content. Its extension distinguishes a notebook from Markdown.
	Path string `json:"-"`
	// Parts are the names of the assets that are printed after the content, in order.
	Parts []string `json:"-"`
}

// TextFields returns the names of the fields, other than the content, that a query or a form may have.
func TextFields() []string {
	return []string{"theme", "output", "options", "webhook_url", "filename", "priority"}
}

// SetField sets a field that came as text, one of TextFields. The options are JSON. Errors: UnknownField, InvalidType,
// InvalidJSON.
func (r *Conversion) SetField(name string, value []byte) error {
	if !utf8.Valid(value) {
		return fault.Errorf(fault.InvalidType, "%s is not valid UTF-8", input.Quote(name)).WithParam(name)
	}

	switch name {
	case "theme":
		r.Theme = string(value)
	case "output":
		r.Output = presswork.Output(value)
	case "webhook_url":
		r.WebhookURL = string(value)
	case "filename":
		r.Filename = string(value)
	case "priority":
		r.Priority = string(value)
	case "options":
		return input.DecodeJSON(value, &r.Options, "options.")
	default:
		return input.UnknownField(name, TextFields())
	}

	return nil
}

// Discard deletes the assets. The request must not be used after it.
func (r *Conversion) Discard() {
	for _, a := range r.Assets {
		a.Discard()
	}
}

// Find returns the asset with that name, or nil.
func (r *Conversion) Find(name string) *Asset {
	if i := slices.IndexFunc(r.Assets, func(a *Asset) bool { return a.Name == name }); i >= 0 {
		return r.Assets[i]
	}

	return nil
}

// ReadAsset returns the content of the asset with that name. Errors: no asset has the name, or its temporary file
// cannot be read.
func (r *Conversion) ReadAsset(name string) ([]byte, error) {
	if a := r.Find(name); a != nil {
		return io.ReadAll(a.Open())
	}

	return nil, errors.New("no such file came with the document")
}

// Length returns the size of the content with its parts, in bytes. Each part must be the name of an asset.
func (r *Conversion) Length() int64 {
	n := int64(len(r.Content))
	for _, name := range r.Parts {
		n += r.Find(name).Size
	}

	return n
}

// Fingerprint returns a digest of the request for its idempotency key. Requests that differ only in their form, or in
// the order of their files, have the same digest.
func (r *Conversion) Fingerprint() string {
	h := sha256.New()
	fields := *r

	fields.Content = ""
	if fields.Output == presswork.PDF {
		// The Accept header may ask for PDF instead of the field, and a retry may send another header.
		fields.Output = ""
	}
	// Options and strings always encode.
	b, _ := json.Marshal(fields)
	fmt.Fprintf(h, "%s\n%x\n", b, sha256.Sum256([]byte(r.Content)))

	byName := func(a, b *Asset) int { return strings.Compare(a.Name, b.Name) }
	for _, a := range slices.SortedFunc(slices.Values(r.Assets), byName) {
		fmt.Fprintf(h, "%q %s\n", a.Name, a.SHA256)
	}

	if r.Path != "" {
		fmt.Fprintf(h, "%q %q\n", r.Path, r.Parts)
	}

	return hex.EncodeToString(h.Sum(nil))
}

// CleanFilename returns a safe file name that ends in .pdf. It returns "" when nothing of name is left; the worker
// then names the file by its title.
func CleanFilename(name string) string {
	if name = path.Base(strings.ReplaceAll(name, `\`, "/")); name == "." || name == "/" {
		return ""
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError,
			unicode.IsControl(r),
			!unicode.IsPrint(r) && r != ' ',
			strings.ContainsRune(`/\:*?"<>|`, r):
			return '_'
		}

		return r
	}, name)

	name = strings.Trim(name, " .")
	for _, suffix := range []string{".pdf", ".html", ".htm", ".epub", ".zip", ".md", ".markdown", ".ipynb"} {
		if cut := len(name) - len(suffix); cut > 0 && strings.EqualFold(name[cut:], suffix) {
			name = name[:cut]
			break
		}
	}

	if len(name) > maxFilename {
		name = strings.ToValidUTF8(name[:maxFilename], "")
	}

	if name = strings.TrimRight(name, " ."); name == "" {
		return ""
	}

	return name + ".pdf"
}

// FromHTML turns content that is HTML into Markdown. Errors: InvalidRequest.
func (r *Conversion) FromHTML() error {
	data, err := fromHTML([]byte(r.Content))
	r.Content = string(data)

	return err
}

// fromHTML is Conversion.FromHTML for the bytes of a document.
func fromHTML(data []byte) ([]byte, error) {
	data, err := htmldoc.Markdown(data)
	if err != nil {
		return nil, fault.Errorf(fault.InvalidRequest,
			"content is HTML that cannot be read; its elements may be nested 512 levels deep").
			WithCause(err).WithParam("content")
	}

	return data, nil
}

// isWord reports whether a file name ends as those of word processors do.
func isWord(name string) bool {
	return slices.Contains([]string{".docx", ".doc", ".odt", ".rtf"}, strings.ToLower(path.Ext(name)))
}
