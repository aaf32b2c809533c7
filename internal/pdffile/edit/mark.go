package edit

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // registers JPEG
	_ "image/png"  // registers PNG
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	"presswork/internal/pdffile"
	"presswork/internal/pdffile/parse"
)

// MaxMarkText limits the text of a mark, in characters.
const MaxMarkText = 200

// TextMark adds a text in one line as a mark. typeface is a TrueType or OpenType font file. TextMark draws the
// outlines of its glyphs, so that the PDF needs no font. The text is grey and not searchable. Errors: an unreadable
// font, an empty text, and a character that the font lacks.
func TextMark(f *pdffile.File, text string, typeface []byte) (Mark, error) {
	face, err := sfnt.Parse(typeface)
	if err != nil {
		return Mark{}, err
	}
	const size = 1000 // units of the drawing per em
	var b sfnt.Buffer
	var content strings.Builder
	x := 0.0
	content.WriteString("0.35 g\n")

	for _, r := range text {
		glyph, err := face.GlyphIndex(&b, r)
		if err != nil || glyph == 0 {
			return Mark{}, fmt.Errorf("the character %q cannot be drawn as a mark", r)
		}

		outline, err := face.LoadGlyph(&b, glyph, fixed.I(size), nil)
		if err != nil {
			return Mark{}, err
		}
		drawOutline(&content, outline, x)

		advance, err := face.GlyphAdvance(&b, glyph, fixed.I(size), font.HintingNone)
		if err != nil {
			return Mark{}, err
		}
		x += float64(advance) / 64
	}

	if x <= 0 {
		return Mark{}, errors.New("the text is empty")
	}
	content.WriteString("f\n")

	const below, above = 250, 950 // extent of the mark below and above the base line, in units
	dict := pdffile.Dict{}
	dict.Set("Type", "/XObject")
	dict.Set("Subtype", "/Form")
	dict.Set("BBox", fmt.Sprintf("[0 0 %s %d]", decimal(x), below+above))
	dict.Set("Resources", "<<>>")
	m := Mark{Form: f.Add(nil), Width: x, Height: below + above}
	f.SetStream(m.Form, dict, fmt.Appendf(nil, "1 0 0 1 0 %d cm\n%s", below, content.String()))

	return m, nil
}

// drawOutline writes the path of a glyph that begins at x. The outlines have their y axis downwards.
func drawOutline(to *strings.Builder, outline sfnt.Segments, x float64) {
	at := func(p fixed.Point26_6) (float64, float64) { return x + float64(p.X)/64, -float64(p.Y) / 64 }
	var lastX, lastY float64

	for i, s := range outline {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			if i > 0 {
				to.WriteString("h\n")
			}
			lastX, lastY = at(s.Args[0])
			fmt.Fprintf(to, "%s %s m\n", decimal(lastX), decimal(lastY))
		case sfnt.SegmentOpLineTo:
			lastX, lastY = at(s.Args[0])
			fmt.Fprintf(to, "%s %s l\n", decimal(lastX), decimal(lastY))
		case sfnt.SegmentOpQuadTo: // PDF has cubic curves only
			cx, cy := at(s.Args[0])
			ex, ey := at(s.Args[1])
			fmt.Fprintf(to, "%s %s %s %s %s %s c\n", decimal(lastX+(cx-lastX)*2/3), decimal(lastY+(cy-lastY)*2/3),
				decimal(ex+(cx-ex)*2/3), decimal(ey+(cy-ey)*2/3), decimal(ex), decimal(ey))
			lastX, lastY = ex, ey
		case sfnt.SegmentOpCubeTo:
			ax, ay := at(s.Args[0])
			bx, by := at(s.Args[1])
			lastX, lastY = at(s.Args[2])
			fmt.Fprintf(to, "%s %s %s %s %s %s c\n", decimal(ax), decimal(ay), decimal(bx), decimal(by),
				decimal(lastX), decimal(lastY))
		}
	}

	if len(outline) > 0 {
		to.WriteString("h\n")
	}
}

// maxPixels limits the size of a picture, and so the memory of decoding it.
const maxPixels = 40_000_000

// ImageMark adds a PNG or JPEG picture as a mark. It fails for another format, more than 40 million pixels, or a
// damaged picture. Errors are for the user.
func ImageMark(f *pdffile.File, data []byte) (Mark, error) {
	// Check the size before decoding: a small file may decode to gigabytes.
	size, kind, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || kind != "png" && kind != "jpeg" { // other packages may register more formats
		return Mark{}, errors.New("the picture is neither a PNG nor a JPEG")
	}

	if size.Width < 1 || size.Height < 1 || size.Width*size.Height > maxPixels {
		return Mark{}, fmt.Errorf("the picture has %d × %d pixels; at most %d are allowed", size.Width, size.Height,
			maxPixels)
	}

	picture, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return Mark{}, errors.New("the picture is damaged")
	}
	number := f.Add(nil)
	d := imageDict(size, "/DeviceRGB")
	colors, alpha := pixels(picture, size)

	if alpha != nil {
		mask := f.Add(nil)
		f.SetStream(mask, imageDict(size, "/DeviceGray"), alpha)
		d.Set("SMask", pdffile.RefTo(mask))
	}
	f.SetStream(number, d, colors)
	form := pdffile.Dict{}
	form.Set("Type", "/XObject")
	form.Set("Subtype", "/Form")
	form.Set("BBox", fmt.Sprintf("[0 0 %d %d]", size.Width, size.Height))
	form.Set("Resources", fmt.Sprintf("<</XObject <</Picture %s>>>>", pdffile.RefTo(number)))
	m := Mark{Width: float64(size.Width), Height: float64(size.Height)}
	m.Form = f.Add(pdffile.NewStream(form, fmt.Appendf(nil, "%d 0 0 %d 0 0 cm\n/Picture Do", size.Width, size.Height)))

	return m, nil
}

