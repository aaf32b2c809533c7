package document_test

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"

	"presswork/internal/pdffile/filetest"
)

// patterns is the cache of compiled: *regexp.Regexp by pattern.
var patterns sync.Map

// compiled returns the compiled pattern. A cache saves time, because the rules run on every object of a file.
func compiled(pattern string) *regexp.Regexp {
	re, known := patterns.Load(pattern)
	if !known {
		re, _ = patterns.LoadOrStore(pattern, regexp.MustCompile(pattern))
	}

	return re.(*regexp.Regexp)
}

// claim names the standards that a file claims to meet.
type claim struct {
	level   string // of PDF/A, such as "2b"; "" for none
	ua      bool   // PDF/UA-1
	sources int    // number of attached source files
}

// faults returns the main rules of PDF/A-2, PDF/A-3 and PDF/UA-1 that a file breaks. It shares only the object parser
// with the packer, so that it does not repeat the packer's mistakes.
func faults(t *testing.T, data []byte, c claim) (found []string) {
	t.Helper()

	fault := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if head := data[:min(len(data), 14)]; !bytes.HasPrefix(head, []byte("%PDF-1.7\n%")) ||
		slices.Min(head[10:]) < 0x80 {
		fault("the header is %q", head)
	}

	if m := compiled(`/ID \[<([0-9A-F]{32})> <([0-9A-F]{32})>\]`).FindSubmatch(data); m == nil {
		fault("there is no file id")
	}
	objects := filetest.Objects(t, data)

	catalog, ok := one(objects, "<</Type /Catalog")
	if !ok {
		return append(found, "there is no catalog")
	}
	// follow returns the object that the dictionary in refers to under key.
	follow := func(in, key string) string {
		n, _ := strconv.Atoi(match(in, "/"+key+` (\d+) 0 R`))
		return objects[n]
	}

	number, _ := strconv.Atoi(match(string(data[bytes.LastIndex(data, []byte("/Root ")):]), `/Info (\d+) 0 R`))
	info := objects[number]

	metadata := follow(catalog, "Metadata")
	if !strings.Contains(metadata, "/Subtype /XML") || strings.Contains(metadata, "/Filter") {
		fault("the metadata stream is %.80q", metadata)
	}

	about := readXMP(t, metadata)
	if got, want := about.Part+strings.ToLower(about.Conformance), c.level; got != want {
		fault("it claims PDF/A %q, not %q", got, want)
	}

	if (about.UA == "1") != c.ua {
		fault("it claims PDF/UA %q, want PDF/UA: %v", about.UA, c.ua)
	}

	for _, pair := range [][3]string{
		{"Title", about.Title, ""},
		{"Author", about.Creator, ""},
		{"Subject", about.Description, ""},
		{"Keywords", about.Keywords, ""},
		{"Creator", about.Tool, ""},
		{"Producer", about.Producer, ""},
		{"CreationDate", about.Created, "date"},
		{"ModDate", about.Modified, "date"},
	} {
		got := text(match(info, "/"+pair[0]+` (<[0-9A-F]+>|\((?:[^()\\]|\\.)*\))`))
		if pair[2] == "date" {
			d := compiled(`^D:(....)(..)(..)(..)(..)(..)\+00'00'$`).FindStringSubmatch(got)
			if d == nil {
				fault("%s is %q", pair[0], got)
				continue
			}
			got = fmt.Sprintf("%s-%s-%sT%s:%s:%sZ", d[1], d[2], d[3], d[4], d[5], d[6])
		}

		if got != pair[1] {
			fault("%s is %q in Info and %q in XMP", pair[0], got, pair[1])
		}
	}

	if !strings.Contains(catalog, "/ViewerPreferences <</DisplayDocTitle true>>") {
		fault("readers show the file name, not the title")
	}

	if c.level != "" {
		found = append(found, archiveFaults(t, objects, catalog, c)...)
	}

	if c.ua {
		found = append(found, accessFaults(objects, catalog, follow)...)
	}

	return found
}

