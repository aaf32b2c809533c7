package imagetype_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"presswork/internal/imagetype"
)

// encodeGray returns a grey image of 3 × 2 pixels in a format.
func encodeGray(t *testing.T, encode func(*bytes.Buffer, image.Image) error) []byte {
	t.Helper()

	var b bytes.Buffer
	if err := encode(&b, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}

	return b.Bytes()
}

// webp returns the start of a WebP file.
func webp(chunk string, body ...byte) []byte {
	b := append([]byte("RIFF\x00\x00\x00\x00WEBP"+chunk+"\x00\x00\x00\x00"), body...)
	return append(b, make([]byte, 16)...)
}

// box returns a box of an ISO media file, such as AVIF.
func box(kind string, body ...[]byte) []byte {
	inner := bytes.Join(body, nil)
	b := binary.BigEndian.AppendUint32(nil, uint32(8+len(inner)))

	return append(append(b, kind...), inner...)
}

// ftyp returns the box with the brand of the file.
func ftyp(brand string) []byte { return box("ftyp", []byte(brand+"\x00\x00\x00\x00mif1")) }

// ispe returns the box with the size of an image.
func ispe(width, height uint32) []byte {
	b := binary.BigEndian.AppendUint32(make([]byte, 4), width)
	return box("ispe", binary.BigEndian.AppendUint32(b, height))
}

// tkhd returns the box with the size of a track, in a version of its form.
func tkhd(version byte, width, height uint32) []byte {
	b := make([]byte, 76+12*int(version))
	b[0] = version
	b = binary.BigEndian.AppendUint32(b, width<<16)

	return box("tkhd", binary.BigEndian.AppendUint32(b, height<<16))
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// animatedGIF returns a GIF with n frames.
func animatedGIF(t *testing.T, n int) []byte {
	t.Helper()

	g := &gif.GIF{Delay: make([]int, n)}
	for range n {
		g.Image = append(g.Image, image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.Black, color.White}))
	}

	var b bytes.Buffer
	if err := gif.EncodeAll(&b, g); err != nil {
		t.Fatal(err)
	}

	return b.Bytes()
}

func TestFramesAreCounted(t *testing.T) {
	t.Parallel()
	still := encodeGray(t, func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) })
	chunk := func(kind string) []byte { return join([]byte{0, 0, 0, 0}, []byte(kind), []byte{0, 0, 0, 0}) }
	apng := join(
		still[:33],
		chunk("acTL"),
		chunk("fcTL"),
		still[33:len(still)-12],
		chunk("fcTL"),
		chunk("fdAT"),
		still[len(still)-12:],
	)

	anmf := []byte("ANMF\x03\x00\x00\x00abc\x00")
	for name, c := range map[string]struct {
		data        []byte
		contentType string
		want        int
	}{
		"gif":        {animatedGIF(t, 1), "image/gif", 1},
		"gif of 7":   {animatedGIF(t, 7), "image/gif", 7},
		"gif, cut":   {animatedGIF(t, 7)[:60], "image/gif", 2},
		"png":        {still, "image/png", 1},
		"apng of 2":  {apng, "image/png", 2},
		"webp of 3":  {join([]byte("RIFF\x00\x00\x00\x00WEBP"), anmf, anmf, anmf), "image/webp", 3},
		"webp, head": {[]byte("RIFF"), "image/webp", 1},
		"jpeg":       {[]byte{0xff, 0xd8}, "image/jpeg", 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := imagetype.Frames(c.data, c.contentType); got != c.want {
				t.Errorf("got %d frames, want %d", got, c.want)
			}
		})
	}
}

