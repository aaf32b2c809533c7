// Package filetest provides small PDF files for tests. It also reads the files that package pack writes,
// independently of package pdffile.
package filetest

import (
	"bytes"
	"compress/zlib"
	"crypto/cipher"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Small returns a PDF of two pages in the form that Chromium writes. extra is the number of plain objects that it
// adds to make the file large.
func Small(extra int) []byte {
	objects := []string{
		"<</Title (old)\n/Creator (Mozilla)\n/Producer (Skia/PDF m156)\n/CreationDate (D:20261121044624+00'00')\n" +
			"/ModDate (D:20261121044624+00'00')>>",
		"<</Type /Catalog\n/Pages 3 0 R\n/Lang (en)>>",
		"<</Type /Pages\n/Count 2\n/Kids [4 0 R 5 0 R]>>",
		"<</Type /Page\n/Parent 3 0 R\n/Contents 6 0 R\n/MediaBox [0 0 100 100]>>",
		"<</Type /Page\n/Parent 3 0 R\n/Contents 6 0 R\n/MediaBox [0 0 100 100]>>",
		"<</Length 8>> stream\nendobj\n1\nendstream",
	}
	for i := range extra {
		objects = append(objects, fmt.Sprintf("<</Type /StructElem\n/S /P\n/K %d>>", i))
	}

	return Write(objects)
}

// Write returns a PDF file of objects. The first must be the Info dictionary, the second the catalog.
func Write(objects []string) []byte {
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

// Tagged returns the objects of a small tagged page: a heading, a list with a footnote's link, a figure with a
// caption, and a formula.
func Tagged() []string {
	content := "/Pattern cs 1 0 0 rg\n0 0 9 9 re\nW n\n1 1 1 1 re\nf\n/H1 <</MCID 0 >>BDC\nBT\n/F1 9 Tf\n" +
		"<00010002> Tj\nET\nEMC\nBT\n/F1 9 Tf\n<0003> Tj\nET\n"

	return []string{
		"<</Producer (Skia/PDF m156)\n/CreationDate (D:20261121044624+00'00')>>",
		"<</Type /Catalog\n/Pages 3 0 R\n/Dests 20 0 R\n/MarkInfo <</Marked true>>\n/StructTreeRoot 6 0 R\n" +
			"/Outlines 21 0 R\n/Lang (en)>>",
		"<</Type /Pages\n/Count 1\n/Kids [4 0 R]>>",
		"<</Type /Page\n/Resources <</Font <</F1 23 0 R>>>>\n/Contents 5 0 R\n/StructParents 0\n/Tabs /S\n" +
			"/Parent 3 0 R>>",
		fmt.Sprintf("<</Length %d>> stream\n%s\nendstream", len(content), content),
		"<</Type /StructTreeRoot\n/K 7 0 R\n/ParentTree 18 0 R\n/IDTree 24 0 R>>",
		"<</Type /StructElem\n/S /Document\n/P 6 0 R\n/K [8 0 R 10 0 R 14 0 R 17 0 R]>>",
		"<</Type /StructElem\n/S /H1\n/P 7 0 R\n/K 9 0 R\n/ID (node00000777)>>",
		"<</Type /StructElem\n/S /NonStruct\n/P 8 0 R\n/Pg 4 0 R\n/K 0>>",
		"<</Type /StructElem\n/S /L\n/P 7 0 R\n/K [11 0 R]>>",
		"<</Type /StructElem\n/S /NonStruct\n/P 10 0 R\n/K [12 0 R 13 0 R]>>",
		"<</Type /StructElem\n/S /Lbl\n/P 11 0 R\n/Pg 4 0 R\n/K 1>>",
		"<</Type /StructElem\n/S /NonStruct\n/P 11 0 R\n/K [<</Type /OBJR\n/Obj 22 0 R\n/Pg 4 0 R>>]>>",
		"<</Type /StructElem\n/S /Figure\n/P 7 0 R\n/K [15 0 R 16 0 R]>>",
		"<</Type /StructElem\n/S /Figure\n/Alt (a dog\\))\n/P 14 0 R\n/Pg 4 0 R\n/K 3>>",
		"<</Type /StructElem\n/S /Caption\n/P 14 0 R\n/Pg 4 0 R\n/K 4>>",
		"<</Type /StructElem\n/S /Figure\n/Alt <FEFF2061007800B2>\n/P 7 0 R\n/Pg 4 0 R\n/K 5>>",
		"<</Type /ParentTree\n/Nums [0 19 0 R 1 13 0 R]>>",
		"[9 0 R 12 0 R 13 0 R 15 0 R 16 0 R 17 0 R]",
		"<</" + strings.Repeat("x", 200) + " [4 0 R /XYZ 0 0 0]\n/JS [4 0 R /XYZ 0 0 0]>>",
		"<</Type /Outlines\n/First 25 0 R\n/Last 25 0 R>>",
		"<</Type /Annot\n/Subtype /Link\n/F 4\n/Dest /" + strings.Repeat("x", 200) + "\n/StructParent 1>>",
		"<</Type /Font\n/Subtype /Type0\n/BaseFont /X>>",
		"<</Limits [(node00000777) (node00000777)]\n/Names [(node00000777) 8 0 R]>>",
		"<</Title (1One two1One two)\n/Dest [4 0 R /XYZ 0 0 0]\n/Parent 21 0 R\n/SE 8 0 R>>",
	}
}

// Objects splits a PDF into its objects, by number. It reads only the cross-references and does not use package
// pdffile.
func Objects(t testing.TB, data []byte) map[int]string {
	t.Helper()

	if bytes.Contains(data, []byte("/Encrypt ")) {
		t.Fatal("the PDF is encrypted")
	}

	return cut(t, data, nil)
}

// row is an entry of a cross-reference stream. kind 1 is an object at the offset place, kind 2 an object at an index of
// the object stream place.
type row struct{ kind, place, index int }

// rowAt returns the n-th row of a table whose rows have 1, 4 and 2 bytes per field.
func rowAt(table []byte, n int) row {
	b := table[n*7:]
	return row{int(b[0]), int(b[1])<<24 | int(b[2])<<16 | int(b[3])<<8 | int(b[4]), int(b[5])<<8 | int(b[6])}
}

// cut reads the cross-reference table and the objects. key is nil unless the file is encrypted.
func cut(t testing.TB, data []byte, key cipher.Block) map[int]string {
	t.Helper()

	m := regexp.MustCompile(`startxref\n(\d+)\n%%EOF\n$`).FindSubmatch(data)
	if m == nil {
		t.Fatal("no startxref")
	}

	start, _ := strconv.Atoi(string(m[1]))
	if table, classic := bytes.CutPrefix(data[start:], []byte("xref\n0 ")); classic {
		return plain(t, data[:start], table)
	}
	table := Inflate(t, data[start:])
	objects := map[int]string{}

	for n := range len(table) / 7 {
		if r := rowAt(table, n); r.kind == 1 {
			objects[n] = topmost(t, data, n, r.place)
			if key != nil && r.place != start && strings.HasSuffix(objects[n], "\nendstream") {
				objects[n] = decryptStream(t, key, objects[n])
			}
		}
	}
	streams := map[int][]string{}

	for n := range len(table) / 7 {
		r := rowAt(table, n)
		if r.kind != 2 {
			continue
		}

		if streams[r.place] == nil {
			streams[r.place] = members(t, objects[r.place])
		}

		number, body, _ := strings.Cut(streams[r.place][r.index], " ")
		if number != strconv.Itoa(n) {
			t.Fatalf("object %d: the stream's index says %s", n, number)
		}
		objects[n] = body
	}

	return objects
}

// topmost returns an object that is not in an object stream.
func topmost(t testing.TB, data []byte, n, place int) string {
	t.Helper()

	o, ok := bytes.CutPrefix(data[place:], fmt.Appendf(nil, "%d 0 obj\n", n))
	if !ok {
		t.Fatalf("object %d is not at %d", n, place)
	}

	end := bytes.Index(o, []byte("\nendobj\n"))
	if dict, _, ok := bytes.Cut(o, []byte(">> stream\n")); ok && len(dict) < end {
		length := regexp.MustCompile(`/Length (\d+)`).FindSubmatch(dict)
		if length == nil {
			t.Fatalf("stream %d has no length", n)
		}
		size, _ := strconv.Atoi(string(length[1]))
		content := len(dict) + len(">> stream\n")

		end = content + size + len("\nendstream")
		if got := string(o[content+size : end+len("\nendobj\n")]); got != "\nendstream\nendobj\n" {
			t.Fatalf("object %d ends with %q", n, got)
		}
	}

	return string(o[:end])
}

// members returns the objects in an object stream. Each begins with its number and a space.
func members(t testing.TB, object string) (all []string) {
	t.Helper()

	first := regexp.MustCompile(`/First (\d+)`).FindStringSubmatch(object)
	if first == nil {
		t.Fatalf("%.80q is not an object stream", object)
	}
	skip, _ := strconv.Atoi(first[1])
	content := Content(t, object)

	index, bodies := strings.Fields(content[:skip]), content[skip:]
	for i := 0; i < len(index); i += 2 {
		from, _ := strconv.Atoi(index[i+1])

		to := len(bodies)
		if i+3 < len(index) {
			to, _ = strconv.Atoi(index[i+3])
		}
		all = append(all, index[i]+" "+strings.TrimSuffix(bodies[from:to], "\n"))
	}

	return all
}

// plain splits a file with a classic cross-reference table into its objects.
func plain(t testing.TB, body, table []byte) map[int]string {
	t.Helper()
	objects := map[int]string{}

	for n, line := range bytes.Split(table, []byte("\n"))[1:] {
		if bytes.HasPrefix(line, []byte("trailer")) {
			return objects
		}

		if !bytes.HasSuffix(line, []byte(" n ")) {
			continue
		}
		offset, _ := strconv.Atoi(string(line[:10]))
		o, ok := bytes.CutPrefix(body[offset:], fmt.Appendf(nil, "%d 0 obj\n", n))

		end := regexp.MustCompile(`\nendobj\n(\d+ 0 obj\n|$)`).FindIndex(o)
		if !ok || end == nil {
			t.Fatalf("object %d is not at %d", n, offset)
		}
		objects[n] = string(o[:end[0]])
	}
	t.Fatal("no trailer")

	return nil
}

// Inflate unpacks the first stream in data, for example the stream of an object.
func Inflate(t testing.TB, data []byte) []byte {
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

// Each returns files as a sequence without errors, as join.Files takes them.
func Each[F any](files ...F) iter.Seq2[F, error] {
	return func(yield func(F, error) bool) {
		for _, f := range files {
			if !yield(f, nil) {
				return
			}
		}
	}
}