// archiveFaults returns the rules of PDF/A that the file breaks.
func archiveFaults(t *testing.T, objects map[int]string, catalog string, c claim) (found []string) {
	profile, _ := strconv.Atoi(match(catalog, `/S /GTS_PDFA1\s[^>]*/DestOutputProfile (\d+) 0 R`))

	icc := content(t, objects[profile])
	if len(icc) < 128 || string(icc[36:40]) != "acsp" || string(icc[16:20]) != "RGB " ||
		int(icc[0])<<24|int(icc[1])<<16|int(icc[2])<<8|int(icc[3]) != len(icc) ||
		!strings.Contains(objects[profile], "/N 3") {
		found = append(found, "there is no RGB output intent")
	}
	files := 0

	for n, o := range objects {
		if strings.HasSuffix(o, "endstream") {
			o, _, _ = strings.Cut(o, "stream\n")
		}

		bare := compiled(`\((?:[^()\\]|\\.)*\)`).ReplaceAllString(o, "()")

		m := compiled(
			`/(JavaScript|JS|Launch|Movie|Sound|AA|AcroForm|XFA|LZWDecode|Crypt|Encrypt|DeviceCMYK|Interpolate true|OPI|Alternates)\b`,
		).FindString(bare)
		if m != "" {
			found = append(found, fmt.Sprintf("object %d has %s", n, m))
		}

		if strings.Contains(bare, "/Type /Annot\n") &&
			(!strings.Contains(bare, "/F 4\n") || !strings.Contains(bare, "/Subtype /Link\n")) {
			found = append(found, fmt.Sprintf("annotation %d is not a link, or is not printed", n))
		}

		if strings.Contains(bare, "/Subtype /CIDFontType") {
			d, _ := strconv.Atoi(match(bare, `/FontDescriptor (\d+) 0 R`))
			if !strings.Contains(objects[d], "/FontFile") {
				found = append(found, fmt.Sprintf("font %d is not embedded", n))
			}
		}

		for _, name := range compiled(`/[^\s/<>()\[\]]+`).FindAllString(bare, -1) {
			if len(name) > 128 {
				found = append(found, fmt.Sprintf("object %d has a name of %d bytes", n, len(name)))
			}
		}

		if strings.Contains(bare, "/Type /Filespec") {
			if files++; !strings.Contains(bare, "/AFRelationship /Source") || !strings.Contains(bare, "/UF ") ||
				!strings.Contains(catalog, "/AF [") {
				found = append(found, fmt.Sprintf("attachment %d is not associated", n))
			}
		}

		if strings.Contains(bare, "/Type /EmbeddedFile") && !strings.Contains(bare, "/Subtype /text#2Fmarkdown") {
			found = append(found, fmt.Sprintf("attachment %d has no type", n))
		}
	}

	if files != c.sources {
		found = append(found, fmt.Sprintf("%d attachments, want %d", files, c.sources))
	}

	return found
}

// accessFaults returns the rules of PDF/UA that the file breaks.
func accessFaults(objects map[int]string, catalog string, follow func(in, key string) string) (found []string) {
	if !strings.Contains(catalog, "/Marked true") || !compiled(`/Lang \([a-z]+`).MatchString(catalog) {
		found = append(found, "it is not marked as tagged, or has no language")
	}
	roles := follow(catalog, "StructTreeRoot")
	known := strings.Fields(
		"Document Part Div Caption NonStruct P H1 H2 H3 H4 H5 H6 L LI Lbl LBody Table TR TH TD THead TBody TFoot Span Code Link " +
			"BlockQuote Ruby RB RT RP Figure Formula Form Sect Quote Reference Note Annot",
	)

	for n, o := range objects {
		kind := match(o, `^<</Type /StructElem\n/S /(\w+)`)
		if kind != "" && !slices.Contains(known, kind) && !strings.Contains(roles, "/"+kind+" /") {
			found = append(found, fmt.Sprintf("element %d is a %s, which readers do not know", n, kind))
		}

		if (kind == "Figure" || kind == "Formula") && !strings.Contains(o, "/Alt ") {
			found = append(found, fmt.Sprintf("%s %d has no alternative text", kind, n))
		}

		for _, kid := range compiled(`(\d+) 0 R`).FindAllStringSubmatch(match(o, `\n/K (\[[^<\]]*\]|\d+ 0 R)`), -1) {
			k, _ := strconv.Atoi(kid[1])

			is := match(objects[k], `^<</Type /StructElem\n/S /(\w+)`)
			if kind == "LI" && is != "Lbl" && is != "LBody" ||
				kind == "L" && is != "LI" && is != "L" && is != "Caption" {
				found = append(found, fmt.Sprintf("%s %d has a %s", kind, n, is))
			}

			if !strings.Contains(objects[k], fmt.Sprintf("/P %d 0 R", n)) {
				found = append(found, fmt.Sprintf("element %d does not know its parent %d", k, n))
			}
		}

		if strings.HasPrefix(o, "<</Type /Annot\n") && !compiled(`/Contents [(<][^)>]`).MatchString(o) {
			found = append(found, fmt.Sprintf("link %d does not say where it leads", n))
		}

		if strings.HasPrefix(o, "<</Type /Page\n") && !strings.Contains(o, "/Tabs /S") {
			found = append(found, fmt.Sprintf("page %d has no tab order", n))
		}
	}

	return found
}

