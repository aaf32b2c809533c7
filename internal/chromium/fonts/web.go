package fonts

import (
	"fmt"
	"io"
	"path"
	"strings"
)

// weights maps the styles in file names, without "Italic", to CSS weights.
var weights = map[string]int{"Regular": 400, "Medium": 500, "SemiBold": 600, "Bold": 700, "Black": 900}

// WebFace describes a face for a CSS rule.
type WebFace struct {
	// File is the name of the font file, for the function Face.
	File string
	// Weight is a CSS weight.
	Weight int
	Italic bool
	// Characters is a value of unicode-range: the page uses the face for these only. Empty means all.
	Characters string
}

// FacesOf returns the faces of a family. The list is empty if the family is not embedded.
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

// Rule returns the @font-face rule for the face as part of family. address is the URL of the font file.
func (f WebFace) Rule(family, address string) string {
	slant := "normal"
	if f.Italic {
		slant = "italic"
	}

	rule := fmt.Sprintf("@font-face{font-family:%q;font-weight:%d;font-style:%s;src:url(%s)",
		family, f.Weight, slant, address)
	if f.Characters != "" {
		rule += ";unicode-range:" + f.Characters
	}

	return rule + "}\n"
}

// Face returns the bytes of an embedded TrueType file, or false if no file has that name.
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
