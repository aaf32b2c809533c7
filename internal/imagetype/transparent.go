package imagetype

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"io"
	"math"

	xwebp "golang.org/x/image/webp"
)

const (
	// maxUnpacked is the largest image that DarkOnTransparent unpacks, in pixels. At the deepest colours that
	// takes 128 MB.
	maxUnpacked = 16_000_000
	// maxSamples is the number of pixels that it examines.
	maxSamples = 1 << 16
)

// DarkOnTransparent reports whether an image is a dark drawing on a transparent background. Such an image is made
// for white paper and hard to see on a dark page. Only images that may be transparent are unpacked; their pixels
// are subtracted from budget. It returns false if the budget does not suffice, and for AVIF, which Go cannot
// decode.
func DarkOnTransparent(b []byte, budget *uint64) bool {
	info, err := Inspect(b)
	if err != nil {
		return false
	}
	var decode func(io.Reader) (image.Image, error)

	switch info.ContentType {
	case "image/svg+xml":
		return darkSVG(b)
	case "image/png":
		// Colour types 4 and 6 have an alpha channel. A tRNS chunk before the pixels lists transparent colours.
		head, _, _ := bytes.Cut(b, []byte("IDAT"))
		if b[25] == 4 || b[25] == 6 || bytes.Contains(head, []byte("tRNS")) {
			decode = png.Decode
		}
	case "image/gif":
		decode = gif.Decode // decodes the first frame
	case "image/webp":
		extended, lossless := string(b[12:16]) == "VP8X", string(b[12:16]) == "VP8L"
		if extended && b[20]&0x10 != 0 || lossless && b[24]&0x10 != 0 {
			decode = xwebp.Decode
		}
	}

	if decode == nil || info.Pixels() > min(*budget, maxUnpacked) {
		return false
	}
	*budget -= info.Pixels()

	m, err := decode(bytes.NewReader(b))
	if err != nil {
		return false
	}

	return darkPixels(m)
}

// darkPixels samples an image. It returns false unless at least a tenth is transparent.
func darkPixels(m image.Image) bool {
	// The R2 sequence spreads the samples evenly. A grid could miss thin lines that are parallel to a side.
	const across, down = 0.7548776662466927, 0.5698402909980532
	var seen tones
	r := m.Bounds()

	samples := min(r.Dx()*r.Dy(), maxSamples)
	for i := range samples {
		_, x := math.Modf(float64(i) * across)
		_, y := math.Modf(float64(i) * down)
		at := m.At(r.Min.X+int(x*float64(r.Dx())), r.Min.Y+int(y*float64(r.Dy())))
		seen.add(color.NRGBAModel.Convert(at).(color.NRGBA))
	}

	return seen.all <= .9*float64(samples) && seen.mostlyDark()
}

// tones are the visible amounts of an image: the dark ones, the light ones and all.
type tones struct{ dark, light, all float64 }

// add counts a colour by its opacity. A colour is dark if its contrast on black is below 3, and light if its
// contrast on white is. WCAG 2 requires 3 for graphics.
func (t *tones) add(c color.NRGBA) {
	share := float64(c.A) / 255
	t.all += share

	switch l := .2126*linear(c.R) + .7152*linear(c.G) + .0722*linear(c.B); {
	case l < 3*.05-.05:
		t.dark += share
	case l > 1.05/3-.05:
		t.light += share
	}
}

// linear converts an sRGB component to linear light, 0 to 1.
func linear(component uint8) float64 {
	v := float64(component) / 255
	if v <= .04045 {
		return v / 12.92
	}

	return math.Pow((v+.055)/1.055, 2.4)
}

// mostlyDark reports whether a dark page would hide more of the image than a white one.
func (t *tones) mostlyDark() bool {
	return t.dark > 0 && t.dark >= t.light && t.dark >= .1*t.all
}
