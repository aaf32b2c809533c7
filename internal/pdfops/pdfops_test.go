package pdfops

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"presswork/internal/fault"
	"presswork/internal/pdffile/filetest"
)

func file(t testing.TB, name string) File {
	t.Helper()

	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}

	return File{Name: name, Data: data}
}

// perform checks and runs an operation on files.
func perform(t testing.TB, op Operation, o Options, files ...File) (Result, error) {
	t.Helper()

	if err := Check(op, o, len(files), false); err != nil {
		return Result{}, err
	}

	return Run(t.Context(), op, o, files, File{})
}

// textOf returns the text of a PDF.
func textOf(t testing.TB, f File, password string) string {
	t.Helper()

	r, err := perform(t, Text, Options{Password: password}, f)
	if err != nil {
		t.Fatal(err)
	}

	return string(r.Files[0].Data)
}

func describe(t testing.TB, f File, password string) (d Document) {
	t.Helper()

	r, err := perform(t, Info, Options{Password: password}, f)
	if err != nil {
		t.Fatal(err)
	}

	if err := json.Unmarshal(r.Files[0].Data, &d); err != nil {
		t.Fatal(err)
	}

	return d
}

func TestEncryptedFilesOpenWithTheirPassword(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ password, cipher string }{
		"r2-user-password.pdf":     {"asdfzxcv", "RC4"},
		"r3-user-password.pdf":     {"asdfzxcv", "RC4"},
		"r4-aes-user-password.pdf": {"asdfzxcv", "AES-128"},
		"r6-both-passwords.pdf":    {"foo", "AES-256"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := file(t, name)

			if text := textOf(t, f, c.password); !strings.Contains(text, "pdf encryption test") {
				t.Errorf("the text is %.100q", text)
			}

			if d := describe(t, f, c.password); d.Encryption != c.cipher || d.Pages != 1 {
				t.Errorf("got %+v", d)
			}

			for _, wrong := range []string{"", "Asdfzxcv"} {
				_, err := perform(t, Text, Options{Password: wrong}, f)
				if fault.CodeOf(err) != fault.PDFPassword || !strings.Contains(err.Error(), name) {
					t.Errorf("with the password %q: %v", wrong, err)
				}
			}
		})
	}
}

func TestOldPasswordsAreReadInLatinLetters(t *testing.T) {
	t.Parallel()
	f := file(t, "latin-password.pdf")

	if text := textOf(t, f, "ä"); !strings.Contains(text, "Page 1 reportlab") {
		t.Errorf("the text is %.100q", text)
	}

	_, err := perform(t, Info, Options{Password: strings.Repeat("ä", 1<<20)}, f)
	if fault.CodeOf(err) != fault.PDFPassword {
		t.Errorf("a very long password gives %v", err)
	}
}

func TestFilesWithDamagedReferencesAreRepaired(t *testing.T) {
	t.Parallel()
	sound := file(t, "crazyones.pdf")
	want := textOf(t, sound, "")
	at := bytes.LastIndex(sound.Data, []byte("startxref"))

	for name, data := range map[string][]byte{
		"wrong offset":      append(bytes.Clone(sound.Data[:at]), "startxref\n7\n%%EOF\n"...),
		"no offset":         sound.Data[:at],
		"junk before":       append([]byte("junk\n\n"), sound.Data...),
		"end cut off":       sound.Data[:len(sound.Data)-40],
		"shifted offsets":   bytes.Replace(sound.Data, []byte("\n"), []byte("\n%123456789\n"), 1),
		"changed line ends": bytes.Replace(sound.Data, []byte("startxref\n"), []byte("startxref\r\n"), 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := textOf(t, File{Name: "a.pdf", Data: data}, ""); got != want {
				t.Errorf("got %.200q, want %.200q", got, want)
			}
		})
	}

	if !describe(t, file(t, "toy.pdf"), "").Repaired {
		t.Error("toy.pdf was not reported as repaired")
	}
}

