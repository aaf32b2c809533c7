package markdown

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"presswork/internal/fault"
	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/dialect/myst"
	"presswork/internal/markdown/ext/wikilink"
	"presswork/internal/markdown/frontmatter"
	"presswork/internal/markdown/source"
	"presswork/internal/markdown/tree"
)

const (
	// maxIncludes and maxIncluded bound the files that a document includes, and the
	// bytes of all of them, counted as often as they stand in it.
	maxIncludes = 1000
	maxIncluded = 8 << 20
	// maxIncludeDepth bounds files that include files.
	maxIncludeDepth = 10
)

var (
	// bookInclude is mdBook's: {{#include file:lines}}.
	bookInclude = lazyregexp.New(`^\{\{#(?:rustdoc_)?include[ \t]+([^{}\n]{1,600}?)[ \t]*\}\}$`)
	// bangInclude is that of pandoc-include and others: !include file.
	bangInclude = lazyregexp.New("^!include(?:`([^`\n]{0,200})`)?[ \t]+(\"[^\"\n]{1,500}\"|[^\\s\"<>`]{1,500})$")
	// quartoInclude is Quarto's: {{< include file >}}.
	quartoInclude = lazyregexp.New(`^\{\{<[ \t]+include[ \t]+"?([^"{}<>\n]{1,600}?)"?[ \t]+>\}\}$`)
	// noteEmbed is Obsidian's: ![[Note#Heading]].
	noteEmbed = lazyregexp.New(`^!\[\[([^\[\]|\n#]{1,300})(?:#([^\[\]|\n^]{1,200}))?\]\]$`)
	// fenceHead is a fence of code with what follows it on the line.
	fenceHead = regexp.MustCompile("^(`{3,}|~{3,})[ \t]*([^`\n]*)$")
	// fenceInclude is in braces behind a fence: {.include} or {.go include=file}.
	fenceInclude = regexp.MustCompile(`(?:^|[\s{])(?:\.include(?:[\s}]|$)|include=)`)
	anchorMark   = regexp.MustCompile(`\bANCHOR(_END)?:[ \t]*([\w-]{1,100})`)
)

// includer puts the files that a document includes in their places.
type includer struct {
	open     func(name string) ([]byte, error)
	obsidian bool
	warn     func(line int, message string)

	out   bytes.Buffer
	lines []int // of the document, for each line that is out
	// top is the line of the document that is being read.
	top   int
	stack []string // the files that are open
	files int
	size  int
	err   error // that ends the rendering
}

// expand replaces the include directives of a document by the files they name. A
// directive whose file cannot be had stays as it is, with a warning. Errors:
// StoreUnavailable.
func (d *draft) expand(s *source.Source) error {
	src, dialect := s.Text(), d.dialect

	some := bytes.Contains(src, []byte("#include")) || bytes.Contains(src, []byte("!include")) ||
		bytes.Contains(src, []byte(".include")) ||
		bytes.Contains(src, []byte("include=")) ||
		bytes.Contains(src, []byte("rustdoc_include")) ||
		bytes.Contains(src, []byte("{{< include ")) ||
		bytes.Contains(src, []byte("include} ")) ||
		dialect == Obsidian && bytes.Contains(src, []byte("![["))
	if d.options.Include == nil || !some || dialect == GFM {
		return nil
	}
	first := max(d.options.FirstLine, 1)
	in := &includer{
		open: d.options.Include, obsidian: dialect == Obsidian,
		warn: func(line int, message string) { d.warn(fault.IncludeFailed, first+line, message) },
	}
	in.text(src, "")

	if in.err != nil || in.files == 0 {
		return in.err
	}
	s.ReplaceLines(in.out.Bytes(), in.lines)

	return nil
}

// text writes a text with its includes, each line behind prefix.
func (in *includer) text(src []byte, prefix string) {
	fence := ""        // that is open
	var listed []byte  // the lines of an {.include} fence, nil outside of one
	var listing string // its first line

	for line := range bytes.Lines(src) {
		if in.err != nil {
			return
		}
		inner := bytes.TrimLeft(line, " \t>")
		before := string(line[:len(line)-len(inner)])

		inner = bytes.TrimRight(inner, " \t\n")
		switch m := fenceHead.FindSubmatch(inner); {
		case fence != "" && m != nil && len(m[2]) == 0 && strings.HasPrefix(string(m[1]), fence):
			if listed != nil {
				in.list(listing, listed, string(line), prefix)
			} else {
				in.line(line, prefix)
			}
			fence, listed = "", nil
		case fence == "" && m != nil:
			fence = string(m[1])
			switch of := fenceInclude.FindString(string(m[2])); {
			case of == "" && string(m[2]) != "!include" && !myst.IsInclude(m[2]):
				in.line(line, prefix)
			case strings.HasSuffix(of, "include="):
				in.codeFile(line, m[2], prefix)
			default:
				listed, listing = []byte{}, string(line)
			}
		case listed != nil:
			listed = append(listed, line...)
		case !in.directive(inner, prefix+before, fence != ""):
			in.line(line, prefix)
		}

		if len(in.stack) == 0 {
			in.top++
		}
	}

	if listed != nil { // the fence was never closed
		in.line([]byte(listing), prefix)
		in.raw(listed, prefix)
	}
}

