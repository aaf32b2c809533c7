package filetest

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// Built is a file that Build has written. Objects have names instead of numbers, so that tests stay readable.
type Built struct {
	Data  []byte
	names []string // by object number, from 1
}

// packedAs is the entry of a stream's dictionary that says that its content is packed.
const packedAs = "/Filter /FlateDecode"

var (
	header   = regexp.MustCompile(`(?m)^-- (\S+) --\n`) // the line before an object
	named    = regexp.MustCompile(`@[\w-]+`)            // a reference by name
	numbered = regexp.MustCompile(`\b(\d+) 0 R\b`)      // a reference by number
	lengthOf = regexp.MustCompile(`\n?/Length \d+`)
	// defaulted are the objects that a file gets unless the test provides them.
	defaulted = map[string]string{
		"info":    "<</Producer (Skia/PDF m156)\n/CreationDate (D:20261121044624+00'00')>>",
		"catalog": "<</Type /Catalog\n/Pages @pages\n/Lang (en)>>",
	}
)

// Build writes a file of objects that have names:
//
//	-- page --
//	<</Type /Page
//	/Contents @content>>
//	-- content --
//	<<>> stream
//	BT ET
//
// "@content" refers to the object of that name. Streams get their length, and are packed when their dictionary has a
// Filter. A file without the objects "info" and "catalog" gets them.
func Build(t testing.TB, parts ...string) *Built {
	t.Helper()
	text := strings.Join(parts, "")
	bodies := maps.Clone(defaulted)
	b := &Built{names: []string{"info", "catalog"}}

	places := header.FindAllStringSubmatchIndex(text, -1)
	for i, p := range places {
		end := len(text)
		if i+1 < len(places) {
			end = places[i+1][0]
		}

		name := text[p[2]:p[3]]
		if !slices.Contains(b.names, name) {
			b.names = append(b.names, name)
		}
		bodies[name] = text[p[1]:end]
	}

	objects := make([]string, len(b.names))
	for i, name := range b.names {
		objects[i] = b.object(t, bodies[name])
	}
	b.Data = Write(objects)

	return b
}

// object replaces names by references and sets a stream's length.
func (b *Built) object(t testing.TB, body string) string {
	t.Helper()
	dict, content, isStream := strings.Cut(body, ">> stream\n")

	dict = named.ReplaceAllStringFunc(
		dict,
		func(ref string) string { return fmt.Sprintf("%d 0 R", b.Number(t, ref[1:])) },
	)
	if !isStream {
		return strings.TrimSuffix(dict, "\n")
	}

	if strings.Contains(dict, packedAs) {
		content = string(Deflate([]byte(content)))
	}

	if dict != "<<" {
		dict += "\n"
	}

	return fmt.Sprintf("%s/Length %d>> stream\n%s\nendstream", dict, len(content), content)
}

// Number returns the number of the object with that name.
func (b *Built) Number(t testing.TB, name string) int {
	t.Helper()

	i := slices.Index(b.names, name)
	if i < 0 {
		t.Fatalf("no object has the name %s", name)
	}

	return i + 1
}

// Text writes objects in the form that Build reads, with unpacked streams. It names objects that Build did not
// write "new-1", "new-2" and so on. It writes only the named objects, or all of them if no names are given.
func (b *Built) Text(t testing.TB, objects map[int]string, only ...string) string {
	t.Helper()
	var out strings.Builder

	for _, n := range slices.Sorted(maps.Keys(objects)) {
		if name := b.name(n); len(only) == 0 || slices.Contains(only, name) {
			fmt.Fprintf(&out, "-- %s --\n%s\n", name, strings.TrimSuffix(b.body(t, objects[n]), "\n"))
		}
	}

	return out.String()
}

// name returns the name of object n. Objects that the tested code has added are new-1, new-2 and so on.
func (b *Built) name(n int) string {
	if n <= len(b.names) {
		return b.names[n-1]
	}

	return "new-" + strconv.Itoa(n-len(b.names))
}

// body returns an object as readable text: names instead of numbers, and streams unpacked.
func (b *Built) body(t testing.TB, object string) string {
	t.Helper()
	dict, _, isStream := strings.Cut(object, ">> stream\n")

	dict = numbered.ReplaceAllStringFunc(dict, func(ref string) string {
		n, _ := strconv.Atoi(strings.TrimSuffix(ref, " 0 R"))
		return "@" + b.name(n)
	})
	if !isStream {
		return dict
	}

	content := Content(t, object)
	if !utf8.ValidString(content) {
		content = fmt.Sprintf("(%d bytes)", len(content))
	}
	dict = lengthOf.ReplaceAllString(strings.Replace(dict, "\n"+packedAs, "", 1), "")

	return strings.TrimSuffix(dict, packedAs) + ">> stream\n" + content
}

// Content returns the unpacked content of a stream object.
func Content(t testing.TB, object string) string {
	t.Helper()

	dict, content, ok := strings.Cut(object, " stream\n")
	if !ok {
		t.Fatalf("%.100q is not a stream", object)
	}

	if strings.Contains(dict, packedAs) {
		return string(Inflate(t, []byte(object)))
	}

	return strings.TrimSuffix(content, "\nendstream")
}

// Deflate returns content in the zlib format.
func Deflate(content []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write(content) // a write to memory cannot fail
	_ = z.Close()

	return b.Bytes()
}

// Pages returns a page tree with the pages page-1, page-2 and so on, each 100 points wide and 200 points high. The
// pages share resources. Their contents are named content-1, content-2 and so on.
func Pages(resources string, contents ...string) string {
	var out strings.Builder

	var kids []string
	for i, content := range contents {
		kids = append(kids, fmt.Sprintf("@page-%d", i+1))
		fmt.Fprintf(&out, "-- page-%[1]d --\n<</Type /Page\n/Resources <<%[2]s>>\n/MediaBox [0 0 100 200]\n"+
			"/Contents @content-%[1]d\n/Parent @pages>>\n-- content-%[1]d --\n<</Filter /FlateDecode>> stream\n%[3]s",
			i+1, resources, content)
	}

	return fmt.Sprintf("-- pages --\n<</Type /Pages\n/Count %d\n/Kids [%s]>>\n", len(contents),
		strings.Join(kids, " ")) + out.String()
}

// Element returns a structure element for Build. kind is its type, such as "P", and parent the name of its parent. rest
// holds further entries, each after a line feed.
func Element(name, kind, parent, rest string) string {
	return fmt.Sprintf("-- %s --\n<</Type /StructElem\n/S /%s\n/P @%s%s>>\n", name, kind, parent, rest)
}
