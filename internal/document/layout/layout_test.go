package layout_test

import (
	"strings"
	"testing"

	"presswork/internal/document/layout"
	"presswork/internal/document/sheet"
	"presswork/internal/markdown/frontmatter"
)

// partsOf returns the parts of a layout on A4 for front matter.
func partsOf(t *testing.T, name, matter string) layout.Parts {
	t.Helper()

	d, err := frontmatter.Read([]byte("---\n" + matter + "\n---\nText\n"))
	if err != nil {
		t.Fatal(err)
	}

	return layout.Of(name).Parts(layout.Input{
		Fields: d.Fields,
		Lang:   "en",
		Sheet:  sheet.Sheet{Width: 210, Height: 297, Top: 20, Left: 25, Right: 20, Bottom: 20, Scale: 1},
	})
}

func TestFieldsAreReadInTheirCommonForms(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct{ layout, matter, want string }{
		"lines of an address":      {"letter", "to: |\n  A\n  B & C", "A<br>B &amp; C"},
		"an address in a map":      {"letter", "to: {name: A, street: S 1, zip: \"12345\", city: T}", "A<br>S 1<br>12345 T"},
		"a state":                  {"letter", "to: {name: A, city: T, state: ME, zip: \"04101\"}", "A<br>T, ME 04101"},
		"Pandoc's return address":  {"letter", "return-address: [A, B]\nto: X", "A · B"},
		"basics of JSON Resume":    {"cv", "basics: {name: A, label: L, url: https://x.example/}", `<a href="https://x.example/">x.example</a>`},
		"a script as an address":   {"cv", "url: \"javascript:x\"", "<span>javascript:x</span>"},
		"a place of work":          {"cv", "work: [{name: C, position: P, startDate: 2019-03-01}]", "<strong>P</strong>, C</p>\n<p class=\"cv-when\">2019-03 – today</p>"},
		"skills as texts":          {"cv", "skills: [Go, C]", "<h2>Skills</h2>\n<p>Go, C</p>"},
		"schema.org":               {"recipe", "recipeIngredient: [a]\nprepTime: PT1H30M\nrecipeYield: 4", "1\u00a0h 30\u00a0min"},
		"groups of ingredients":    {"recipe", "ingredients: [{name: Dough, items: [a, b]}]", "<h3>Dough</h3>\n<ul>\n<li>a</li>"},
		"named groups":             {"recipe", "ingredients: {Dough: [a]}", "<h3>Dough</h3>\n<ul>\n<li>a</li>"},
		"amounts":                  {"recipe", "ingredients: [{amount: 2, unit: g, name: a}]", "<li>2 g a</li>"},
		"steps of schema.org":      {"recipe", "recipeInstructions: [{text: Stir.}]", "<li>Stir.</li>"},
		"steps on lines":           {"recipe", "directions: |\n  Stir.\n  Bake.", "<li>Stir.</li>\n<li>Bake.</li>"},
		"people with roles":        {"minutes", "attendees: [A, {name: B, role: chair}]", "<dd>A, B (chair)</dd>"},
		"actions without an owner": {"minutes", "actions: [Do it]", "<th>Task</th>\n</tr>"},
		"actions with a date":      {"minutes", "actions: [{what: X, who: [A, B], by: 2026-05-01}]", "<td>A, B</td>\n<td>2026-05-01</td>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := partsOf(t, test.layout, test.matter)
			if html := p.Head + p.Foot; !strings.Contains(html, test.want) || len(p.Warnings) > 0 {
				t.Errorf("want %s and no warnings, got\n%s\nwarnings: %v", test.want, html, p.Warnings)
			}
		})
	}
}

func TestFieldsOfAWrongTypeAreLeftOut(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct{ layout, matter, want string }{
		"a list for a text": {"recipe", "title: x\nservings: [1, 2]", "servings is ignored: allowed is a text or a number"},
		"an empty list":     {"minutes", "agenda: []", "agenda is ignored: allowed is a text, a map, or a list of these"},
		"an unknown form":   {"letter", "to: X\nform: C", "form is ignored: allowed are A and B of DIN 5008, and US"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := partsOf(t, test.layout, test.matter)
			if len(p.Warnings) != 1 || !strings.HasSuffix(p.Warnings[0].Message, test.want) || p.Warnings[0].Line == 0 {
				t.Errorf("got %v, want %s", p.Warnings, test.want)
			}
		})
	}
}

// A layout without its fields prints no labels for them.
func TestLayoutsWithoutFieldsHaveNoLabels(t *testing.T) {
	t.Parallel()

	for _, name := range layout.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if p := partsOf(t, name, "title: x"); strings.Contains(p.Head+p.Foot, "<dt>") ||
				strings.Contains(p.Head, "<h2>") {
				t.Errorf("got %s%s, want neither labels nor headings", p.Head, p.Foot)
			}
		})
	}
}
