package api_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/api"
	"presswork/internal/fault"
)

// zipped returns an archive of files, each "name\ncontent". change may modify their headers.
func zipped(t *testing.T, change func(*zip.FileHeader), files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)

	for _, file := range files {
		name, content, _ := strings.Cut(file, "\n")

		head := &zip.FileHeader{Name: name, Method: zip.Deflate}
		if change != nil {
			change(head)
		}

		out, err := w.CreateHeader(head)
		if err != nil {
			t.Fatal(err)
		}

		if _, err := out.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	return b.Bytes()
}

// archive submits a zip archive.
func (h *harness) archive(data []byte, query string) reply {
	h.t.Helper()
	return h.do(http.MethodPost, "/api/conversion"+query, bytes.NewReader(data), "Content-Type: application/zip")
}

func TestSeveralDocumentsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	h := serve(t)
	h.form(
		file("content", "intro.md", "# Intro"),
		file("content", "text/usage.md", "# Usage"),
		file("content[text/end.md]", "x", "# End"),
		file("assets", "text/a.png", "PNG"),
		field("theme", "nord"),
	).want(t, http.StatusAccepted, "")

	p := payload(t, h.queue.last())
	if p.Content != "# Intro" || p.Path != "intro.md" || p.Filename != "intro.pdf" {
		t.Errorf("the payload is %+v, want intro.md first", p)
	}

	if diff := cmp.Diff([]string{"text/usage.md", "text/end.md"}, p.Parts); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}

	if p.Assets[1].Name != "text/usage.md" || string(h.stored(p.Assets[1].Key)) != "# Usage" {
		t.Errorf("the assets are %+v, want text/usage.md second", p.Assets)
	}
}

