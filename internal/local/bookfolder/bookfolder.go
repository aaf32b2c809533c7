// Package bookfolder finds the chapters of a book, in their order, and its metadata. It reads the settings of
// Quarto, Bookdown, Jupyter Book, MyST, mdBook, MkDocs and GitBook.
//
// [Read] tries the kinds of settings in turn. A reader collects the chapters and headings as [Entry] values, and the
// metadata as front matter. For chapters whose code Quarto has run, [StoredFiles] names the files with the outputs.
package bookfolder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/markdown/frontmatter"
)

const (
	// maxEntries bounds the chapters and headings of a book.
	maxEntries = 2000
	// maxSettings bounds the bytes that are read of a file of settings.
	maxSettings = 1 << 20
	// contentsDepth is the deepest level of headings in the table of contents.
	contentsDepth = 2
)

// Book holds the settings of a book.
type Book struct {
	// Settings are the files with the settings. The first has the order of the chapters.
	Settings []string
	// Entries are the chapters in their order.
	Entries []Entry
	// Warnings are about entries that are left out.
	Warnings []fault.Warning

	metadata map[string]any // keys of front matter
}

// Entry is a chapter, or a heading above the chapters that follow.
type Entry struct {
	// File is the path of a chapter in the folder, "" for a heading.
	File string
	// Title is the text of a heading, as Markdown. For a chapter it is the title that the settings give it, if any.
	Title string
	// Part reports that a heading begins a part of the book.
	Part bool
	// Depth is the number of the chapters that enclose it.
	Depth int
	// Appendix reports that it belongs to the appendix.
	Appendix bool
}

// form is a kind of settings. It has read for settings in YAML or TOML, or text for a Markdown file.
type form struct {
	files []string // their possible names; the first is shown in errors
	read  func(r *reader, settings map[string]any) error
	text  func(r *reader, file string, text []byte) error
}

// forms returns the kinds of settings. The first kind that a folder has counts.
func forms() []form {
	return []form{
		{files: []string{"_quarto.yml", "_quarto.yaml"}, read: (*reader).quarto},
		{files: []string{"_bookdown.yml", "_bookdown.yaml"}, read: (*reader).bookdown},
		{files: []string{"_toc.yml", "_toc.yaml"}, read: (*reader).jupyter},
		{files: []string{"myst.yml", "myst.yaml"}, read: (*reader).myst},
		{files: []string{"book.toml"}, read: (*reader).mdBook},
		{files: []string{"mkdocs.yml", "mkdocs.yaml"}, read: (*reader).mkDocs},
		{files: []string{"SUMMARY.md", "src/SUMMARY.md", "docs/SUMMARY.md"}, text: (*reader).summary},
	}
}

// errNoBook is returned for settings that are not about a book.
var errNoBook = errors.New("no book")

// Read reads the settings of the book in a folder. Errors: InvalidRequest for a folder without known settings, and
// for settings that cannot be read; ContentTooComplex for too many chapters.
func Read(folder fs.FS) (Book, error) {
	for _, f := range forms() {
		for _, file := range f.files {
			text, err := readFile(folder, file)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}

			if err != nil {
				return Book{}, fault.Errorf(fault.InvalidRequest, "%s cannot be read", file).WithCause(err)
			}

			book, err := readForm(folder, f, file, text)
			if !errors.Is(err, errNoBook) {
				return book, err
			}
		}
	}

	return Book{}, noSettings(folder)
}

// readForm reads the settings in one file.
func readForm(folder fs.FS, f form, file string, text []byte) (Book, error) {
	r := &reader{folder: folder, seen: map[string]bool{}}
	r.book.Settings, r.book.metadata = []string{file}, map[string]any{}

	if f.text != nil {
		if err := f.text(r, file, text); err != nil {
			return Book{}, err
		}

		return r.finish()
	}

	settings, err := parse(file, text)
	if err == nil {
		err = f.read(r, settings)
	}

	if err != nil {
		return Book{}, err
	}

	return r.finish()
}

// noSettings returns the error for a folder without known settings.
func noSettings(folder fs.FS) error {
	var known []string
	for _, f := range forms() {
		known = append(known, f.files[0])
	}
	last := len(known) - 1
	hint := "name its Markdown files"

	if files, err := fs.Glob(folder, "*.md"); err == nil && len(files) > 0 {
		sortPages(files)

		if len(files) > 3 {
			files = append(files[:3:3], "…")
		}
		hint += ": --merge " + input.Short(strings.Join(files, " "))
	}

	return fault.Errorf(fault.InvalidRequest,
		"it is a folder without the settings of a book; known are %s and %s. Write one, or %s",
		strings.Join(known[:last], ", "), known[last], hint)
}

// FrontMatter returns the metadata of the book as front matter, without a text after it.
func (b Book) FrontMatter() []byte {
	var out bytes.Buffer
	out.WriteString("---\n")

	keys := make([]string, 0, len(b.metadata))
	for key := range b.metadata {
		keys = append(keys, key)
	}
	slices.Sort(keys)

	for _, key := range keys {
		// YAML reads JSON. One value per line keeps lines short.
		value, err := json.MarshalIndent(b.metadata[key], "  ", " ")
		if err == nil {
			fmt.Fprintf(&out, "%s: %s\n", key, value)
		}
	}
	out.WriteString("---\n")

	return out.Bytes()
}