// line writes one line.
func (in *includer) line(line []byte, prefix string) {
	in.out.WriteString(prefix)
	in.out.Write(line)

	if !bytes.HasSuffix(line, []byte("\n")) && len(in.stack) > 0 {
		in.out.WriteByte('\n')
	}
	in.lines = append(in.lines, in.top)
}

func (in *includer) raw(text []byte, prefix string) {
	for line := range bytes.Lines(text) {
		in.line(line, prefix)
	}
}

// directive writes the file that a line names and reports whether it does. In code
// a file is written as it is.
func (in *includer) directive(line []byte, prefix string, code bool) bool {
	if m := bookInclude().FindSubmatch(line); m != nil {
		name, part, _ := strings.Cut(string(m[1]), ":")
		return in.file(name, func(b []byte) ([]byte, error) { return cutLines(b, part) }, prefix, code, true)
	}

	if m := quartoInclude().FindSubmatch(line); m != nil {
		return in.file(string(m[1]), func(b []byte) ([]byte, error) { return cutLines(b, "") }, prefix, code, true)
	}

	if m := bangInclude().FindSubmatch(line); m != nil {
		// In code it may well be the code's own: PlantUML has it, and YAML.
		return in.file(
			strings.Trim(string(m[2]), `"`),
			func(b []byte) ([]byte, error) { return cutLines(b, lineOptions(string(m[1]))) },
			prefix,
			code,
			!code,
		)
	}

	if m := noteEmbed().FindSubmatch(line); m != nil && in.obsidian && !code && !wikilink.IsImageName(m[1]) {
		name := strings.TrimSpace(string(m[1]))
		if path.Ext(name) != ".md" {
			name += ".md"
		}

		return in.file(
			name,
			func(b []byte) ([]byte, error) { return cutSection(b, strings.TrimSpace(string(m[2]))) },
			prefix,
			false,
			false,
		)
	}

	return false
}

// list writes the files that are named in an {.include} fence, or the fence as it
// is when none of them can be had.
func (in *includer) list(first string, names []byte, last, prefix string) {
	before := first[:len(first)-len(strings.TrimLeft(first, " \t>"))]

	done := false

	if n := myst.ReadInclude(strings.TrimLeft(strings.TrimSpace(first), " \t>`~"), before, names); n != nil {
		cut := func(b []byte) ([]byte, error) { return n.Part(b), nil }
		done, names = in.file(n.File, cut, prefix+before, n.Literal, true), nil
	}

	for line := range bytes.Lines(names) {
		name := strings.TrimSpace(strings.TrimLeft(string(line), " \t>"))
		if name == "" || strings.HasPrefix(name, "//") {
			continue
		}

		if in.file(name, func(b []byte) ([]byte, error) { return b, nil }, prefix+before, false, true) {
			in.line([]byte(strings.TrimRight(before, " \t")+"\n"), prefix) // the files' blocks stay apart
			done = true
		}
	}

	if !done {
		in.line([]byte(first), prefix)
		in.raw(names, prefix)
		in.line([]byte(last), prefix)
	}
}

// chunkOption is what the include of R Markdown's chunks says: whether they are
// shown.
var chunkOption = regexp.MustCompile(`^(?:TRUE|FALSE|[TF])\b`)

// codeFile writes the head of a fence and, into it, the file that its attributes
// name.
func (in *includer) codeFile(line, info []byte, prefix string) {
	in.line(line, prefix)

	at := bytes.IndexByte(info, '{')
	if at < 0 {
		return
	}

	a, size := tree.ReadAttributes(append(bytes.Clone(info[at:]), '\n'))
	if name, ok := a.Get("include"); ok && size > 0 && !chunkOption.MatchString(name) {
		before := line[:len(line)-len(bytes.TrimLeft(line, " \t>"))]
		from, _ := a.Get("startline")
		to, _ := a.Get("endline")

		part, _ := a.Get("snippet")
		if from != "" || to != "" {
			part = from + ":" + to
		}
		in.file(name, func(b []byte) ([]byte, error) { return cutLines(b, part) }, prefix+string(before), true, true)
	}
}

// file writes a file, or the part of it that cut returns, and reports whether it
// could.
func (in *includer) file(name string, cut func([]byte) ([]byte, error), prefix string, code, complain bool) bool {
	full := name
	if len(in.stack) > 0 {
		full = path.Join(path.Dir(in.stack[len(in.stack)-1]), name)
	}

	text, err := in.read(name, path.Clean(full))
	if err == nil {
		text, err = cut(text)
	}

	if in.size += len(text) + len(prefix)*(bytes.Count(text, []byte("\n"))+1); err == nil && in.size > maxIncluded {
		err = fault.Errorf(fault.InvalidRequest, "the files of the document have more than %d MB", maxIncluded>>20)
	}

	switch {
	case fault.CodeOf(err) == fault.StoreUnavailable:
		in.err = err // another try may find the file
		return true
	case err != nil:
		if complain {
			in.warn(in.top, "include of "+strconv.Quote(clip(name))+": "+fault.AsError(err).Message)
		}

		return false
	}

	in.stack = append(in.stack, path.Clean(full))
	if code {
		in.raw(text, prefix)
	} else {
		in.text(text, prefix)
	}
	in.stack = in.stack[:len(in.stack)-1]

	return true
}