func TestAFolderIsOneDocument(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		files []string
		order string
	}{
		"one":             {[]string{"a/guide.md"}, "guide.md"},
		"by name":         {[]string{"10.md", "2.md", "b/x.md", "b/README.md", "b/a.png", "c.markdown", "readme.md", "_part.md", "_drafts/d.md"}, "readme.md 2.md 10.md b/README.md b/x.md c.markdown"},
		"common folder":   {[]string{"book/b.md", "book/index.md", "book/z/a.md"}, "index.md b.md z/a.md"},
		"summary":         {[]string{"src/SUMMARY.md\n# Summary\n[Zero](z.md#top)\n- [One](./one/a%20b.md 'Title')\n  - [again](z.md)\n- [Draft]()\n- [Away](https://e.example/x.md)", "src/z.md", "src/one/a b.md", "src/notes.md"}, "z.md one/a b.md"},
		"hidden":          {[]string{"d/a.md", "__MACOSX/d/._a.md", "d/.git/b.md", "d/.DS_Store"}, "a.md"},
		"highest summary": {[]string{"SUMMARY.md\n[a](deep/a.md)", "deep/SUMMARY.md\n[b](b.md)", "deep/a.md", "deep/b.md"}, "deep/a.md"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var parts []part

			for i, f := range tc.files {
				if !strings.Contains(f, "\n") {
					tc.files[i] = f + "\n# " + f
				}
				path, text, _ := strings.Cut(tc.files[i], "\n")
				parts = append(parts, file("files", path, text))
			}

			h := serve(t)
			for form, answer := range map[string]reply{
				"files":          h.form(parts...),
				"archive":        h.form(file("archive", "book.zip", string(zipped(t, nil, tc.files...)))),
				"body":           h.archive(zipped(t, nil, tc.files...), ""),
				"with backslash": h.archive(zipped(t, func(f *zip.FileHeader) { f.Name = strings.ReplaceAll(f.Name, "/", `\`) }, tc.files...), ""),
			} {
				t.Run(form, func(t *testing.T) {
					answer.want(t, http.StatusAccepted, "")

					p := payload(t, h.queue.last())

					got := strings.Join(append([]string{p.Path}, p.Parts...), " ")
					if got != tc.order || p.Content == "" {
						t.Errorf("the documents are %q, want %q; the first is %q", got, tc.order, p.Content)
					}
				})
			}
		})
	}
}

func TestAnArchiveTakesTheFieldsOfAForm(t *testing.T) {
	t.Parallel()
	h := serve(t)
	data := zipped(t, nil, "a.md\n# A", "img/a.png\nPNG")
	h.archive(data, "?theme=nord&filename=book.pdf&options="+`%7B%22toc%22:true%7D`).want(t, http.StatusAccepted, "")

	p := payload(t, h.queue.last())
	if p.Theme != "nord" || p.Filename != "book.pdf" || p.Options.TOC == nil || p.Content != "# A" ||
		len(p.Assets) != 2 {
		t.Errorf("the payload is %+v, want the fields of the query and both files", p)
	}
	h.archive(data, "?thme=nord").want(t, http.StatusBadRequest, fault.UnknownField)

	got := h.do(http.MethodPost, "/api/preview?theme=nord",
		bytes.NewReader(zipped(t, nil, "a.md\n# First\n[on](b/b.md)", "b/b.md\n# Second")),
		"Content-Type: application/zip")
	if got.want(t, http.StatusOK, ""); !strings.Contains(string(got.body), `href="#second"`) ||
		!strings.Contains(string(got.body), "Second</h1>") {
		t.Errorf("the preview is %.300s, want both documents with their link", got.body)
	}
}

func TestHostileArchivesAreRejected(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.MaxUploadBytes = 4 << 20; o.MaxContentBytes = 1 << 20 })
	good := zipped(t, nil, "a.md\n# A", "b.md\n# B")

	many := make([]string, 201)
	for i := range many {
		many[i] = fmt.Sprintf("%d.md\n# x", i)
	}
	// The header of one file says that it is encrypted.
	locked := bytes.Clone(good)
	for _, head := range []string{"PK\x03\x04", "PK\x01\x02"} {
		at := bytes.Index(locked, []byte(head))
		locked[at+map[string]int{"PK\x03\x04": 6, "PK\x01\x02": 8}[head]] |= 1
	}

	corrupted := bytes.Replace(zipped(t, func(f *zip.FileHeader) { f.Method = zip.Store }, "a.md\n# Once"),
		[]byte("# Once"), []byte("# Evil"), 1)
	for name, tc := range map[string]struct {
		data   []byte
		status int
		code   fault.Code
		says   string
	}{
		"bomb":            {zipped(t, nil, "a.md\n# A", "bomb.png\n"+strings.Repeat("\x00", 3<<20)), 413, fault.ContentTooLarge, "200 times"},
		"large together":  {zipped(t, func(f *zip.FileHeader) { f.Method = zip.Deflate }, "a.md\n# A", "b\n"+strings.Repeat("b", 1<<20), "c\n"+strings.Repeat("c", 1<<20), "d\n"+strings.Repeat("d", 1<<20), "e\n"+strings.Repeat("e", 1<<20)), 413, fault.ContentTooLarge, "4194304 bytes together"},
		"long documents":  {zipped(t, nil, "a.md\n"+strings.Repeat("word\n", 120_000), "b.md\n"+strings.Repeat("word\n", 120_000)), 413, fault.ContentTooLarge, "documents"},
		"many":            {zipped(t, nil, many...), 413, fault.ContentTooLarge, "200 files"},
		"many, empty":     {folders(t, 40_000), 413, fault.ContentTooLarge, "200 files"},
		"parent":          {zipped(t, nil, "a.md\n# A", "../../etc/x\nx"), 400, fault.InvalidOption, "leads out"},
		"windows parent":  {zipped(t, nil, "a.md\n# A", `..\..\x`+"\nx"), 400, fault.InvalidOption, "leads out"},
		"absolute":        {zipped(t, nil, "/etc/passwd\nx"), 400, fault.InvalidOption, "absolute"},
		"drive":           {zipped(t, nil, `C:\x.md`+"\nx"), 400, fault.InvalidOption, "absolute"},
		"link":            {zipped(t, func(f *zip.FileHeader) { f.SetMode(0o777 | 1<<27) }, "a.md\n/etc/passwd"), 400, fault.InvalidOption, "is a link"},
		"device":          {zipped(t, func(f *zip.FileHeader) { f.SetMode(1 << 26) }, "a.md\nx"), 400, fault.InvalidOption, "is not a regular file"},
		"twice":           {zipped(t, nil, "a.md\n# A", "./a.md\n# B"), 400, fault.InvalidOption, "twice"},
		"control":         {zipped(t, nil, "a\x01.md\n# A"), 400, fault.InvalidOption, "control"},
		"encrypted":       {locked, 400, fault.InvalidOption, "encrypted"},
		"method":          {withMethod(good, 12), 400, fault.InvalidOption, "deflated"},
		"truncated":       {good[:len(good)-9], 400, fault.InvalidRequest, "damaged"},
		"corrupted":       {corrupted, 400, fault.InvalidRequest, `"a.md" of the archive is damaged`},
		"no archive":      {[]byte("# A"), 400, fault.InvalidRequest, "zip"},
		"empty":           {zipped(t, nil), 400, fault.ContentEmpty, "no document"},
		"nested":          {zipped(t, nil, "inner.zip\n"+string(good)), 400, fault.ContentEmpty, "no document"},
		"missing chapter": {zipped(t, nil, "SUMMARY.md\n[a](a.md)\n[b](b.md)", "a.md\n# A"), 400, fault.InvalidRequest, "b.md"},
		"empty chapter":   {zipped(t, nil, "a.md\n# A", "b.md\n"), 400, fault.ContentEmpty, "b.md"},
		"not UTF-8":       {zipped(t, nil, "a.md\n# A", "b.md\n\xff"), 400, fault.ContentNotUTF8, "b.md"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := h.archive(tc.data, "")
			got.want(t, tc.status, tc.code)

			if !strings.Contains(strings.ReplaceAll(string(got.body), `\"`, `"`), tc.says) {
				t.Errorf("got %s, want %q in the message", got.body, tc.says)
			}
		})
	}
	t.Run("form", func(t *testing.T) {
		t.Parallel()
		h.form(field("content", "# A"), file("archive", "x.zip", string(good))).want(t, 400, fault.InvalidRequest)
		h.form(file("content", "a.md", "# A"), file("content", "../b.md", "# B")).want(t, 400, fault.InvalidOption)
		h.form(file("content", "a.md", "# A"), file("content", "./a.md", "# B")).want(t, 400, fault.InvalidOption)
		h.form(file("content", "a.md", "# A"), file("content", "b.md", "")).want(t, 400, fault.ContentEmpty)
		h.form(file("content", "a.md", strings.Repeat("x", 600_000)), file("content", "b.md", strings.Repeat("x", 600_000))).
			want(t, 413, fault.ContentTooLarge)
	})

	if keys := h.storedKeys(); len(keys) != 0 {
		t.Errorf("rejected archives left %v in the store", keys)
	}
}

// folders returns an archive with n folders and no file.
func folders(t *testing.T, n int) []byte {
	t.Helper()

	files := make([]string, n)
	for i := range files {
		files[i] = fmt.Sprintf("folder-%d/", i)
	}

	return zipped(t, func(f *zip.FileHeader) { f.Method = zip.Store }, files...)
}

// withMethod returns the archive with another compression method in the headers of the first file.
func withMethod(data []byte, m uint16) []byte {
	data = bytes.Clone(data)
	binary.LittleEndian.PutUint16(data[bytes.Index(data, []byte("PK\x03\x04"))+8:], m)
	binary.LittleEndian.PutUint16(data[bytes.Index(data, []byte("PK\x01\x02"))+10:], m)

	return data
}
