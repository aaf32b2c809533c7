package edit

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"presswork/internal/pdffile"
)

// Mark is something to draw on pages. TextMark, ImageMark and PageMark create one; the caller sets its Place.
type Mark struct {
	// Form is the object number of a form XObject in the file. Width and Height are its size in points.
	Form          int
	Width, Height float64
	// Place is where it is drawn.
	Place Place
}

// Place defines where and how a mark is drawn on a page.
type Place struct {
	// Under draws the mark below the content of the page. Default: above it.
	Under bool
	// Position is the part of the page: one of Positions.
	Position string
	// Scale is the width of the mark as a part of the page's width, above 0 and up to 1. The mark is drawn
	// smaller if it would be higher than the page.
	Scale float64
	// Opacity is 0 to 1; 1 is opaque.
	Opacity float64
	// Rotation turns the mark counterclockwise, in degrees.
	Rotation float64
}

// Positions are the values of Place.Position.
func Positions() []string {
	return []string{
		"center", "top", "bottom", "left", "right", "top-left", "top-right", "bottom-left", "bottom-right",
	}
}

// markName is the resource name of a mark. A page may have several marks, which count from 1.
const markName = "PressworkMark"

// Stamp draws a mark on the pages that selected accepts; their numbers count from 1. The mark is an artifact, so
// screen readers skip it and the tags stay valid. The warnings name claims that the result loses. Errors: those of
// Pages, and resources or contents that would grow the file by more than 256 MiB.
func Stamp(f *pdffile.File, mark Mark, selected func(page int) bool) (warnings []string, err error) {
	pages, err := Pages(f)
	if err != nil {
		return nil, err
	}

	if keep := claimsOf(f); mark.Place.Opacity < 1 && strings.HasPrefix(keep.a, "1") { // PDF/A-1 forbids transparency
		keep.a = ""
		warnings = restrict(f, keep)
	}
	s := stamping{
		file: f, mark: mark, draws: map[string]int{}, resources: map[string]resourcesOf{},
		save: f.Add(pdffile.NewStream(nil, []byte("q\n"))),
		end:  f.Add(pdffile.NewStream(nil, []byte("\nQ\n"))),
		state: f.Add(fmt.Appendf(nil, "<</Type /ExtGState\n/ca %s\n/CA %s\n/SMask /None\n/BM /Normal>>",
			decimal(mark.Place.Opacity), decimal(mark.Place.Opacity))),
	}

	for i, n := range pages {
		if !selected(i + 1) {
			continue
		}

		if err := s.page(n); err != nil {
			return nil, fmt.Errorf("page %d: %w", i+1, err)
		}
	}
	f.SetEntry(f.Root, "Pages", pdffile.RefTo(f.AddPageTree(pages)))
	Clean(f)

	return warnings, nil
}

// stamping is the state of Stamp.
type stamping struct {
	file *pdffile.File
	mark Mark
	// save and end are the streams around the page's own content, which undo its changes of the graphics state. state
	// is the graphics state with the mark's opacity. All are object numbers.
	save, end, state int
	// draws are the streams that draw the mark, by their content. Pages of one size share one.
	draws map[string]int
	// resources are the extended resources, by those that a page had.
	resources map[string]resourcesOf
	// grown is the number of bytes that were added; Stamp stops at maxGrowth.
	grown int
}

// resourcesOf are resources with the mark in them, and its name.
type resourcesOf struct {
	object int
	name   string
}

// page draws the mark on the page with object number n. It marks the drawing as an artifact, which screen readers
// skip.
func (s *stamping) page(n int) error {
	page := dictOf(s.file, s.file.Objects[n])
	box := visibleBox(s.file, page)
	r := s.withMark(page.Get("Resources"))

	if s.grown > maxGrowth {
		return errGrowth
	}
	m := s.matrix(box, rotation(s.file, page))
	content := fmt.Sprintf(
		"/Artifact <</Type /Pagination /Subtype /Watermark>> BDC\nq\n/%s gs\n%s cm\n/%s Do\nQ\nEMC\n",
		r.name,
		m,
		r.name,
	)

	draw, ok := s.draws[content]
	if !ok {
		draw = s.file.Add(pdffile.NewStream(nil, []byte(content)))
		s.draws[content] = draw
	}

	var contents [][]byte

	for _, c := range arrayOf(s.file, page.Get("Contents")) {
		if at, ok := s.file.Object(c); ok && pdffile.IsStream(s.file.Objects[at]) {
			contents = append(contents, c)
		}
	}

	ref := func(n int) []byte { return []byte(pdffile.RefTo(n)) }

	if s.mark.Place.Under {
		contents = slices.Insert(contents, 0, ref(draw))
	} else {
		contents = append(slices.Insert(contents, 0, ref(s.save)), ref(s.end), ref(draw))
	}
	page.Set("Contents", array(contents))
	s.grown += len(page.Get("Contents"))
	page.Set("Resources", pdffile.RefTo(r.object))
	s.file.Objects[n] = page.Bytes()

	return nil
}

