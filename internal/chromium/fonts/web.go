package fonts

import (
	"fmt"
	"io"
	"path"
	"strings"
)

// weights are the styles that files are named after, and the CSS weight of each.
var weights = map[string]int{"Regular": 400, "Medium": 500, "SemiBold": 600, "Bold": 700, "Black": 900}

// Stylesheet is CSS that makes every embedded face known to a page, which loads those
// it uses from dir + name of the file.
func Stylesheet(dir string) string {
	var b strings.Builder
	for _, f := range catalogue() {
		prefix := strings.ReplaceAll(f.Name, " ", "") + "-"
		for _, file := range faces() {
			style, ok := strings.CutPrefix(path.Base(file.Name), prefix)
			if !ok {
				continue
			}
			upright, slant := strings.TrimSuffix(style, ".ttf"), "normal"
			if u, italic := strings.CutSuffix(upright, "Italic"); italic {
				upright, slant = u, "italic"
				if upright == "" {
					upright = "Regular"
				}
			}
			fmt.Fprintf(&b, "@font-face{font-family:%q;font-weight:%d;font-style:%s;src:url(%s%s)}\n",
				f.Name, weights[upright], slant, dir, path.Base(file.Name))
		}
	}
	return b.String()
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