// reader reads the settings of one book.
type reader struct {
	folder fs.FS
	book   Book
	seen   map[string]bool // the chapters so far
}

// finish returns the book. Errors: InvalidRequest for a book without a chapter, ContentTooComplex for too many.
func (r *reader) finish() (Book, error) {
	chapters := 0

	for _, e := range r.book.Entries {
		if e.File != "" {
			chapters++
		}
	}

	switch {
	case len(r.book.Entries) > maxEntries:
		return Book{}, fault.Errorf(fault.ContentTooComplex,
			"%s: the book has more than %d chapters", r.book.Settings[0], maxEntries)
	case chapters == 0 && len(r.book.Warnings) > 0:
		return Book{}, fault.Errorf(fault.InvalidRequest, "%s: no chapter is left: %s",
			r.book.Settings[0], r.book.Warnings[0].Message)
	case chapters == 0:
		return Book{}, fault.Errorf(fault.InvalidRequest, "%s: it names no chapter", r.book.Settings[0])
	}

	return r.book, nil
}

// addEntry adds an entry. It stops one above maxEntries, so that finish notices the excess.
func (r *reader) addEntry(e Entry) {
	if len(r.book.Entries) <= maxEntries {
		r.book.Entries = append(r.book.Entries, e)
	}
}

// addChapter adds the chapter in a file, whose name may lack its extension. It warns of files that cannot be printed. A
// file that is a chapter already is left out.
func (r *reader) addChapter(name string, e Entry) {
	const most = 100 // warnings

	file, problem := r.findFile(name)
	switch {
	case problem != "" && len(r.book.Warnings) < most:
		r.book.Warnings = append(r.book.Warnings, fault.Warning{
			Code:    fault.IncludeFailed,
			Message: fmt.Sprintf("%s: chapter %s is left out: %s", r.book.Settings[0], input.Quote(name), problem),
		})
	case problem != "" || r.seen[file]:
	default:
		r.seen[file] = true
		e.File = file
		r.addEntry(e)
	}
}

// findFile returns the file of a chapter, or the problem with it.
func (r *reader) findFile(name string) (file, problem string) {
	file = path.Clean(strings.TrimPrefix(name, "./"))
	if !fs.ValidPath(file) || strings.ContainsAny(file, "\\\x00") {
		return "", "it is not in the folder of the book"
	}

	candidates := []string{file}
	if !IsChapter(file) {
		candidates = []string{file + ".md", file + ".ipynb", file + ".qmd", file + ".Rmd", file + "/index.md"}
	}

	for _, c := range candidates {
		if info, err := fs.Stat(r.folder, c); err == nil && info.Mode().IsRegular() {
			return c, ""
		}
	}

	if info, err := fs.Stat(r.folder, file); err == nil && !info.IsDir() {
		return "", "it is neither Markdown nor a notebook"
	}

	return "", "there is no such file"
}

// IsChapter reports whether a file has the extension of Markdown or of a notebook.
func IsChapter(name string) bool {
	return slices.Contains(
		[]string{".md", ".markdown", ".mdx", ".qmd", ".rmd", ".ipynb"},
		strings.ToLower(path.Ext(name)),
	)
}

// readSettings reads another file of settings, nil if it is missing or cannot be read.
func (r *reader) readSettings(file string) map[string]any {
	text, err := readFile(r.folder, file)
	if err != nil {
		return nil
	}

	values, err := parse(file, text)
	if err != nil {
		return nil
	}
	r.book.Settings = append(r.book.Settings, file)

	return values
}

// parse returns the values of a file of settings in YAML or TOML. Errors: InvalidRequest.
func parse(file string, text []byte) (map[string]any, error) {
	fields, err := frontmatter.Settings(text, path.Ext(file) == ".toml")
	if err != nil {
		return nil, fault.Errorf(fault.InvalidRequest, "%s: %s", file, fault.AsError(err).Message).WithCause(err)
	}
	values := map[string]any{}

	for _, f := range fields {
		value, err := f.Text()
		if err != nil {
			// Only the keys that a book needs must be readable.
			value = unreadable{fmt.Sprintf("%s: line %d: %s: %v", file, f.Line, input.Short(f.Key), err)}
		}
		values[f.Key] = value
	}

	return values, nil
}

// unreadable is the value of a key that cannot be read.
type unreadable struct{ problem string }

// checkReadable returns an error for the first of the keys whose value cannot be read.
func checkReadable(settings map[string]any, keys ...string) error {
	for _, key := range keys {
		if u, ok := settings[key].(unreadable); ok {
			return fault.Errorf(fault.InvalidRequest, "%s", u.problem)
		}
	}

	return nil
}

// readFile reads a settings file, up to maxSettings bytes.
func readFile(folder fs.FS, name string) ([]byte, error) {
	f, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()

	return io.ReadAll(io.LimitReader(f, maxSettings))
}
