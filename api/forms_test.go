package api_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/api"
	"presswork/internal/fault"
)

// part is one part of a form. disposition is written as it is.
type part struct{ disposition, data string }

// field returns a text field.
func field(name, data string) part { return part{fmt.Sprintf(`form-data; name=%q`, name), data} }

// file returns a file with the name that the client gives it.
func file(field, name, data string) part {
	return part{fmt.Sprintf(`form-data; name="%s"; filename="%s"`, field, name), data}
}

// form submits a conversion as a form.
func (h *harness) form(parts ...part) reply {
	h.t.Helper()
	var b bytes.Buffer

	w := multipart.NewWriter(&b)
	for _, p := range parts {
		out, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {p.disposition}})
		if err != nil {
			h.t.Fatal(err)
		}
		io.WriteString(out, p.data)
	}
	w.Close()

	return h.do(http.MethodPost, "/api/conversion", &b, "Content-Type: "+w.FormDataContentType())
}

func TestFormWithAssets(t *testing.T) {
	t.Parallel()
	h := serve(t)
	large := strings.Repeat("0123456789", 100_000)
	h.form(
		file("content", "docs/README.md", "# Hi ![](img/a.png)"),
		field("theme", "nord"), field("options", `{"page_size":"A4"}`),
		file("assets", "img/a.png", "PNG"), file("assets[img/größe.svg]", "x", large), file("assets", "./b.png", ""),
	).want(t, http.StatusAccepted, "")

	p := payload(t, h.queue.last())
	if p.Content != "# Hi ![](img/a.png)" || p.Theme != "nord" || p.Options.PageSize != "A4" ||
		p.Filename != "README.pdf" {
		t.Errorf("the payload is %+v, want content, theme, options and file name of the form", p)
	}
	got := map[string]string{}

	for _, a := range p.Assets {
		data := h.stored(a.Key)
		if int64(len(data)) != a.Size || len(a.SHA256) != 64 {
			t.Errorf("asset %+v has %d bytes in the store, want its size and digest", a, len(data))
		}
		got[a.Name] = string(data)
	}

	if diff := cmp.Diff(map[string]string{"img/a.png": "PNG", "img/größe.svg": large, "b.png": ""}, got); diff != "" {
		t.Errorf("assets (-want +got):\n%.300s", diff)
	}
}

func TestHostileFormsAreRejected(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.MaxUploadBytes = 1000; o.MaxContentBytes = 1000 })
	content := field("content", "# Hi")

	many := []part{content}
	for i := range 201 {
		many = append(many, file("assets", fmt.Sprintf("%d.png", i), ""))
	}

	for name, tc := range map[string]struct {
		parts  []part
		status int
		code   fault.Code
	}{
		"parent folder":   {[]part{content, file("assets", "../../etc/cron.d/x", "")}, 400, fault.InvalidOption},
		"inner parent":    {[]part{content, file("assets", "a/../../b", "")}, 400, fault.InvalidOption},
		"absolute":        {[]part{content, file("assets", "/etc/passwd", "")}, 400, fault.InvalidOption},
		"drive":           {[]part{content, file("assets[C:/x]", "x", "")}, 400, fault.InvalidOption},
		"backslash":       {[]part{content, file(`assets[..\x]`, "x", "")}, 400, fault.InvalidOption},
		"control":         {[]part{content, file("assets[a\tb]", "x", "")}, 400, fault.InvalidOption},
		"NUL":             {[]part{content, {"form-data; name=\"assets\"; filename*=UTF-8''a%00b", ""}}, 400, fault.InvalidOption},
		"not UTF-8":       {[]part{content, file("assets", "\xff.png", "")}, 400, fault.InvalidOption},
		"dot":             {[]part{content, file("assets[.]", "x", "")}, 400, fault.InvalidOption},
		"empty folder":    {[]part{content, file("assets", "a//b", "")}, 400, fault.InvalidOption},
		"no name":         {[]part{content, field("assets", "x")}, 400, fault.InvalidOption},
		"long name":       {[]part{content, file("assets", strings.Repeat("x", 513), "")}, 400, fault.InvalidOption},
		"twice":           {[]part{content, file("assets", "a", ""), file("assets", "./a", "")}, 400, fault.InvalidOption},
		"too many":        {many, 413, fault.ContentTooLarge},
		"too large":       {[]part{content, file("assets", "a", strings.Repeat("x", 600)), file("assets", "b", strings.Repeat("x", 600))}, 413, fault.ContentTooLarge},
		"large content":   {[]part{field("content", strings.Repeat("x", 1001))}, 413, fault.ContentTooLarge},
		"unknown field":   {[]part{content, field("optons", "{}")}, 400, fault.UnknownField},
		"content twice":   {[]part{content, content}, 400, fault.InvalidType},
		"options":         {[]part{content, field("options", "A4")}, 400, fault.InvalidJSON},
		"no content":      {[]part{field("theme", "nord")}, 400, fault.ContentEmpty},
		"bad content":     {[]part{field("content", "\xff")}, 400, fault.ContentNotUTF8},
		"bad disposition": {[]part{{"form-data; name=", ""}}, 400, fault.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h.form(tc.parts...).want(t, tc.status, tc.code)
		})
	}
	t.Run("no end or no boundary", func(t *testing.T) {
		t.Parallel()
		h.do(http.MethodPost, "/api/conversion", strings.NewReader("--x\r\nContent-Disposition: form-data; name=content\r\n\r\n# Hi"), "Content-Type: multipart/form-data; boundary=x").
			want(t, 400, fault.InvalidRequest)
		h.do(http.MethodPost, "/api/conversion", strings.NewReader(""), "Content-Type: multipart/form-data").
			want(t, 400, fault.InvalidRequest)
	})
}
