package markdown_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/markdown"
)

func TestRemoteImagesAreEmbedded(t *testing.T) {
	t.Parallel()
	fetched := make(chan string, 10)
	fetch := func(_ context.Context, url string) ([]byte, string, error) {
		fetched <- url

		switch url {
		case "https://ok.example/a.png":
			return pixel(), "text/html", nil // the bytes decide, not the declared type
		case "https://blocked.example/":
			return nil, "", fault.Errorf(fault.AddressNotAllowed, "the address is not allowed")
		case "https://html.example/":
			return []byte("<html>"), "image/png", nil
		}

		return nil, "", errors.New("dial tcp 10.0.0.1:443: connection refused")
	}
	src := "![a](https://ok.example/a.png) ![b](https://ok.example/a.png)\n![c](https://blocked.example/)\n![d](https://html.example/)\n![e](https://secret.example/)\n"

	d := render(t, src, markdown.Options{Fetch: fetch})
	if len(fetched) != 4 {
		t.Errorf("got %d fetches, want one for each of 4 addresses", len(fetched))
	}

	if n := strings.Count(d.HTML, `src="data:image/png;base64,`); n != 2 {
		t.Errorf("got %d embedded images, want 2", n)
	}

	want := []fault.Warning{
		{Code: fault.ImageFailed, Line: 2, Message: `image "https://blocked.example/": the address is not allowed`},
		{
			Code:    fault.ImageFailed,
			Line:    3,
			Message: `image "https://html.example/": it is not a PNG, JPEG, GIF, WebP, AVIF or SVG image`,
		},
		{Code: fault.ImageFailed, Line: 4, Message: `image "https://secret.example/": it could not be fetched`},
	}
	if fmt.Sprint(d.Warnings) != fmt.Sprint(want) {
		t.Errorf("got %v\nwant %v", d.Warnings, want)
	}
}