func TestInspectReadsTypeAndSize(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		data []byte
		want imagetype.Info
	}{
		"png":        {encodeGray(t, func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) }), imagetype.Info{ContentType: "image/png", Width: 3, Height: 2}},
		"jpeg":       {encodeGray(t, func(b *bytes.Buffer, m image.Image) error { return jpeg.Encode(b, m, nil) }), imagetype.Info{ContentType: "image/jpeg", Width: 3, Height: 2}},
		"gif":        {encodeGray(t, func(b *bytes.Buffer, m image.Image) error { return gif.Encode(b, m, nil) }), imagetype.Info{ContentType: "image/gif", Width: 3, Height: 2}},
		"webp":       {webp("VP8 ", 0, 0, 0, 0x9d, 1, 0x2a, 3, 0, 2, 0), imagetype.Info{ContentType: "image/webp", Width: 3, Height: 2}},
		"webp VP8L":  {webp("VP8L", 0x2f, 2, 0x40, 0, 0), imagetype.Info{ContentType: "image/webp", Width: 3, Height: 2}},
		"webp VP8X":  {webp("VP8X", 0, 0, 0, 0, 2, 0, 0, 1, 0, 0), imagetype.Info{ContentType: "image/webp", Width: 3, Height: 2}},
		"avif":       {join(ftyp("avif"), box("meta", ispe(3, 2))), imagetype.Info{ContentType: "image/avif", Width: 3, Height: 2}},
		"avif, data": {join(ftyp("avif"), box("meta", ispe(3, 2)), box("mdat", ispe(1<<31, 1<<31))), imagetype.Info{ContentType: "image/avif", Width: 3, Height: 2}},
		"avif, two":  {join(ftyp("avif"), box("meta", ispe(3, 2), ispe(30, 20), ispe(5, 5))), imagetype.Info{ContentType: "image/avif", Width: 30, Height: 20}},
		// A small first size must not hide a large later one.
		"avif, late":     {join(ftyp("avif"), box("meta", ispe(1, 1), make([]byte, 100<<10), ispe(1<<31, 1<<31))), imagetype.Info{ContentType: "image/avif", Width: 1 << 31, Height: 1 << 31}},
		"avif, decoy":    {join(ftyp("avif"), box("free", ispe(1, 1), make([]byte, 100<<10)), box("meta", ispe(30, 20))), imagetype.Info{ContentType: "image/avif", Width: 30, Height: 20}},
		"avif, cut":      {join(ftyp("avif"), box("meta", ispe(3, 2)), []byte("\x00\x01\x00\x00mdatx")), imagetype.Info{ContentType: "image/avif", Width: 3, Height: 2}},
		"avif, 64 bits":  {join(ftyp("avif"), []byte("\x00\x00\x00\x01mdat\x00\x00\x00\x00\x00\x00\x00\x11x"), box("meta", ispe(3, 2))), imagetype.Info{ContentType: "image/avif", Width: 3, Height: 2}},
		"avif sequence":  {join(ftyp("avis"), box("meta", ispe(3, 2)), box("moov", box("trak", tkhd(0, 30, 20)))), imagetype.Info{ContentType: "image/avif", Width: 30, Height: 20}},
		"avif, long tkd": {join(ftyp("avis"), box("moov", box("trak", tkhd(1, 30, 20)))), imagetype.Info{ContentType: "image/avif", Width: 30, Height: 20}},
		"svg":            {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), imagetype.Info{ContentType: "image/svg+xml"}},
		"svg, declared":  {[]byte("\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"iso-8859-1\"?>\n<!-- x --><!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"x\" [<!ATTLIST a b CDATA \"c\">]>\n<svg:svg xmlns:svg=\"http://www.w3.org/2000/svg\"/>"), imagetype.Info{ContentType: "image/svg+xml"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := imagetype.Inspect(c.data); err != nil || got != c.want {
				t.Errorf("got %+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

func TestInspectRejectsImagesThatBrowsersCannotShow(t *testing.T) {
	t.Parallel()
	const none, damaged = "it is not a PNG", "damaged"
	flat := encodeGray(t, func(b *bytes.Buffer, m image.Image) error { return gif.Encode(b, m, nil) })
	copy(flat[6:10], make([]byte, 4))

	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":       {nil, none},
		"text":          {[]byte("hello"), none},
		"html":          {[]byte("<!doctype html><html><body><svg></svg>"), none},
		"text, svg":     {[]byte("<!-- a -->b<svg/>"), none},
		"bmp":           {[]byte("BM\x00\x00\x00\x00"), none},
		"other brand":   {join(ftyp("avio"), box("meta", ispe(3, 2))), none},
		"heic":          {join(ftyp("heic"), box("meta", ispe(3, 2))), none},
		"cut png":       {[]byte("\x89PNG\r\n\x1a\nxxxx"), damaged},
		"cut jpeg":      {[]byte("\xff\xd8\xff\xe0"), damaged},
		"flat gif":      {flat, damaged},
		"odd webp":      {webp("XXXX"), damaged},
		"flat webp":     {webp("VP8 "), damaged},
		"sizeless avif": {join(ftyp("avif"), box("meta"), box("mdat", ispe(3, 2))), damaged},
		"flat avif":     {join(ftyp("avif"), box("meta", ispe(3, 0))), damaged},
		"cut avif":      {join(ftyp("avif"), box("meta", ispe(3, 2)))[:44], damaged},
		"short box":     {join(ftyp("avif"), []byte("\x00\x00\x00\x07meta"), box("meta", ispe(3, 2))), damaged},
		"cut tkhd":      {join(ftyp("avis"), box("moov", tkhd(1, 30, 20)[:92])), damaged},
		"entities":      {[]byte(`<!DOCTYPE svg [<!ENTITY a "x">]><svg>&a;</svg>`), "entities"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := imagetype.Inspect(c.data); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %+v, %v; want an error with %q", got, err, c.want)
			}
		})
	}
}

func FuzzInspect(f *testing.F) {
	f.Add(join(ftyp("avis"), box("meta", ispe(3, 2)), box("moov", tkhd(1, 30, 20))))
	f.Add(webp("VP8X", 0, 0, 0, 0, 2, 0, 0, 1, 0, 0))
	f.Add([]byte("<?xml version=\"1.0\"?><svg/>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		info, err := imagetype.Inspect(data)
		if err == nil && info.ContentType != "image/svg+xml" && info.Pixels() == 0 {
			t.Errorf("%q has no size: %+v", data, info)
		}
	})
}
