package markdown_test

import (
	"strings"
	"testing"

	"presswork/internal/markdown"
)

func TestLongWordsGetSoftHyphens(t *testing.T) {
	t.Parallel()

	r := markdown.New()

	for name, c := range map[string]struct{ src, want string }{
		"prose":           {"Die (Donaudampfschifffahrt), kurz *Verantwortung*", "(Donau|dampf|schiff|fahrt), kurz <em>Verant|wor|tung</em>"},
		"short in prose":  {"Die Verwaltung", "Die Verwaltung<"},
		"cells":           {"| Verwaltung |\n|-|\n| Öffentlich |", "<th>Ver|wal|tung</th>"},
		"compounds":       {"Verantwortungs-Bereitschaftserklärung", "Verant|wor|tungs-Bereit|schafts|er|klä|rung"},
		"headings":        {"# Bedienungsanleitung der Donaudampfschifffahrtsgesellschaft", "# Bedienungsanleitung der Donau|dampf|schiff|fahrts|ge|sell|schaft"},
		"code":            {"`Donaudampfschifffahrt`\n\n    Donaudampfschifffahrt", "<code>Donaudampfschifffahrt</code>"},
		"addresses":       {"www.Donaudampfschifffahrt.de Donaudampfschifffahrt@example.com Donaudampf_schifffahrt2", "Donaudampf_schifffahrt2"},
		"other languages": {`<span lang="en">Donaudampfschifffahrt <span>x</span> Donaudampfschifffahrt</span> Donaudampfschifffahrt`, "Donaudampfschifffahrt</span> Donau|dampf|schiff|fahrt"},
		"after an image":  {"![](a.png){lang=en} Donaudampfschifffahrt", "Donau|dampf|schiff|fahrt"},
		"formulas":        {"$\\text{Donaudampfschifffahrt}$", "Donaudampfschifffahrt"},
		"marks":           {"Donaudampfschifffa\u0308hrt", "Donau|dampf|schiff|fa\u0308hrt"},
		"soft hyphen":     {"Donaudampf&shy;schifffahrt", "Donaudampf|schifffahrt"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := r.Parse(t.Context(), []byte(c.src), markdown.Options{Lang: "de", Hyphenate: true})
			if err != nil {
				t.Fatal(err)
			}
			got := strings.ReplaceAll(d.HTML, "\u00ad", "|")

			want, isHeading := strings.CutPrefix(c.want, "# ")
			if !strings.Contains(got, want) || isHeading && strings.Contains(d.Title, "\u00ad") {
				t.Errorf("%s: got %q, want %q in it", name, got, want)
			}

			if name == "code" || name == "addresses" || name == "formulas" {
				if strings.Contains(got, "|") {
					t.Errorf("%s: divided in %q", name, got)
				}
			}
		})
	}

	for name, o := range map[string]markdown.Options{
		"without Hyphenate":  {Lang: "de"},
		"without dictionary": {Lang: "ja", Hyphenate: true},
		"without language":   {Hyphenate: true},
	} {
		t.Run(name, func(t *testing.T) {
			if d := render(t, "Donaudampfschifffahrt", o); strings.Contains(d.HTML, "\u00ad") {
				t.Errorf("got a divided word: %q", d.HTML)
			}
		})
	}
}
