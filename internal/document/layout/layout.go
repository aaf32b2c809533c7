// Package layout has the layouts of documents that are more than running text: papers, letters, CVs, recipes and
// minutes. A layout is a part of the stylesheet and tokens for the theme. Most also have a head that is made from
// front matter.
//
// Of returns a layout by its name, and ByFields the name for a front matter. Layout.Theme changes the theme, and
// Layout.Parts makes the HTML from the fields of the front matter. To add a layout, add it to all, and its rules to a
// file NAME.css.
package layout

import (
	"embed"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"presswork/internal/markdown/frontmatter"
	"presswork/themes"
)

// Layout is a layout. Its zero value is that of other documents.
type Layout struct {
	// Name is the value of the option as, and the class of the body.
	Name string

	// tokens are those of the theme, twoColumns more of them for a page in two columns.
	tokens, twoColumns map[string]string
	// title are the keys of front matter that have the title in place of the key title.
	title []string
	// untitled is true if no title is printed above the text.
	untitled bool
	// build makes the head, the foot and the rules of pages. Nil: the layout has none.
	build func(b *builder)
	// calm is true if only the colours and typefaces of the theme apply. serif sets the text in a serif typeface.
	calm, serif bool
}

// The names of the layouts.
const (
	Paper   = "paper"
	Letter  = "letter"
	CV      = "cv"
	Recipe  = "recipe"
	Minutes = "minutes"
)

// all returns the layouts. The values of tokens are CSS; those of --page-margins are millimetres.
func all() []Layout {
	return []Layout{
		{
			Name:  Paper,
			calm:  true,
			serif: true,
			tokens: map[string]string{
				"--headings": "plain", "--tables": "booktabs", "--quotes": "indent", "--folios": "number",
				"--text-size": "10pt", "--leading": "1.3", "--scale": "1.12", "--code-size": "7.8pt",
				"--paragraph-gap": "0", "--paragraph-indent": "1.3em", "--page-margins": "24 28 25 28",
			},
			twoColumns: map[string]string{
				"--text-size": "9.5pt", "--leading": "1.26", "--code-size": "7.2pt", "--page-margins": "20 17 22 17",
			},
		},
		{
			Name:     Letter,
			calm:     true,
			untitled: true,
			build:    letter,
			tokens: map[string]string{
				"--headings": "plain", "--folios": "count",
				"--text-size": "10.5pt", "--leading": "1.45", "--scale": "1.12", "--page-margins": "20 20 24 25",
			},
		},
		{
			Name:  CV,
			title: []string{"name"},
			build: cv,
			tokens: map[string]string{
				"--text-size": "10pt", "--leading": "1.4", "--scale": "1.16", "--page-margins": "18 22 18 22",
			},
		},
		{
			Name:   Recipe,
			title:  []string{"name"},
			build:  recipe,
			tokens: map[string]string{"--page-margins": "22 24 22 24"},
		},
		{
			Name:  Minutes,
			build: minutes,
			tokens: map[string]string{
				"--text-size": "10.25pt", "--leading": "1.45", "--scale": "1.18", "--page-margins": "22 25 23 25",
			},
		},
	}
}

// Names returns the names of the layouts.
func Names() (names []string) {
	for _, l := range all() {
		names = append(names, l.Name)
	}

	return names
}

// Of returns the layout with a name, or the zero value.
func Of(name string) Layout {
	for _, l := range all() {
		if l.Name == name {
			return l
		}
	}

	return Layout{}
}

//go:embed *.css
var sheets embed.FS

// CSS returns the stylesheet of all layouts.
func CSS() string {
	var b strings.Builder

	names, _ := fs.Glob(sheets, "*.css") // the pattern is well-formed
	for _, name := range names {
		css, _ := sheets.ReadFile(name) // the file is embedded
		b.Write(css)
	}

	return b.String()
}

// Theme returns the theme with the changes of the layout. columns is the number of columns of the page. The zero
// Layout returns t unchanged.
func (l Layout) Theme(t themes.Theme, columns int) themes.Theme {
	if l.Name == "" {
		return t
	}
	changes := map[string]string{}

	if l.serif {
		face := t.Fonts.Body
		if !isSerif(face) {
			face = `"Source Serif 4", "Noto Serif", serif`
		}
		changes["--font-body"], changes["--font-heading"] = face, face
	}

	maps.Copy(changes, l.tokens)

	if columns > 1 {
		maps.Copy(changes, l.twoColumns)
	}

	if l.calm {
		t = t.Calm()
	}

	return t.With(changes)
}

// ByFields returns the name of the layout whose fields the front matter has, or "". Most layouts need two fields,
// because single ones such as date are common in other documents.
func ByFields(fields []frontmatter.Field) string {
	keys := byKey(fields)
	has := func(anyOf ...string) bool {
		return slices.ContainsFunc(anyOf, func(key string) bool { return keys[key].Key != "" })
	}

	switch {
	case has("ingredients", "recipeingredient"):
		return Recipe
	case has("attendees", "participants", "present") && has("date", "agenda", "decisions", "actions"):
		return Minutes
	case has("basics", "work", "experience") && has("basics", "name", "education", "skills"):
		return CV
	case has(recipientKeys()...) && has("opening", "salutation", "closing", "sender", "from"):
		return Letter
	}

	return ""
}

// Untitled reports whether a layout prints no title above the text. A letter has its subject instead.
func (l Layout) Untitled() bool { return l.untitled }

// isSerif reports whether a list of typefaces ends with the generic serif.
func isSerif(face string) bool {
	last := face[strings.LastIndexByte(face, ',')+1:]
	return strings.TrimSpace(last) == "serif"
}