// withMark returns a copy of resources that names the mark and its graphics state.
func (s *stamping) withMark(value []byte) resourcesOf {
	if r, ok := s.resources[string(value)]; ok {
		return r
	}
	f := s.file
	resources := slices.Clone(dictOf(f, value))
	forms := slices.Clone(dictOf(f, resources.Get("XObject")))
	states := slices.Clone(dictOf(f, resources.Get("ExtGState")))
	r := resourcesOf{}

	for i := 1; ; i++ {
		if r.name = markName + strconv.Itoa(i); forms.Get(r.name) == nil && states.Get(r.name) == nil {
			break
		}
	}
	forms.Set(r.name, pdffile.RefTo(s.mark.Form))
	states.Set(r.name, pdffile.RefTo(s.state))
	resources.Set("XObject", string(forms.Bytes()))
	resources.Set("ExtGState", string(states.Bytes()))
	r.object = f.Add(resources.Bytes())
	s.grown += len(f.Objects[r.object])
	s.resources[string(value)] = r

	return r
}

// rect is a rectangle: left, bottom, right, top.
type rect [4]float64

// visibleBox returns the part of a page that is shown: the crop box within the media box. As in other readers, a page
// without a size has the size Letter.
func visibleBox(f *pdffile.File, page pdffile.Dict) rect {
	media, ok := readRect(f, page.Get("MediaBox"))
	if !ok {
		media = rect{0, 0, 612, 792}
	}

	crop, ok := readRect(f, page.Get("CropBox"))
	if !ok {
		return media
	}
	both := rect{max(crop[0], media[0]), max(crop[1], media[1]), min(crop[2], media[2]), min(crop[3], media[3])}

	if both[0] >= both[2] || both[1] >= both[3] {
		return media
	}

	return both
}

// readRect reads a rectangle. ok is false if it is malformed or empty.
func readRect(f *pdffile.File, value []byte) (b rect, ok bool) {
	corners := arrayOf(f, value)
	for i, c := range corners {
		corners[i] = resolve(f, c)
	}

	v, err := pdffile.Numbers(corners, 4)
	if err != nil {
		return rect{}, false
	}
	b = rect{min(v[0], v[2]), min(v[1], v[3]), max(v[0], v[2]), max(v[1], v[3])}

	return b, b[2]-b[0] > 0 && b[3]-b[1] > 0
}

// matrix returns the six operands of cm that place the mark on a page. box is the visible part of the page, and turned
// its clockwise rotation.
func (s *stamping) matrix(box rect, turned int) string {
	p := s.mark.Place
	width, height := box[2]-box[0], box[3]-box[1]

	if turned%180 == 90 {
		width, height = height, width
	}
	const margin = 0.03 // of the shorter side
	edge := margin * min(width, height)
	angle := p.Rotation * math.Pi / 180
	sin, cos := math.Sincos(angle)
	// spread is the size of the rotated mark when its own width is 1.
	ratio := s.mark.Height / s.mark.Width
	spreadX := math.Abs(cos) + ratio*math.Abs(sin)
	spreadY := math.Abs(sin) + ratio*math.Abs(cos)
	size := min(p.Scale*width/spreadX, (width-2*edge)/spreadX, (height-2*edge)/spreadY)
	centerX, centerY := width/2, height/2

	switch p.Position {
	case "left", "top-left", "bottom-left":
		centerX = edge + size*spreadX/2
	case "right", "top-right", "bottom-right":
		centerX = width - edge - size*spreadX/2
	}

	switch p.Position {
	case "top", "top-left", "top-right":
		centerY = height - edge - size*spreadY/2
	case "bottom", "bottom-left", "bottom-right":
		centerY = edge + size*spreadY/2
	}
	k := size / s.mark.Width
	m := [6]float64{k * cos, k * sin, -k * sin, k * cos, 0, 0}
	m[4] = centerX - m[0]*s.mark.Width/2 - m[2]*s.mark.Height/2
	m[5] = centerY - m[1]*s.mark.Width/2 - m[3]*s.mark.Height/2
	// A viewer turns the page clockwise. Turn the mark counterclockwise by the same angle, so that it is upright.
	switch turned {
	case 90:
		m = [6]float64{-m[1], m[0], -m[3], m[2], height - m[5], m[4]}
	case 180:
		m = [6]float64{-m[0], -m[1], -m[2], -m[3], width - m[4], height - m[5]}
	case 270:
		m = [6]float64{m[1], -m[0], m[3], -m[2], m[5], width - m[4]}
	}
	m[4] += box[0]
	m[5] += box[1]
	parts := make([]string, len(m))

	for i, v := range m {
		parts[i] = decimal(v)
	}

	return strings.Join(parts, " ")
}

// decimal writes a number with at most five decimal places.
func decimal(v float64) string {
	return strconv.FormatFloat(math.Round(v*1e5)/1e5, 'f', -1, 64)
}