// imageDict returns the dictionary of an image of 8 bits per component.
func imageDict(size image.Config, space string) pdffile.Dict {
	d := pdffile.Dict{}
	d.Set("Type", "/XObject")
	d.Set("Subtype", "/Image")
	d.Set("Width", fmt.Sprint(size.Width))
	d.Set("Height", fmt.Sprint(size.Height))
	d.Set("ColorSpace", space)
	d.Set("BitsPerComponent", "8")

	return d
}

// pixels returns the colours of a picture, and its opacity if it is transparent anywhere.
func pixels(picture image.Image, size image.Config) (colors, alpha []byte) {
	colors = make([]byte, 0, 3*size.Width*size.Height)
	alpha = make([]byte, 0, size.Width*size.Height)
	transparent := false
	at := picture.Bounds().Min

	for y := range size.Height {
		for x := range size.Width {
			r, g, b, a := picture.At(at.X+x, at.Y+y).RGBA()
			if a < 0xffff {
				transparent = true

				if a > 0 { // RGBA returns colours multiplied by the opacity; PDF stores them apart
					r, g, b = r*0xffff/a, g*0xffff/a, b*0xffff/a
				}
			}
			colors = append(colors, byte(r>>8), byte(g>>8), byte(b>>8))
			alpha = append(alpha, byte(a>>8))
		}
	}

	if !transparent {
		alpha = nil
	}

	return colors, alpha
}

// maxMarkContent limits the content of a page that becomes a mark, in bytes.
const maxMarkContent = 64 << 20

// PageMark adds the first page of another file as a mark, without its tags, links and annotations. The caller must not
// use foreign afterwards. The result of a file that claims PDF/A or PDF/UA loses claims that foreign does not have; the
// warnings name them. Errors: those of Pages, and page content that cannot be unpacked or has more than 64 MiB.
func PageMark(f, foreign *pdffile.File) (m Mark, warnings []string, err error) {
	pages, err := Pages(foreign)
	if err != nil {
		return m, nil, err
	}
	page := dictOf(foreign, foreign.Objects[pages[0]])
	box := visibleBox(foreign, page)

	var content bytes.Buffer
	for _, part := range arrayOf(foreign, page.Get("Contents")) {
		stream, err := parse.Unpack(foreign, resolve(foreign, part), maxMarkContent-content.Len())
		if err != nil {
			return m, nil, err
		}
		content.Write(stream)
		content.WriteByte('\n')
	}
	// A page of a file without the claim may break the rules of the standard.
	warnings = restrict(f, claimsOf(f).and(claimsOf(foreign)))
	resources := page.Get("Resources")

	if resources == nil {
		resources = []byte("<<>>")
	}
	form := pdffile.Dict{}
	form.Set("Type", "/XObject")
	form.Set("Subtype", "/Form")
	form.Set("BBox", fmt.Sprintf("[%s %s %s %s]", decimal(box[0]), decimal(box[1]), decimal(box[2]), decimal(box[3])))
	matrix, width, height := upright(box, rotation(foreign, page))
	form.Set("Matrix", matrix)
	form.Set("Resources", string(resources))
	number := foreign.Add(nil)
	foreign.SetStream(number, form, parse.Untag(content.Bytes()))
	// Copy only the form and the objects that it refers to.
	foreign.Objects[pages[0]] = nil
	foreign.Root, foreign.Info = number, foreign.Add([]byte("<<>>"))
	Clean(foreign)
	base := len(f.Objects)

	for _, o := range foreign.Objects {
		f.Objects = append(f.Objects, pdffile.Renumber(o, func(n int) int { return n + base }))
	}

	return Mark{Form: base + number, Width: width, Height: height}, warnings, nil
}

// upright returns the matrix that moves a page's box to the origin and turns it as viewers do. turned is the page's
// clockwise rotation. width and height are those of the turned box.
func upright(box rect, turned int) (matrix string, width, height float64) {
	width, height = box[2]-box[0], box[3]-box[1]

	switch turned {
	case 90:
		return fmt.Sprintf("[0 -1 1 0 %s %s]", decimal(-box[1]), decimal(box[2])), height, width
	case 180:
		return fmt.Sprintf("[-1 0 0 -1 %s %s]", decimal(box[2]), decimal(box[3])), width, height
	case 270:
		return fmt.Sprintf("[0 1 -1 0 %s %s]", decimal(box[3]), decimal(-box[0])), height, width
	}

	return fmt.Sprintf("[1 0 0 1 %s %s]", decimal(-box[0]), decimal(-box[1])), width, height
}