func TestHostileFilesFailQuickly(t *testing.T) {
	t.Parallel()
	page := "<</Type /Page\n/Parent 3 0 R\n/MediaBox [0 0 9 9]>>"
	objects := func(more ...string) []byte {
		return filetest.Write(append([]string{"<<>>", "<</Type /Catalog\n/Pages 3 0 R>>"}, more...))
	}

	var many strings.Builder
	for range 200_000 {
		many.WriteString("1 0 obj (")
	}
	const deep = 100_000

	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"no PDF":          {[]byte("<html>"), "is not a PDF"},
		"empty":           {nil, "is not a PDF"},
		"header only":     {[]byte("%PDF-1.7\n"), "damaged"},
		"cyclic tree":     {objects("<</Type /Pages\n/Kids [3 0 R]>>"), "part of itself"},
		"tree of a cycle": {objects("<</Kids [4 0 R]>>", "<</Kids [3 0 R]>>"), "part of itself"},
		"no pages":        {objects("<</Type /Pages\n/Kids []>>"), "no pages"},
		"kid is missing":  {objects("<</Type /Pages\n/Kids [99 0 R]>>"), "not a page"},
		"deep nesting": {
			objects("<</Type /Pages\n/Kids [4 0 R]>>", page, strings.Repeat("[", deep)+strings.Repeat("]", deep)), "",
		},
		"open strings": {[]byte("%PDF-1.7\n" + many.String()), "unpack to too much data"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()

			_, err := perform(t, Rotate, Options{Degrees: 90}, File{Name: "a.pdf", Data: c.data})
			if c.want != "" && (fault.CodeOf(err) != fault.PDFInvalid || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			const generous = 30 * time.Second // one second without load

			if took := time.Since(began); took > generous {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func TestTenThousandPagesAreMergedAndSplit(t *testing.T) {
	t.Parallel()
	const pages = 10_000
	objects := []string{"<<>>", "<</Type /Catalog\n/Pages 3 0 R>>", ""}
	var kids []string

	for n := range pages {
		kids = append(kids, fmt.Sprintf("%d 0 R", 4+n))
		objects = append(objects, "<</Type /Page\n/Parent 3 0 R\n/MediaBox [0 0 99 99]>>")
	}
	objects[2] = fmt.Sprintf("<</Type /Pages\n/Count %d\n/Kids %s>>", pages, kids)
	long := File{Name: "long.pdf", Data: filetest.Write(objects)}

	merged, err := perform(t, Merge, Options{}, long, long)
	if err != nil || merged.Pages != 2*pages {
		t.Fatalf("%d pages, %v", merged.Pages, err)
	}

	part, err := perform(t, Split, Options{Pages: "9999-10002,20000", Single: true}, merged.Files[0])
	if err != nil || part.Pages != 5 {
		t.Fatalf("%d pages, %v", part.Pages, err)
	}

	if _, err := perform(t, Split, Options{}, long); fault.CodeOf(err) != fault.InvalidOption {
		t.Errorf("a split into %d files gives %v", pages, err)
	}
}

func TestSplitOfOneLargePictureEnds(t *testing.T) {
	t.Parallel()
	const pages, size = 90, 3 << 20
	var b bytes.Buffer
	fmt.Fprintf(&b, "%%PDF-1.7\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n3 0 obj\n<</Type/XObject/Subtype/Image"+
		"/Filter/DCTDecode/Length %d>>\nstream\n%s\nendstream\nendobj\n", size, strings.Repeat("x", size))
	kids := ""

	for n := 10; n < 10+pages; n++ {
		kids += fmt.Sprintf("%d 0 R ", n)
		fmt.Fprintf(&b, "%d 0 obj\n<</Type/Page/Parent 2 0 R/Resources<</XObject<</I 3 0 R>>>>>>\nendobj\n", n)
	}
	fmt.Fprintf(
		&b,
		"2 0 obj\n<</Type/Pages/Count %d/Kids[%s]>>\nendobj\ntrailer\n<</Root 1 0 R>>\n%%%%EOF",
		pages,
		kids,
	)
	picture := File{Name: "picture.pdf", Data: b.Bytes()}

	if _, err := perform(t, Split, Options{}, picture); err == nil || !strings.Contains(err.Error(), "set pages") {
		t.Errorf("%d parts of %d bytes: got %v", pages, size, err)
	}

	if r, err := perform(t, Split, Options{Pages: "1,2,3"}, picture); err != nil || len(r.Files) != 3 {
		t.Errorf("3 parts: got %d files, %v", len(r.Files), err)
	}
}

func TestInvalidOptionsAreNamed(t *testing.T) {
	t.Parallel()
	two := 2.0

	for name, c := range map[string]struct {
		op      Operation
		options Options
		want    string
	}{
		"no degrees":             {Rotate, Options{}, "degrees"},
		"45 degrees":             {Rotate, Options{Degrees: 45}, "degrees"},
		"bad ranges":             {Split, Options{Pages: "3-1"}, "pages"},
		"a range twice":          {Split, Options{Pages: "1, 1-1"}, "pages"},
		"single without pages":   {Split, Options{Single: true}, "single"},
		"option of another":      {Rotate, Options{Degrees: 90, Text: "x"}, "text"},
		"no mark":                {Stamp, Options{}, "text"},
		"too large":              {Stamp, Options{Text: "x", Scale: &two}, "scale"},
		"unknown position":       {Stamp, Options{Text: "x", Position: "middle"}, "position"},
		"no password":            {Encrypt, Options{}, "user_password"},
		"forbid without owner":   {Encrypt, Options{UserPassword: "a", Forbid: []string{"copy"}}, "forbid"},
		"unknown forbidden word": {Encrypt, Options{OwnerPassword: "a", Forbid: []string{"read"}}, "forbid"},
		"page after the last":    {Rotate, Options{Degrees: 90, Pages: "7"}, "pages"},
		"character without font": {Stamp, Options{Text: "漢"}, "text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := perform(t, c.op, c.options, file(t, "crazyones.pdf"))
			if e := fault.AsError(err); err == nil || e.Code != fault.InvalidOption || e.Param != "options."+c.want {
				t.Errorf("got %v, want the option %s", err, c.want)
			}
		})
	}
}

func TestPermissionsNeedTheOwnerPassword(t *testing.T) {
	t.Parallel()

	closed, err := perform(
		t,
		Encrypt,
		Options{OwnerPassword: "own", Forbid: []string{"copy", "print"}},
		file(t, "crazyones.pdf"),
	)
	if err != nil {
		t.Fatal(err)
	}
	f := closed.Files[0]

	if d := describe(t, f, ""); strings.Join(d.Forbids, " ") != "print copy" || d.Encryption != "AES-256" {
		t.Errorf("got %+v", d)
	}

	for _, op := range []Operation{Text, Split} {
		if _, err := perform(t, op, Options{}, f); fault.CodeOf(err) != fault.PDFPassword {
			t.Errorf("%s without the owner password: %v", op, err)
		}

		if _, err := perform(t, op, Options{Password: "own"}, f); err != nil {
			t.Errorf("%s with the owner password: %v", op, err)
		}
	}
	filetest.Poppler(t, f.Data, "pdftotext", "-opw", "own")
}

// FuzzRun feeds damaged files to every operation. None may panic or run for long.
func FuzzRun(f *testing.F) {
	for _, name := range []string{"crazyones.pdf", "issue-297.pdf", "toy.pdf", "two-different-pages.pdf"} {
		f.Add(file(f, name).Data)
	}
	f.Add(filetest.Small(3))
	f.Add(filetest.Write(filetest.Tagged()))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := File{Name: "a.pdf", Data: data}
		for op, o := range map[Operation]Options{
			Merge: {}, Split: {Pages: "1", Single: true}, Rotate: {Degrees: 90}, Stamp: {Text: "x"}, Info: {}, Text: {},
			Encrypt: {UserPassword: "a"},
		} {
			files := []File{in}
			if op == Merge {
				files = append(files, in)
			}

			r, err := Run(t.Context(), op, o, files, File{})
			if err == nil && (len(r.Files) == 0 || len(r.Files[0].Data) == 0 && op != Text) {
				t.Errorf("%s gives nothing", op)
			}
		}
	})
}
