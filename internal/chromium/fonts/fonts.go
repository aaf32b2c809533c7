// Package fonts contains the text fonts that are embedded in the binary. With them a document looks the same on every
// machine.
//
// Install writes them to a directory once and returns a fontconfig file that prefers them to the system's fonts. The
// system's fonts serve the scripts that no embedded face has: Chinese, Japanese, Korean, Arabic, emoji and so on;
// ForScripts names them. Subset and Serve return faces for HTML files and for the studio, as WOFF files.
package fonts

import (
	"archive/zip"
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
)

// archive is fonts/*.ttf and licenses/*.txt, made by scripts/fonts.sh.
//
//go:embed fonts.zip
var archive string

// Kind is the purpose of a family.
type Kind string

// The kinds of families.
const (
	Sans    Kind = "sans"
	Serif   Kind = "serif"
	Mono    Kind = "mono"
	Display Kind = "display" // headings, not running text
	Math    Kind = "math"
	Symbols Kind = "symbols"
)

// Family is one embedded font family.
type Family struct {
	// Name is the family's name in CSS.
	Name string
	Kind Kind
	// Weights are the CSS weights of the upright faces, in ascending order.
	Weights []int
	// Italic is true if there are italic faces.
	Italic bool
	// License is an SPDX identifier.
	License string
	// Source is the package that contains the original faces.
	Source string
	// Scripts are the writing systems that the family supports. Text in other scripts uses
	// the generic families sans-serif, serif and monospace.
	Scripts []string
}

// Families returns the embedded families, ordered by kind and name.
func Families() []Family {
	list := catalogue()
	files := open().File

	for i := range list {
		f := &list[i]

		prefix := fontDir + "/" + strings.ReplaceAll(f.Name, " ", "") + "-"
		for _, file := range files {
			if style, ok := strings.CutPrefix(file.Name, prefix); ok {
				f.add(strings.TrimSuffix(style, ".ttf"))
			}
		}
		slices.Sort(f.Weights)
	}

	return list
}

// add records a face by its style, such as "BoldItalic".
func (f *Family) add(style string) {
	upright, italic := strings.CutSuffix(style, "Italic")
	if italic {
		f.Italic = true
		return
	}
	f.Weights = append(f.Weights, weights[upright])
}

// Covers reports whether an embedded face has a glyph for r. That also applies to characters
// without ink, such as spaces, format characters and variation selectors.
func Covers(r rune) bool { return unicode.Is(coverage, r) }

// fontDir is the directory of the faces, both in the archive and after installation.
const fontDir = "fonts"

// open returns the archive. It reads only the list of its files.
func open() *zip.Reader {
	r, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	if err != nil {
		panic(fmt.Sprintf("fonts: the embedded archive: %v", err)) // the build is broken
	}

	return r
}

// faces returns the font files of the archive.
func faces() []*zip.File {
	return slices.DeleteFunc(open().File, func(f *zip.File) bool { return path.Dir(f.Name) != fontDir })
}
