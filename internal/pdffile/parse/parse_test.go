package parse

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"presswork/internal/pdffile"
	"presswork/internal/pdffile/filetest"
)

// hybrid returns a file whose object 4 is in an object stream, and whose classic table lists it as free.
func hybrid() []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.5\n")
	offsets := map[int]int{}
	object := func(n int, body string) {
		offsets[n] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", n, body)
	}
	stream := func(dict, content string) string {
		return fmt.Sprintf("<<%s /Length %d>> stream\n%s\nendstream", dict, len(content), content)
	}
	object(1, "<</Type /Catalog /Pages 2 0 R /Metadata 4 0 R>>")
	object(2, "<</Type /Pages /Kids [3 0 R] /Count 1>>")
	object(3, "<</Type /Page /Parent 2 0 R /MediaBox [0 0 9 9]>>")
	object(5, stream("/Type /ObjStm /N 1 /First 4", "4 0 (hidden)"))
	rows := []byte{2, 0, 5, 0}
	object(6, stream("/Type /XRef /Size 5 /W [1 2 1] /Index [4 1]", string(rows)))
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 1\n0000000000 65535 f \n1 3\n")

	for n := 1; n <= 3; n++ {
		fmt.Fprintf(&b, "%010d 00000 n \n", offsets[n])
	}
	fmt.Fprintf(&b, "4 1\n0000000000 00000 f \n5 2\n%010d 00000 n \n%010d 00000 n \n", offsets[5], offsets[6])
	fmt.Fprintf(&b, "trailer\n<</Size 7 /Root 1 0 R /XRefStm %d>>\nstartxref\n%d\n%%%%EOF\n", offsets[6], start)

	return b.Bytes()
}

func TestHybridFilesShowTheirHiddenObjects(t *testing.T) {
	t.Parallel()

	d, err := Read(hybrid(), "")
	if err != nil || d.Repaired || string(d.Objects[4]) != "(hidden)" {
		t.Fatalf("got %q, %v; want the hidden object 4", d.Objects, err)
	}
}

func TestALaterRevisionReplacesAndFreesObjects(t *testing.T) {
	t.Parallel()
	base := filetest.Write([]string{
		"<<>>",
		"<</Type /Catalog\n/Pages 3 0 R>>",
		"<</Type /Pages\n/Kids [4 0 R]>>",
		"<</Type /Page>>",
		"(old)",
		"(gone)",
	})
	previous := strings.TrimSpace(string(base[bytes.LastIndex(base, []byte("startxref"))+len("startxref"):]))
	previous, _, _ = strings.Cut(previous, "\n")
	var b bytes.Buffer
	b.Write(base)
	at := b.Len()
	b.WriteString("5 0 obj\n(new)\nendobj\n")
	start := b.Len()
	fmt.Fprintf(&b, "xref\n5 2\n%010d 00000 n \n0000000000 00001 f \ntrailer\n<</Size 7 /Root 2 0 R /Prev %s>>\n"+
		"startxref\n%d\n%%%%EOF\n", at, previous, start)

	d, err := Read(b.Bytes(), "")
	if err != nil || d.Repaired || string(d.Objects[5]) != "(new)" || d.Objects[6] != nil {
		t.Fatalf("got %q, %v; want a new object 5 and no object 6", d.Objects, err)
	}
}

func TestRevisionsThatAreACycleEnd(t *testing.T) {
	t.Parallel()
	data := filetest.Write([]string{"<<>>", "<</Type /Catalog\n/Pages 3 0 R>>", "<</Type /Pages\n/Kids []>>"})
	start := string(data[bytes.LastIndex(data, []byte("startxref\n"))+len("startxref\n"):])
	start, _, _ = strings.Cut(start, "\n")
	data = bytes.Replace(data, []byte("/Info 1 0 R"), []byte("/Info 1 0 R /Prev "+start), 1)

	if d, err := Read(data, ""); err != nil || d.Root != 2 {
		t.Errorf("got %+v, %v; want the catalog 2", d, err)
	}
}

func TestAnObjectStreamThatUnpacksTooFarIsRejected(t *testing.T) {
	t.Parallel()
	// Two stages of compression: a few hundred bytes unpack to 128 MB.
	packed := filetest.Deflate(filetest.Deflate(make([]byte, 1<<27)))
	stream := fmt.Sprintf(
		"<</Type /ObjStm\n/N 1\n/First 4\n/Filter [/FlateDecode /FlateDecode]\n/Length %d>> stream\n%s"+
			"\nendstream",
		len(packed),
		packed,
	)
	data := filetest.Write([]string{"<<>>", "<</Type /Catalog\n/Pages 3 0 R>>", "<</Type /Pages\n/Kids []>>", stream})
	data = bytes.Replace(data, []byte("trailer"), []byte("TRAILER"),
		1) // without a trailer, Read searches for objects and unpacks all object streams

	if _, err := Read(data, ""); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v, want %v", err, ErrTooLarge)
	}
}

func TestCryptFiltersAreRemoved(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ dict, want string }{
		"alone": {"/Filter /Crypt\n/DecodeParms <</Name /Identity>>", "<</Length 1>>"},
		"first": {
			"/Filter [/Crypt /FlateDecode]\n/DecodeParms [<</Name /Identity>> null]",
			"<</Filter [/FlateDecode]\n/DecodeParms [null]\n/Length 1>>",
		},
		"none": {"/Filter /FlateDecode", "<</Filter /FlateDecode\n/Length 1>>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d, _, err := pdffile.ReadDict([]byte("<<" + c.dict + "\n/Length 1>>"))
			if err != nil {
				t.Fatal(err)
			}

			if dropCrypt(&d); string(d.Bytes()) != c.want {
				t.Errorf("got %s, want %s", d.Bytes(), c.want)
			}
		})
	}
}