// read opens a file below the document's folder. Its errors are for the reader.
func (in *includer) read(name, full string) ([]byte, error) {
	fail := func(format string, args ...any) error {
		return fault.Errorf(fault.InvalidRequest, format, args...)
	}

	switch {
	case path.IsAbs(name) || full == ".." || strings.HasPrefix(full, "../") || strings.ContainsAny(name, "\\\x00") || strings.Contains(name, "://"):
		return nil, fail("files are included from the document's folder only")
	case slices.Contains(in.stack, full):
		return nil, fail("it includes itself: %s", clip(strings.Join(append(in.stack, full), " includes ")))
	case len(in.stack) >= maxIncludeDepth:
		return nil, fail("files include files deeper than %d levels", maxIncludeDepth)
	case in.files == maxIncludes:
		return nil, fail("the document includes more than %d files", maxIncludes)
	case in.size > maxIncluded:
		return nil, fail("the files of the document have more than %d MB", maxIncluded>>20)
	}
	in.files++

	text, err := in.open(full)
	if err != nil {
		if fault.CodeOf(err) == fault.Internal {
			return nil, fault.Errorf(fault.NotFound, "it is not there").WithCause(err)
		}

		return nil, err
	}

	text = source.NormalizeNewlines(bytes.TrimPrefix(text, []byte("\ufeff")))
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return nil, fail("it is not text in UTF-8")
	}

	if ext := strings.ToLower(path.Ext(full)); ext == ".md" || ext == ".markdown" || ext == ".mdx" {
		if _, body, ok := frontmatter.Split(text); ok {
			text = body
		}
	}

	return text, nil
}

// lineOptions makes a range of pandoc-include's "startLine=1, endLine=9".
func lineOptions(options string) string {
	from, to := "", ""

	for option := range strings.SplitSeq(options, ",") {
		key, value, _ := strings.Cut(option, "=")
		switch strings.TrimSpace(key) {
		case "startLine":
			from = strings.TrimSpace(value)
		case "endLine":
			to = strings.TrimSpace(value)
		}
	}

	if from == "" && to == "" {
		return ""
	}

	return from + ":" + to
}

// cutLines returns the part of a text that mdBook's ranges name: 2, 2:9, 2:, :9 or
// the name of an anchor.
func cutLines(text []byte, part string) ([]byte, error) {
	from, to, span := strings.Cut(part, ":")
	first, err1 := strconv.Atoi(from)

	last, err2 := strconv.Atoi(to)
	switch {
	case part == "" || part == ":":
		return text, nil
	case !span && err1 == nil:
		last = first
	case !span:
		return cutAnchor(text, part)
	case from != "" && err1 != nil || to != "" && err2 != nil:
		return nil, fault.Errorf(fault.InvalidRequest, "%q is no range of lines, such as 2:9", clip(part))
	case to == "":
		last = len(text) + 1
	}
	var out []byte

	n := 0
	for line := range bytes.Lines(text) {
		if n++; n >= first && n <= last {
			out = append(out, line...)
		}
	}

	if out == nil {
		return nil, fault.Errorf(fault.InvalidRequest, "it has %d lines, none in %s", n, clip(part))
	}

	return out, nil
}

// cutAnchor returns what stands between "ANCHOR: name" and "ANCHOR_END: name".
func cutAnchor(text []byte, name string) ([]byte, error) {
	var out []byte
	within, found := false, false

	for line := range bytes.Lines(text) {
		if m := anchorMark.FindSubmatch(line); m != nil {
			if string(m[2]) == name {
				within, found = len(m[1]) == 0, true
			}
			continue
		}

		if within {
			out = append(out, line...)
		}
	}

	if !found {
		return nil, fault.Errorf(fault.InvalidRequest, "it has no anchor %q", clip(name))
	}

	return out, nil
}

// cutSection returns the section of a note under a heading, all of it for "".
func cutSection(text []byte, heading string) ([]byte, error) {
	if heading == "" {
		return text, nil
	}
	var out []byte
	level := 0

	for line := range bytes.Lines(text) {
		marks := len(line) - len(bytes.TrimLeft(line, "#"))
		if marks > 0 && marks <= 6 && len(line) > marks && line[marks] == ' ' {
			if level > 0 && marks <= level {
				break
			}

			if level == 0 && strings.EqualFold(strings.TrimSpace(string(line[marks:])), heading) {
				level = marks
			}
		}

		if level > 0 {
			out = append(out, line...)
		}
	}

	if out == nil {
		return nil, fault.Errorf(fault.InvalidRequest, "it has no heading %q", clip(heading))
	}

	return out, nil
}
