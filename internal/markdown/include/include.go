// Package include replaces the include directives of a document by the files that they name. It reads
// the forms of mdBook, pandoc-include, Quarto, R Markdown, MyST and Obsidian. Expand reads the document line by line,
// and included files in the same way, up to a number of levels. Each included line gets the line of its directive.
package include

import (
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/dialect/myst"
	"presswork/internal/markdown/ext/wikilink"
	"presswork/internal/markdown/frontmatter"
	"presswork/internal/markdown/source"
	"presswork/internal/markdown/tree"
)

const (
	// maxIncludes is the largest number of files that a document includes, maxIncluded their largest size together, in
	// bytes. A file counts each time that it is included.
	maxIncludes = 1000
	maxIncluded = 8 << 20
	// maxLevels is the number of levels that included files may include others.
	maxLevels = 10
)

var (
	// bookInclude matches the directive of mdBook: {{#include file:lines}}.
	bookInclude = lazyregexp.New(`^\{\{#(?:rustdoc_)?include[ \t]+([^{}\n]{1,600}?)[ \t]*\}\}$`)
	// bangInclude matches that of pandoc-include and others: !include file.
	bangInclude = lazyregexp.New("^!include(?:`([^`\n]{0,200})`)?[ \t]+(\"[^\"\n]{1,500}\"|[^\\s\"<>`]{1,500})$")
	// quartoInclude matches that of Quarto: {{< include file >}}.
	quartoInclude = lazyregexp.New(`^\{\{<[ \t]+include[ \t]+"?([^"{}<>\n]{1,600}?)"?[ \t]+>\}\}$`)
	// noteEmbed matches that of Obsidian: ![[Note#Heading]].
	noteEmbed = lazyregexp.New(`^!\[\[([^\[\]|\n#]{1,300})(?:#([^\[\]|\n^]{1,200}))?\]\]$`)
	// fenceHead matches a fence of code. Its groups are the fence and the rest of the line.
	fenceHead = lazyregexp.New("^(`{3,}|~{3,})[ \t]*([^`\n]*)$")
	// fenceInclude matches a directive in the braces after a fence: {.include} or {.go include=file}.
	fenceInclude = lazyregexp.New(`(?:^|[\s{])(?:\.include(?:[\s}]|$)|include=)`)
	// anchorMark matches the comment that begins or ends an anchor.
	anchorMark = lazyregexp.New(`\bANCHOR(_END)?:[ \t]*([\w-]{1,100})`)
)

// includer writes a document with its includes.
type includer struct {
	Options

	// warn adds a warning about a line of the document, from 0.
	warn func(line int, message string)

	out   bytes.Buffer
	lines []int // the line of the document, from 0, for each line of out
	// top is the current line of the document, from 0. It does not change within included files.
	top   int
	stack []string // the paths of the open files, outermost first
	files int      // the number of included files so far
	size  int      // their size so far, in bytes
	err   error    // an error that ends Expand
}

// Options are the settings of Expand.
type Options struct {
	// Open reads a file. It gets clean paths below the document's folder, or below the book's. Required.
	Open func(name string) ([]byte, error)
	// Folder is the folder of the document in a book, "." for the book's own. Its files, and paths that begin with
	// a slash, may be anywhere in the book. Default: the document is in no book.
	Folder string
	// Obsidian reports whether ![[Note]] is a directive.
	Obsidian bool
}

// Expand replaces the include directives of a document by their files. A directive whose file cannot be read, or
// exceeds a limit, stays as it is, with a warning. Errors: StoreUnavailable from Options.Open.
func Expand(s *source.Source, o Options) ([]fault.Warning, error) {
	src := s.Text()
	if !mayInclude(src, o.Obsidian) {
		return nil, nil
	}
	var warnings []fault.Warning

	lines := s.Lines()
	in := &includer{Options: o, warn: func(line int, message string) {
		w := fault.Warning{Code: fault.IncludeFailed, Line: lines.Line(line), Message: message}
		warnings = append(warnings, w)
	}}
	in.writeText(src, "")

	if in.err != nil || in.files == 0 {
		return warnings, in.err
	}
	s.ReplaceLines(in.out.Bytes(), in.lines)

	return warnings, nil
}

// mayInclude reports whether a text may contain a directive. It is a quick test: most documents have none.
func mayInclude(src []byte, obsidian bool) bool {
	for _, start := range []string{
		"#include", "!include", ".include", "include=", "rustdoc_include", "{{< include ", "include} ",
	} {
		if bytes.Contains(src, []byte(start)) {
			return true
		}
	}

	return obsidian && bytes.Contains(src, []byte("![["))
}

