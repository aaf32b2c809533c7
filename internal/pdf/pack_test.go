package pdf

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// skiaPDF builds a PDF of the form Chromium writes, with extra plain objects
// to make it large.
func skiaPDF(extra int) []byte {
	objects := []string{
		"<</Title (old)\n/Creator (Mozilla)\n/Producer (Skia/PDF m156)\n/CreationDate (D:20261121044624+00'00')\n/ModDate (D:20261121044624+00'00')>>",
		"<</Type /Catalog\n/Pages 3 0 R\n/Lang (en)>>",
		"<</Type /Pages\n/Count 2\n/Kids [4 0 R 5 0 R]>>",
		"<</Type /Page\n/Parent 3 0 R\n/Contents 6 0 R\n/MediaBox [0 0 100 100]>>",
		"<</Type /Page\n/Parent 3 0 R\n/Contents 6 0 R\n/MediaBox [0 0 100 100]>>",
		"<</Length 8>> stream\nendobj\n1\nendstream",
	}
	for i := range extra {
		objects = append(objects, fmt.Sprintf("<</Type /StructElem\n/S /P\n/K %d>>", i))
	}
	return skiaFrom(objects)
}

// skiaFrom writes objects, of which the first is Info and the second the
// catalog, as a file.
func skiaFrom(objects []string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n%\xd3\xeb\xe9\xe1\n")
	offsets := make([]int, len(objects))
	// Skia writes objects out of order.
	for i := range objects {
		n := (i + 1) % len(objects)
		offsets[n] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", n+1, objects[n])
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d\n/Root 2 0 R\n/Info 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return b.Bytes()
}

// unpack reads a PDF with a cross-reference stream, independently of the
// writer: it goes by the stream's rows alone.
func unpack(t *testing.T, data []byte) map[int]string {
	t.Helper()
	m := regexp.MustCompile(`startxref\n(\d+)\n%%EOF\n$`).FindSubmatch(data)
	if m == nil {
		t.Fatal("no startxref")
	}
	start, _ := strconv.Atoi(string(m[1]))
	rows := inflate(t, data[start:])
	objects := map[int]string{}
	streams := map[int]string{}
	at := func(row []byte) (kind, place, index int) {
		return int(row[0]), int(row[1])<<24 | int(row[2])<<16 | int(row[3])<<8 | int(row[4]), int(row[5])<<8 | int(row[6])
	}
	for n := range len(rows) / 7 {
		kind, place, index := at(rows[n*7:])
		switch kind {
		case 1:
			prefix := fmt.Sprintf("%d 0 obj\n", n)
			if !bytes.HasPrefix(data[place:], []byte(prefix)) {
				t.Fatalf("object %d is not at %d", n, place)
			}
			length := regexp.MustCompile(`/Length (\d+)>> stream\n`).FindSubmatchIndex(data[place:])
			size, _ := strconv.Atoi(string(data[place+length[2] : place+length[3]]))
			end := place + length[1] + size
			if got := string(data[end : end+len("\nendstream\nendobj\n")]); got != "\nendstream\nendobj\n" {
				t.Fatalf("object %d ends with %q", n, got)
			}
			objects[n] = string(data[place+len(prefix) : end+len("\nendstream")])
		case 2:
			if streams[place] == "" {
				_, offset, _ := at(rows[place*7:])
				head := string(data[offset : offset+200])
				first := regexp.MustCompile(`/First (\d+)`).FindStringSubmatch(head)
				streams[place] = first[1] + "|" + string(inflate(t, data[offset:]))
			}
			first, body, _ := strings.Cut(streams[place], "|")
			skip, _ := strconv.Atoi(first)
			index2 := strings.Fields(body[:skip])
			if index2[index*2] != strconv.Itoa(n) {
				t.Fatalf("object %d: the stream's index says %s", n, index2[index*2])
			}
			from, _ := strconv.Atoi(index2[index*2+1])
			to := len(body) - skip
			if index*2+3 < len(index2) {
				to, _ = strconv.Atoi(index2[index*2+3])
			}
			objects[n] = strings.TrimSuffix(body[skip+from:skip+to], "\n")
		}
	}
	return objects
}

func inflate(t *testing.T, data []byte) []byte {
	t.Helper()
	_, stream, ok := bytes.Cut(data, []byte(">> stream\n"))
	if !ok {
		t.Fatal("no stream")
	}
	z, err := zlib.NewReader(bytes.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPackKeepsEveryObject(t *testing.T) {
	t.Parallel()
	for _, extra := range []int{0, 20, 2500} {
		original := skiaPDF(extra)
		p, err := pack(original, Meta{Title: "New"}, Finish{})
		if err != nil || p.pages != 2 {
			t.Fatalf("%d objects: %d pages, %v", extra, p.pages, err)
		}
		packed := p.data
		before, err := readSkia(original)
		if err != nil {
			t.Fatal(err)
		}
		after := map[int]string{}
		if extra == 2500 {
			if len(packed) > len(original)/5 {
				t.Errorf("packed %d bytes into %d", len(original), len(packed))
			}
			after = unpack(t, packed)
		} else {
			f, err := readSkia(packed)
			if err != nil {
				t.Fatal(err)
			}
			for n, o := range f.objects {
				after[n] = string(o)
			}
		}
		for n, o := range before.objects {
			if n != before.info && n != before.root && o != nil && after[n] != string(o) {
				t.Fatalf("%d objects: object %d became %q, was %q", extra, n, after[n], o)
			}
		}
		if info := after[before.info]; !strings.HasPrefix(info, "<</Title (New)\n/Creator (Presswork)\n/Producer (Skia/PDF m156)\n/CreationDate (D:2026") || !strings.HasSuffix(info, ">>") {
			t.Errorf("Info is %q", info)
		}
	}
}

func TestInfoIsEscaped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain":       "(plain)",
		`a(b)\c`:      `(a\(b\)\\c)`,
		"é":           "<FEFF00E9>",
		"😀":           "<FEFFD83DDE00>",
		") /JS (x":    `(\) /JS \(x)`,
		"line\nbreak": "<FEFF006C0069006E0065000A0062007200650061006B>",
	} {
		if got := textString(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestPackRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	good := string(skiaPDF(3))
	for name, data := range map[string]string{
		"empty": "", "not a PDF": "hello", "cut off": good[:len(good)/2], "no trailer": strings.Replace(good, "trailer", "trailor", 1),
		"encrypted": strings.Replace(good, "/Root", "/Encrypt 9 0 R\n/Root", 1), "a revision": strings.Replace(good, "/Root", "/Prev 9\n/Root", 1),
		"bad offset": strings.Replace(good, "65535 f \n0", "65535 f \n9", 1), "negative offset": strings.Replace(good, "65535 f \n0", "65535 f \n-", 1), "no info": strings.Replace(good, "/Info", "/Imfo", 1),
		"root elsewhere": strings.Replace(good, "/Root 2", "/Root 99", 1), "huge table": strings.Replace(good, "xref\n0 1", "xref\n0 9991", 1),
		"no pages": strings.Replace(good, "/Pages 3", "/Pages 77", 1),
	} {
		if _, err := pack([]byte(data), Meta{}, Finish{}); err == nil {
			t.Errorf("%s was packed", name)
		}
	}
}

func FuzzPack(f *testing.F) {
	f.Add(skiaPDF(0))
	f.Add(skiaPDF(3))
	f.Add(skiaFrom(taggedObjects()))
	f.Add(bytes.Replace(skiaPDF(0), []byte("/Lang (en)"), []byte("/StructTreeRoot -1 0 R"), 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, finish := range []Finish{{}, {PDFA: "3b", PDFUA: true, Sources: []Attachment{{Name: "a.md"}}}, {Password: "secret"}} {
			p, err := pack(data, Meta{Title: "x"}, finish)
			if err == nil && (len(p.data) == 0 || p.pages < 0) {
				t.Errorf("%d bytes, %d pages", len(p.data), p.pages)
			}
		}
	})
}

func BenchmarkPack(b *testing.B) {
	for name, extra := range map[string]int{"small": 50, "large": 50_000} {
		b.Run(name, func(b *testing.B) {
			data := skiaPDF(extra)
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := pack(data, Meta{Title: "x"}, Finish{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