// one returns an object that begins with prefix, and whether there is one.
func one(objects map[int]string, prefix string) (string, bool) {
	for _, o := range objects {
		if strings.HasPrefix(o, prefix) {
			return o, true
		}
	}

	return "", false
}

// match returns the first group of a pattern, or "".
func match(in, pattern string) string {
	m := compiled(pattern).FindStringSubmatch(in)
	if m == nil {
		return ""
	}

	return m[1]
}

// text decodes a text string of an Info dictionary.
func text(value string) string {
	if inner, ok := strings.CutPrefix(value, "<FEFF"); ok {
		raw, _ := hex.DecodeString(strings.TrimSuffix(inner, ">"))

		var units []uint16
		for i := 0; i+1 < len(raw); i += 2 {
			units = append(units, uint16(raw[i])<<8|uint16(raw[i+1]))
		}

		return string(utf16.Decode(units))
	}

	return compiled(`\\(.)`).ReplaceAllString(strings.TrimSuffix(strings.TrimPrefix(value, "("), ")"), "$1")
}

// content decompresses a stream. It returns nil if the object is not a stream.
func content(t *testing.T, stream string) []byte {
	t.Helper()

	_, packed, ok := strings.Cut(stream, ">> stream\n")
	if !ok {
		return nil
	}

	z, err := zlib.NewReader(strings.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}

	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}

	return plain
}

// xmpPacket has the fields of the metadata packet.
type xmpPacket struct {
	Title, Creator, Description, Keywords, Tool, Producer, Created, Modified, Part, Conformance, UA, Language string
}

// readXMP reads the metadata packet, and fails the test if it is malformed.
func readXMP(t *testing.T, stream string) (p xmpPacket) {
	t.Helper()
	_, packet, _ := strings.Cut(stream, "stream\n")

	packet = strings.TrimSuffix(packet, "\nendstream")
	if !strings.HasPrefix(packet, "<?xpacket begin=\"\ufeff\"") || !strings.HasSuffix(packet, `<?xpacket end="r"?>`) {
		t.Errorf("the packet is not framed: %.60q", packet)
	}
	fields := map[string]*string{
		"title":       &p.Title,
		"creator":     &p.Creator,
		"description": &p.Description,
		"Keywords":    &p.Keywords,
		"CreatorTool": &p.Tool,
		"Producer":    &p.Producer,
		"CreateDate":  &p.Created,
		"ModifyDate":  &p.Modified,
		"conformance": &p.Conformance,
		"language":    &p.Language,
	}
	d := xml.NewDecoder(bytes.NewReader([]byte(packet)))
	var path []xml.Name

	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return p
		}

		if err != nil {
			t.Fatalf("the metadata is not XML: %v", err)
		}

		switch token := token.(type) {
		case xml.StartElement:
			path = append(path, token.Name)
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			for _, name := range path {
				switch {
				case name.Local == "part" && strings.Contains(name.Space, "pdfa/"):
					p.Part = string(token)
				case name.Local == "part" && strings.Contains(name.Space, "pdfua/"):
					p.UA = string(token)
				case fields[name.Local] != nil && !strings.Contains(name.Space, "pdfa/ns/property"):
					if strings.TrimSpace(string(token)) != "" {
						*fields[name.Local] += string(token)
					}
				}
			}
		}
	}
}
