package imagetype_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/png"
	"io"
	"strings"
	"testing"

	"presswork/internal/imagetype"
)

// crossImage draws a cross into m, in the colour ink on the colour ground. It returns a GIF if m is a gifPicture,
// otherwise a PNG.
func crossImage(t *testing.T, m draw.Image, ink, ground color.Color) []byte {
	t.Helper()

	for x := range m.Bounds().Dx() {
		for y := range m.Bounds().Dy() {
			m.Set(x, y, ground)

			if x/4 == 5 || y/4 == 5 {
				m.Set(x, y, ink)
			}
		}
	}
	var b bytes.Buffer

	encode := png.Encode
	if _, ok := m.(*gifPicture); ok {
		encode = func(w io.Writer, m image.Image) error { return gif.Encode(w, m.(*gifPicture).Paletted, nil) }
	}

	if err := encode(&b, m); err != nil {
		t.Fatal(err)
	}

	return b.Bytes()
}

// gifPicture makes crossImage return a GIF.
type gifPicture struct{ *image.Paletted }

func decodeBase64(t *testing.T, s string) []byte {
	t.Helper()

	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}

	return b
}

func TestDarkOnTransparentPixels(t *testing.T) {
	t.Parallel()
	nrgba := func(side int) *image.NRGBA { return image.NewNRGBA(image.Rect(0, 0, side, side)) }
	paletted := func() *image.Paletted {
		return image.NewPaletted(image.Rect(0, 0, 40, 40), color.Palette{color.Transparent, color.Black, color.White})
	}
	colours := crossImage(t, nrgba(40), color.NRGBA{0xea, 0x43, 0x35, 0xff}, color.Transparent)
	chart := nrgba(100)

	for x := range 100 {
		for y := range 100 {
			switch {
			case y == 99 || x == 0 || x == 1 || x%10 == 0 && y > 90: // axes
				chart.Set(x, y, color.Black)
			case x%30 > 20 && y > 70: // bars
				chart.Set(x, y, color.NRGBA{0x1f, 0x77, 0xb4, 0xff})
			}
		}
	}

	var bars bytes.Buffer
	if err := png.Encode(&bars, chart); err != nil {
		t.Fatal(err)
	}

	for name, c := range map[string]struct {
		data []byte
		want bool
	}{
		"black lines":            {crossImage(t, nrgba(40), color.Black, color.Transparent), true},
		"dark blue lines":        {crossImage(t, nrgba(40), color.NRGBA{0, 0, 0x80, 0xff}, color.Transparent), true},
		"grey scale, 16 bits":    {crossImage(t, image.NewNRGBA64(image.Rect(0, 0, 40, 40)), color.Gray{0x22}, color.Transparent), true},
		"a palette":              {crossImage(t, paletted(), color.Black, color.Transparent), true},
		"GIF":                    {crossImage(t, &gifPicture{paletted()}, color.Black, color.Transparent), true},
		"a chart with bars":      {bars.Bytes(), true},
		"large":                  {crossImage(t, nrgba(2000), color.Black, color.Transparent), true}, // lines of four pixels
		"WebP":                   {decodeBase64(t, "UklGRiQAAABXRUJQVlA4TBcAAAAvJ8AJEA8QEfMfQiyYzJ85h96I/gdxAAA="), true},
		"extended WebP":          {decodeBase64(t, "UklGRjYAAABXRUJQVlA4WAoAAAAQAAAAJwAAJwAAVlA4TBcAAAAvJ8AJEA8QEfMfQiyYzJ85h96I/gdxAAA="), true},
		"lossy WebP":             {decodeBase64(t, "UklGRmQAAABXRUJQVlA4WAoAAAAQAAAAJwAAJwAAQUxQSBMAAAABDzD/ERFCLJjMnzmH3oj+B7EAAFZQOCAqAAAAMAMAnQEqKAAoAD7RaK5RqCYkIqOIAQAaCWkAABuBvT4OAAD+852AAAAA"), true},
		"white lines, WebP":      {decodeBase64(t, "UklGRigAAABXRUJQVlA4TBsAAAAvJ8AJEA8w//M///Mf8BALJvNnzqE3ov9BHAAA"), false},
		"white lines":            {crossImage(t, nrgba(40), color.White, color.Transparent), false},
		"white lines, a palette": {crossImage(t, paletted(), color.White, color.Transparent), false},
		"white lines, GIF":       {crossImage(t, &gifPicture{paletted()}, color.White, color.Transparent), false},
		"a colour":               {colours, false},
		"black on white":         {crossImage(t, nrgba(40), color.Black, color.White), false},
		"black on white, GIF":    {crossImage(t, &gifPicture{paletted()}, color.Black, color.White), false},
		"dark all over":          {crossImage(t, nrgba(40), color.Black, color.NRGBA{0x20, 0x20, 0x20, 0xfe}), false},
		"nothing at all":         {crossImage(t, nrgba(40), color.Transparent, color.Transparent), false},
		"JPEG":                   {[]byte("\xff\xd8\xff"), false},
		"not an image":           {[]byte("hello"), false},
		"cut off":                {crossImage(t, nrgba(40), color.Black, color.Transparent)[:60], false},
	} {
		t.Run(name, func(t *testing.T) {
			budget := uint64(1 << 22)
			if got := imagetype.DarkOnTransparent(c.data, &budget); got != c.want {
				t.Errorf("DarkOnTransparent = %v, want %v", got, c.want)
			}
		})
	}
}

