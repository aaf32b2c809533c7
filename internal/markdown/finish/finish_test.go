package finish_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"image"
	"image/png"
	"os"
	"strings"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/markdown/finish"
	"presswork/internal/markdown/hyphen"
	"presswork/internal/markdown/tree"
)

// picture returns a PNG of 2 × 1 pixels, and the data URI for it.
func picture(t *testing.T) (data []byte, uri string) {
	t.Helper()

	var b bytes.Buffer
	if err := png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, 2, 1))); err != nil {
		t.Fatal(err)
	}

	return b.Bytes(), "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}

func TestHTMLIsFinished(t *testing.T) {
	t.Parallel()
	data, uri := picture(t)
	words := hyphen.New().For("en-US")

	for name, row := range map[string]struct {
		html, want, warning string
		options             finish.Options
	}{
		"plain":       {html: "<p>a &lt; b</p>\n", want: "<p>a &lt; b</p>\n"},
		"web link":    {html: `<a href="https://a.example/">a</a>`, want: `<a href="https://a.example/">a</a>`},
		"local link":  {html: `<a href="other.md">a</a>`, want: "<a>a</a>"},
		"empty link":  {html: `<a href="#">a</a>`, want: "<a>a</a>"},
		"details":     {html: "<details><p>a</p></details>", want: `<details open=""><p>a</p></details>`},
		"repeated id": {html: `<p id="a">b</p><p id="a">c</p>`, want: `<p id="a">b</p><p>c</p>`},
		"id of heading": {
			html:    `<p id="a">b</p><h2 id="a">c</h2>`,
			want:    `<p>b</p><h2 id="a">c</h2>`,
			options: finish.Options{Outline: map[string]bool{"a": true}},
		},
		"broken link": {
			html:    `<a href="#b">a</a>`,
			want:    `<a href="#b">a</a>`,
			options: finish.Options{Links: []finish.Link{{Target: "b", Line: 3}, {Target: "b", Line: 4}}},
			warning: `link to "#b" (2 times), but nothing in the document has that anchor`,
		},
		"image": {
			html:    `<img src="a%20b.png?x#y" alt="c" data-line="3">`,
			want:    `<img src="` + uri + `" alt="c">`,
			options: finish.Options{Asset: asset("a b.png", data)},
		},
		"missing image": {
			html:    `<img src="a.png" alt="c" data-line="3">`,
			want:    `<span class="image-missing">c</span>`,
			options: finish.Options{Asset: asset("b.png", data)},
			warning: `image "a.png": no such file came with the document`,
		},
		"not an image": {
			html:    `<img src="a.png" data-line="3">`,
			want:    `<span class="image-missing">image</span>`,
			options: finish.Options{Asset: asset("a.png", []byte("<html>"))},
			warning: `image "a.png": `,
		},
		"remote image": {
			html: `<img src="//a.example/b.png" data-line="3">`,
			want: `<img src="` + uri + `">`,
			options: finish.Options{Fetch: func(_ context.Context, url string) ([]byte, string, error) {
				if url != "https://a.example/b.png" {
					return nil, "", errors.New("wrong address")
				}

				return data, "text/html", nil // the declared type is not trusted
			}},
		},
		"remote images off": {
			html:    `<img src="https://a.example/b.png" data-line="3">`,
			want:    `<span class="image-missing">image</span>`,
			warning: `image "https://a.example/b.png": remote images are turned off`,
		},
		"local address": {
			html:    `<img src="file:///etc/passwd" data-line="3">`,
			want:    `<span class="image-missing">image</span>`,
			options: finish.Options{Asset: asset("/etc/passwd", data)},
			warning: `image "file:///etc/passwd": only paths, http, https and data are allowed`,
		},
		"soft hyphens": {
			html:    "<p>an incomprehensible word</p><code>incomprehensible</code>",
			want:    "<p>an incom\u00adpre\u00adhen\u00adsible word</p><code>incomprehensible</code>",
			options: finish.Options{Words: words},
		},
		"cell": {
			html: "<table><tr><td>internal/markdown/finish</td></tr></table>",
			want: "<table><tr><td>internal/<wbr>markdown/<wbr>finish</td></tr></table>",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row.options.Embeds = &tree.Embeds{}

			result, err := finish.HTML(t.Context(), []byte(row.html), row.options)
			if err != nil || result.HTML != row.want {
				t.Errorf("got %q, %v; want %q", result.HTML, err, row.want)
			}

			switch w := result.Warnings; {
			case row.warning == "" && len(w) > 0:
				t.Errorf("got the warnings %v", w)
			case row.warning != "" && (len(w) != 1 || w[0].Line != 3 || !strings.HasPrefix(w[0].Message, row.warning)):
				t.Errorf("got the warnings %v, want %q on line 3", w, row.warning)
			}
		})
	}
}

