package fonts

import (
	"fmt"
	"io"
	"path"
	"strings"
)

// weights are the styles that files are named after, and the CSS weight of each.
var weights = map[string]int{"Regular": 400, "Medium": 500, "SemiBold": 600, "Bold": 700, "Black": 900}

// WebFace is a face as CSS describes it.
type WebFace struct {
	// File is its name for Face, Weight a CSS weight.
	File   string
	Weight int
	Italic bool
}

// FacesOf lists the faces of a family; none for one that is not embedded.
func FacesOf(family string) (list []WebFace) {
	prefix := strings.ReplaceAll(family, " ", "") + "-"
	for _, file := range faces() {
		style, ok := strings.CutPrefix(path.Base(file.Name), prefix)
		if !ok {
			continue
		}
		upright := strings.TrimSuffix(style, ".ttf")

		upright, italic := strings.CutSuffix(upright, "Italic")
		if upright == "" {
			upright = "Regular"
		}
		list = append(list, WebFace{File: path.Base(file.Name), Weight: weights[upright], Italic: italic})
	}

	return list
}

// Stylesheet is CSS that makes every embedded face known to a page, which loads those
// it uses from dir + name of the file.
func Stylesheet(dir string) string {
	var b strings.Builder

	for _, f := range catalogue() {
		for _, face := range FacesOf(f.Name) {
			b.WriteString(face.Rule(f.Name, dir+face.File))
		}
	}

	return b.String()
}

// Rule is the @font-face rule of the face of a family at an address.
func (f WebFace) Rule(family, address string) string {
	slant := "normal"
	if f.Italic {
		slant = "italic"
	}

	return fmt.Sprintf(
		"@font-face{font-family:%q;font-weight:%d;font-style:%s;src:url(%s)}\n",
		family,
		f.Weight,
		slant,
		address,
	)
}

// Face returns an embedded font file (TrueType) by its name.
func Face(name string) ([]byte, bool) {
	for _, file := range faces() {
		if path.Base(file.Name) != name {
			continue
		}

		r, err := file.Open()
		if err != nil {
			return nil, false
		}
		defer r.Close()
		b, err := io.ReadAll(r)

		return b, err == nil
	}

	return nil, false
}