// writeText writes a text with its includes. prefix comes before each line: the indentation of the directive.
func (in *includer) writeText(src []byte, prefix string) {
	fence := ""        // the open fence
	var listed []byte  // the lines of an open {.include} fence, else nil
	var listing string // its first line

	for line := range bytes.Lines(src) {
		if in.err != nil {
			return
		}
		inner := bytes.TrimLeft(line, " \t>")
		before := string(line[:len(line)-len(inner)])

		inner = bytes.TrimRight(inner, " \t\n")
		switch m := fenceHead().FindSubmatch(inner); {
		case fence != "" && m != nil && len(m[2]) == 0 && strings.HasPrefix(string(m[1]), fence):
			if listed != nil {
				in.includeListed(listing, listed, string(line), prefix)
			} else {
				in.writeLine(line, prefix)
			}
			fence, listed = "", nil
		case fence == "" && m != nil:
			fence = string(m[1])
			switch of := fenceInclude().FindString(string(m[2])); {
			case of == "" && string(m[2]) != "!include" && !myst.IsInclude(m[2]):
				in.writeLine(line, prefix)
			case strings.HasSuffix(of, "include="):
				in.includeCode(line, m[2], prefix)
			default:
				listed, listing = []byte{}, string(line)
			}
		case listed != nil:
			listed = append(listed, line...)
		case !in.includeLine(inner, prefix+before, fence != ""):
			in.writeLine(line, prefix)
		}

		if len(in.stack) == 0 {
			in.top++
		}
	}

	if listed != nil { // the fence was never closed
		in.writeLine([]byte(listing), prefix)
		in.writeRaw(listed, prefix)
	}
}

// writeLine writes one line. The last line of an included file gets a line end, so that the document continues on a new
// line.
func (in *includer) writeLine(line []byte, prefix string) {
	in.out.WriteString(prefix)
	in.out.Write(line)

	if !bytes.HasSuffix(line, []byte("\n")) && len(in.stack) > 0 {
		in.out.WriteByte('\n')
	}
	in.lines = append(in.lines, in.top)
}

// writeRaw writes a text without looking for directives.
func (in *includer) writeRaw(text []byte, prefix string) {
	for line := range bytes.Lines(text) {
		in.writeLine(line, prefix)
	}
}

// includeLine writes the file that a line names, and reports whether the line is such a directive and its file could be
// read. In code, the file is written as it is.
func (in *includer) includeLine(line []byte, prefix string, code bool) bool {
	if m := bookInclude().FindSubmatch(line); m != nil {
		name, part, _ := strings.Cut(string(m[1]), ":")
		return in.includeFile(name, linesIn(part), prefix, code, true)
	}

	if m := quartoInclude().FindSubmatch(line); m != nil {
		return in.includeFile(string(m[1]), linesIn(""), prefix, code, true)
	}

	if m := bangInclude().FindSubmatch(line); m != nil {
		name := strings.Trim(string(m[2]), `"`)
		// Within code, do not warn: the line may be part of the code, because PlantUML and YAML use !include.
		return in.includeFile(name, linesIn(lineOptions(string(m[1]))), prefix, code, !code)
	}

	if m := noteEmbed().FindSubmatch(line); m != nil && in.Obsidian && !code && !wikilink.IsImageName(m[1]) {
		name := strings.TrimSpace(string(m[1]))
		if path.Ext(name) != ".md" {
			name += ".md"
		}

		section := func(note []byte) ([]byte, error) { return cutSection(note, strings.TrimSpace(string(m[2]))) }

		return in.includeFile(name, section, prefix, false, false)
	}

	return false
}

// includeListed writes the files that an {.include} fence or a directive of MyST names. first and last are the lines of
// the fence, names those within it. If no file can be read, it writes these lines.
func (in *includer) includeListed(first string, names []byte, last, prefix string) {
	before := first[:len(first)-len(strings.TrimLeft(first, " \t>"))]

	done := false

	if n := myst.ReadInclude(strings.TrimLeft(strings.TrimSpace(first), " \t>`~"), before, names); n != nil {
		cut := func(b []byte) ([]byte, error) { return n.Part(b), nil }
		done, names = in.includeFile(n.File, cut, prefix+before, n.Literal, true), nil
	}

	for line := range bytes.Lines(names) {
		name := strings.TrimSpace(strings.TrimLeft(string(line), " \t>"))
		if name == "" || strings.HasPrefix(name, "//") {
			continue
		}

		if in.includeFile(name, linesIn(""), prefix+before, false, true) {
			in.writeLine([]byte(strings.TrimRight(before, " \t")+"\n"), prefix) // separates the blocks of two files
			done = true
		}
	}

	if !done {
		in.writeLine([]byte(first), prefix)
		in.writeRaw(names, prefix)
		in.writeLine([]byte(last), prefix)
	}
}