func TestImageBombsAreLeftOut(t *testing.T) {
	t.Parallel()
	bomb := pixel()
	copy(bomb[16:24], []byte{0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff})

	for name, data := range map[string][]byte{
		"pixels":     bomb,
		"entities":   []byte(`<!DOCTYPE svg [<!ENTITY a "x">]><svg>&a;</svg>`),
		"damaged":    []byte("\x89PNG\r\n\x1a\nxxxx"),
		"webp":       append([]byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00"), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0),
		"huge":       append(pixel(), make([]byte, 21<<20)...),
		"avif":       []byte("\x00\x00\x00\x14ftypavif\x00\x00\x00\x00mif1\x00\x00\x00\x1cmeta\x00\x00\x00\x14ispe\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00\xff\xff"),
		"not images": []byte("hello"),
	} {
		t.Run(name, func(t *testing.T) {
			d := render(t, "![a](x.png)", markdown.Options{Asset: func(string) ([]byte, error) { return data, nil }})
			if strings.Contains(d.HTML, "<img") || len(d.Warnings) != 1 {
				t.Errorf("%s: got %.100s, %v", name, d.HTML, d.Warnings)
			}

			if len(data) > 1<<20 {
				return // too large for a document
			}

			d = render(t, "![a](data:image/png;base64,"+base64.StdEncoding.EncodeToString(data)+")", markdown.Options{})
			if strings.Contains(d.HTML, "<img") || len(d.Warnings) != 1 {
				t.Errorf("%s as a data URI: got %.100s, %v", name, d.HTML, d.Warnings)
			}
		})
	}
}

// allImages is the limit for the data URIs of one document.
const allImages = 60 << 20

// Each img element has its own copy of the image, so an image counts 3000 times.
func TestRepeatedImagesCountEachTime(t *testing.T) {
	t.Parallel()
	svg := []byte("<svg>" + strings.Repeat(" ", 200_000) + "</svg>")
	fit := allImages / len("data:image/svg+xml;base64,"+base64.StdEncoding.EncodeToString(svg))

	d := render(
		t,
		strings.Repeat("![a](a.svg)\n", 3000)+"![p](pixel.png)\n",
		markdown.Options{Asset: func(name string) ([]byte, error) {
			if name == "pixel.png" {
				return pixel(), nil
			}

			return svg, nil
		}},
	)
	if len(d.HTML) > allImages+1<<20 {
		t.Errorf("%d bytes of HTML", len(d.HTML))
	}

	if n := strings.Count(d.HTML, `src="data:image/svg+xml`); n != fit {
		t.Errorf("got %d images, want %d", n, fit)
	}

	if n := strings.Count(d.HTML, `<span class="image-missing">a</span>`); n != 3000-fit {
		t.Errorf("got %d missing images, want %d", n, 3000-fit)
	}

	if !strings.Contains(d.HTML, `src="data:image/png`) {
		t.Error("the small image that fits is missing")
	}

	want := []fault.Warning{
		{
			Code:    fault.ImageFailed,
			Line:    fit + 1,
			Message: `image "a.svg": left out from here on: the document's images exceed 60 MB together; repeated images count each time`,
		},
	}
	if fmt.Sprint(d.Warnings) != fmt.Sprint(want) {
		t.Errorf("got %.500v\nwant %v", fmt.Sprint(d.Warnings), want)
	}
}

func TestImagesBeyondTheLimitAreNotFetched(t *testing.T) {
	t.Parallel()
	large := append(pixel(), make([]byte, 15<<20)...) // as a data URI, more than a third of the limit
	var fetches atomic.Int32

	var src strings.Builder
	for i := range 100 {
		fmt.Fprintf(&src, "![a](https://ok.example/%d.png)\n", i)
	}
	d := render(t, src.String(), markdown.Options{Fetch: func(context.Context, string) ([]byte, string, error) {
		fetches.Add(1)
		return large, "image/png", nil
	}})
	// Two images fit. When they have arrived, up to six further fetches have begun.
	if n := fetches.Load(); n < 3 || n > 8 {
		t.Errorf("%d fetches, want at most 8", n)
	}

	if n := strings.Count(d.HTML, "<img"); n != 2 {
		t.Errorf("got %d embedded images, want 2", n)
	}

	if len(d.Warnings) != 98 || d.Warnings[97].Code != fault.ImageFailed ||
		!strings.HasSuffix(d.Warnings[97].Message, "the document's images exceed 60 MB together") {
		t.Errorf("%d warnings: %.300v", len(d.Warnings), fmt.Sprint(d.Warnings))
	}
	// This warning comes while the HTML is written. An image that it is about was in memory until then.
	if strings.Contains(fmt.Sprint(d.Warnings), "left out from here on") {
		t.Error("an image beyond the limit was kept in memory")
	}
}

// Asset decides which of these files may be opened. It gets clean, decoded paths and no other schemes.
func TestAssetGetsCleanPaths(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	render(
		t,
		"![a](a%20b.png) ![b](./img/../c.png) ![c](/etc/passwd) ![d](c:x.png) ![e](..%2f..%2fetc/passwd) ![f](x.png?raw=true#y)",
		markdown.Options{
			Asset: func(name string) ([]byte, error) {
				mu.Lock()
				defer mu.Unlock()
				asked = append(asked, name)

				return pixel(), nil
			},
		},
	)
	slices.Sort(asked)

	want := []string{"../../etc/passwd", "/etc/passwd", "a b.png", "c.png", "x.png"}
	if !slices.Equal(asked, want) {
		t.Errorf("Asset got %q, want %q", asked, want)
	}
}

func TestAnOutageOfTheStoreIsNotAMissingImage(t *testing.T) {
	t.Parallel()
	away := fault.Errorf(fault.StoreUnavailable, "the store does not answer")

	_, err := markdown.New().
		Parse(t.Context(), []byte("![a](x.png)"), markdown.Options{Asset: func(string) ([]byte, error) { return nil, away }})
	if !errors.Is(err, away) {
		t.Errorf("got %v, want the error of the store", err)
	}
}