// asset returns a function that opens one file.
func asset(name string, data []byte) func(string) ([]byte, error) {
	return func(asked string) ([]byte, error) {
		if asked != name {
			return nil, os.ErrNotExist
		}

		return data, nil
	}
}

func TestAnEmbedReplacesOneElement(t *testing.T) {
	t.Parallel()
	embeds := &tree.Embeds{}
	embeds.Add("<span><math></math>")

	const html = `<span data-embed="1"></span><span data-embed="1"></span><div data-embed="2"></div>`

	result, err := finish.HTML(t.Context(), []byte(html), finish.Options{Embeds: embeds})
	if err != nil {
		t.Fatal(err)
	}

	const want = `<span><math></math></span><span data-embed="1"></span><div data-embed="2"></div>`
	if result.HTML != want || result.Parts != 5 {
		t.Errorf("got %q of %d parts, want %q of 5", result.HTML, result.Parts, want)
	}
}

func TestHTMLReturnsErrors(t *testing.T) {
	t.Parallel()

	ended, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the caller left")
	cancel(cause)

	away := fault.Errorf(fault.StoreUnavailable, "the store does not answer")
	for name, row := range map[string]struct {
		html, want string
		options    finish.Options
		code       fault.Code
	}{
		"parts": {
			html:    strings.Repeat("<p>a</p>", 4),
			options: finish.Options{MaxParts: 10},
			code:    fault.ContentTooComplex,
			want:    "with 0 table cells, 4 blocks",
		},
		"word": {
			html: "<p>" + strings.Repeat("a", 500_001) + "</p>",
			code: fault.ContentTooComplex,
			want: "line 7: a word of over 500000 characters",
		},
		"marks": {
			html: "<p>a" + strings.Repeat("\u0301", 1001) + "</p>",
			code: fault.ContentTooComplex,
			want: "line 7: a letter with over 500 combining marks",
		},
		"pieces of a block": {
			html: "<p>" + strings.Repeat("a<br>", 10_001) + "</p>",
			code: fault.ContentTooComplex,
			want: "blocks of too many pieces",
		},
		"store": {
			html:    `<img src="a.png">`,
			options: finish.Options{Asset: func(string) ([]byte, error) { return nil, away }},
			code:    fault.StoreUnavailable,
			want:    "the store does not answer",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row.options.Embeds, row.options.LineOf = &tree.Embeds{}, func([]byte) int { return 7 }

			_, err := finish.HTML(t.Context(), []byte(row.html), row.options)
			if fault.CodeOf(err) != row.code || !strings.Contains(fault.AsError(err).Message, row.want) {
				t.Errorf("got %v, want %s: %q", err, row.code, row.want)
			}
		})
	}

	_, err := finish.HTML(ended, []byte(`<img src="a.png">`), finish.Options{Embeds: &tree.Embeds{}})
	if !errors.Is(err, cause) {
		t.Errorf("with an ended context: got %v, want its cause", err)
	}
}