// chunkOption matches the value of the option include of a chunk in R Markdown, which names no file. It decides whether
// the output is shown.
var chunkOption = lazyregexp.New(`^(?:TRUE|FALSE|[TF])\b`)

// includeCode writes the first line of a fence and the file that its attributes name.
func (in *includer) includeCode(line, info []byte, prefix string) {
	in.writeLine(line, prefix)

	at := bytes.IndexByte(info, '{')
	if at < 0 {
		return
	}

	a, size := tree.ReadAttributes(append(bytes.Clone(info[at:]), '\n'))
	if name, ok := a.Get("include"); ok && size > 0 && !chunkOption().MatchString(name) {
		before := line[:len(line)-len(bytes.TrimLeft(line, " \t>"))]
		from, _ := a.Get("startline")
		to, _ := a.Get("endline")

		part, _ := a.Get("snippet")
		if from != "" || to != "" {
			part = from + ":" + to
		}
		in.includeFile(name, linesIn(part), prefix+string(before), true, true)
	}
}

// includeFile writes the part of a file that cut returns, and reports whether the file could be read. If code is set,
// it looks for no directives in the file. If complain is set, a failure adds a warning.
func (in *includer) includeFile(
	name string,
	cut func([]byte) ([]byte, error),
	prefix string,
	code, complain bool,
) bool {
	full := in.path(name)

	text, err := in.readFile(name, full)
	if err == nil {
		text, err = cut(text)
	}

	if in.size += len(text) + len(prefix)*(bytes.Count(text, []byte("\n"))+1); err == nil && in.size > maxIncluded {
		err = fault.Errorf(fault.InvalidRequest, "the files of the document have more than %d MB", maxIncluded>>20)
	}

	switch {
	case fault.CodeOf(err) == fault.StoreUnavailable:
		in.err = err // a retry may find the file
		return true
	case err != nil:
		if complain {
			in.warn(in.top, "include of "+strconv.Quote(input.Short(name))+": "+fault.AsError(err).Message)
		}

		return false
	}

	in.stack = append(in.stack, full)
	if code {
		in.writeRaw(text, prefix)
	} else {
		in.writeText(text, prefix)
	}
	in.stack = in.stack[:len(in.stack)-1]

	return true
}

// path returns the clean path of a file that a directive names. Names are relative to the file with the directive. In a
// book, a name that begins with a slash is relative to the book.
func (in *includer) path(name string) string {
	dir := in.Folder
	if len(in.stack) > 0 {
		dir = path.Dir(in.stack[len(in.stack)-1])
	}

	if in.Folder != "" && path.IsAbs(name) {
		return path.Clean(strings.TrimLeft(name, "/"))
	}

	return path.Join(dir, name)
}

// readFile returns the text of a file without front matter. name is the name in the directive, full the clean path,
// which must be below the document's folder. Its errors are public texts for the author, or StoreUnavailable.
func (in *includer) readFile(name, full string) ([]byte, error) {
	fail := func(format string, args ...any) error {
		return fault.Errorf(fault.InvalidRequest, format, args...)
	}

	switch {
	case path.IsAbs(name) && in.Folder == "" || full == ".." || strings.HasPrefix(full, "../") ||
		strings.ContainsAny(name, "\\\x00") || strings.Contains(name, "://"):
		return nil, fail("files are included from the document's folder only")
	case slices.Contains(in.stack, full):
		return nil, fail("it includes itself: %s", input.Short(strings.Join(append(in.stack, full), " includes ")))
	case len(in.stack) >= maxLevels:
		return nil, fail("files include files deeper than %d levels", maxLevels)
	case in.files == maxIncludes:
		return nil, fail("the document includes more than %d files", maxIncludes)
	case in.size > maxIncluded:
		return nil, fail("the files of the document have more than %d MB", maxIncluded>>20)
	}
	in.files++

	text, err := in.Open(full)
	if err != nil {
		if fault.CodeOf(err) == fault.Internal {
			return nil, fault.Errorf(fault.NotFound, "the file was not found").WithCause(err)
		}

		return nil, err
	}

	text = source.NormalizeNewlines(bytes.TrimPrefix(text, []byte("\ufeff")))
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return nil, fail("it is not UTF-8 text")
	}

	if ext := strings.ToLower(path.Ext(full)); ext == ".md" || ext == ".markdown" || ext == ".mdx" ||
		ext == ".qmd" || ext == ".rmd" {
		if _, body, ok := frontmatter.Split(text); ok {
			text = body
		}
	}

	return text, nil
}