// TestDarkOnTransparentRespectsItsBudget matters because a file of a few hundred bytes can state any size.
func TestDarkOnTransparentRespectsItsBudget(t *testing.T) {
	t.Parallel()
	black := crossImage(t, image.NewNRGBA(image.Rect(0, 0, 40, 40)), color.Black, color.Transparent)

	budget := uint64(2*40*40 + 10) // pixels: enough for two images

	for i, want := range []bool{true, true, false} {
		t.Run(fmt.Sprintf("image %d", i), func(t *testing.T) {
			if got := imagetype.DarkOnTransparent(black, &budget); got != want {
				t.Errorf("DarkOnTransparent of image %d = %v, want %v", i, got, want)
			}
		})
	}

	opaque := crossImage(t, image.NewRGBA(image.Rect(0, 0, 40, 40)), color.Black, color.White)
	if imagetype.DarkOnTransparent(opaque, &budget); budget != 10 {
		t.Errorf("%d pixels are left after an opaque image, want 10", budget)
	}

	const head = "GIF89a\x04\x10\x04\x10\x00\x00\x00" // 4100 × 4100
	if budget = 1 << 40; imagetype.DarkOnTransparent([]byte(head), &budget) || budget != 1<<40 {
		t.Error("an image of 17 million pixels was decoded")
	}
}

func TestDarkOnTransparentSVG(t *testing.T) {
	t.Parallel()
	const box = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 50" `

	const lines = `<path d="M0 0L100 50" stroke="black"/>`
	for svg, want := range map[string]bool{
		`>` + lines:                      true,
		`><path d="M12 2L22 40L2 20z"/>`: true, // the default fill is black
		`><g fill="none" stroke="#222"><circle r="9"/></g>`:                                                                                                     true,
		`fill="currentColor"><path d="M1 1h9v9z"/>`:                                                                                                             true,
		`><rect width="100" height="50" fill="none"/>` + lines:                                                                                                  true, // a frame
		`><rect width="100%" height="100%" fill-opacity="0"/>` + lines:                                                                                          true,
		`><style>.a{fill:none;stroke:#000}</style><path class="b a" d="M0 0h100v50H0z"/>`:                                                                       true,
		`><rect width="20" height="9" fill="#fff" stroke="#000"/><text>Box</text>` + lines:                                                                      true,
		`><defs><clipPath id="c"><rect width="100" height="50" fill="#fff"/></clipPath></defs><g clip-path="url(#c)">` + lines + `</g>`:                         true,
		`><defs><path id="x" d="M0 0h3"/></defs><use href="#x"/><use href="#x" x="9"/>`:                                                                         true, // letters of formulas
		`><rect width="30" height="40" style="fill: rgb(31, 119, 180)"/><text>Bar</text>` + lines:                                                               true,
		`><rect width="100%" height="100%" fill="white"/>` + lines:                                                                                              false,
		`><rect width="100" height="50" style="fill:#fff"/>` + lines:                                                                                            false,
		`><path d="M0 50 L100 50 L100 0 L0 0 z" style="fill: #ffffff"/>` + lines:                                                                                false, // Matplotlib
		`><g transform="translate(4 46)"><polygon fill="white" points="-4,4 -4,-46 96,-46 96,4 -4,4"/></g>` + lines:                                             false, // Graphviz
		`><path d="M0 4a4 4 0 0 1 4-4h92a4 4 0 0 1 4 4v42a4 4 0 0 1-4 4H4a4 4 0 0 1-4-4z" fill="#eee"/>` + lines:                                                false,
		`style="background-color: rgb(255, 255, 255)">` + lines:                                                                                                 false,
		`><path d="M0 0L9 9" fill="none" stroke="#fff"/>`:                                                                                                       false,
		`><path d="M0 0L9 9" style="fill:none;stroke:rgba(240,240,240,.9)"/>`:                                                                                   false,
		`><style>path{fill:none;stroke:white}</style><path d="M0 0L9 9"/>`:                                                                                      false,
		`fill="none"><path d="M1 1h9v9z" fill="#4285f4"/><path d="M1 1h9v9z" fill="#ea4335"/>`:                                                                  false, // a logo
		`><defs><path id="x" fill="#fff" d="M0 0h3"/></defs><use href="#x"/>`:                                                                                   false,
		`><g display="none">` + lines + `</g>`:                                                                                                                  false,
		`><style>@media (prefers-color-scheme:dark){path{stroke:#fff}}</style>` + lines:                                                                         false,
		`><image width="100" height="50" href="data:image/jpeg;base64,"/>` + lines:                                                                              false,
		`><rect width="30" height="50" fill="#555"/><rect x="30" width="70" height="50" fill="#4c1"/><g fill="#fff"><text>build</text><text>passing</text></g>`: false, // a badge
		`>`: false,
	} {
		t.Run(svg, func(t *testing.T) {
			if got := imagetype.DarkOnTransparent([]byte(box+svg+"</svg>"), new(uint64)); got != want {
				t.Errorf("DarkOnTransparent(%s) = %v, want %v", svg, got, want)
			}
		})
	}
}

// TestDarkOnTransparentIsQuickWithRepeatedRules has a drawing that Work accepts. Work rejects other slow drawings before
// this check.
func TestDarkOnTransparentIsQuickWithRepeatedRules(t *testing.T) {
	t.Parallel()

	svg := `<svg><style>` + strings.Repeat(fmt.Sprintf(`.a{fill:%s}`, strings.Repeat("x", 100)), 20_000) + `</style>` +
		strings.Repeat(`<g class="a a a a"/>`, 50_000) + `<path class="b" d="M0 0h9v9z"/></svg>`
	if !imagetype.DarkOnTransparent([]byte(svg), new(uint64)) {
		t.Error("DarkOnTransparent is false, want true")
	}
}
