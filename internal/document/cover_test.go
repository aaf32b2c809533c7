package document_test

import (
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
)

// Covers are designed for A4 and a short title. Other titles and sheets scale them.
func TestCoversFitTheirTitleAndSheet(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		options presswork.Options
		want    string
	}{
		"a few words":     {presswork.Options{Title: "A Year at the Tide Station", Subject: "Notes"}, "--cover-scale:1.00;--cover-fit:1.00"},
		"two lines more":  {presswork.Options{Title: strings.Repeat("Tides ", 30)}, "--cover-scale:1.00;--cover-fit:0.63"},
		"a long subject":  {presswork.Options{Title: "Tides", Subject: strings.Repeat("Tides ", 100)}, "--cover-scale:1.00;--cover-fit:0.68"},
		"a title of 漢字":   {presswork.Options{Title: strings.Repeat("潮", 60)}, "--cover-scale:1.00;--cover-fit:0.77"},
		"a whole page":    {presswork.Options{Title: strings.Repeat("Tides ", 150)}, "--cover-scale:1.00;--cover-fit:0.40"},
		"a small sheet":   {presswork.Options{Title: "Tides", PageSize: "A6"}, "--cover-scale:0.50;--cover-fit:0.50"},
		"a sheet turned":  {presswork.Options{Title: "Tides", PageSize: "A5", Landscape: new(true)}, "--cover-scale:0.70;--cover-fit:0.70"},
		"without picture": {presswork.Options{Title: "Tides", PageSize: "A5", Landscape: new(true), InkSaver: new(true)}, "--cover-scale:0.70;--cover-fit:0.70"},
		"a scaled text":   {presswork.Options{Title: "Tides", Scale: new(0.5)}, "--cover-scale:2.00;--cover-fit:2.00"},
		"a card":          {presswork.Options{Title: "Tides", PageSize: "50mm x 80mm", MarginPreset: "none"}, "--cover-scale:0.40;--cover-fit:0.40"},
		"a poster's size": {presswork.Options{Title: "Tides", PageSize: "100cm x 200cm"}, "--cover-scale:2.00;--cover-fit:2.00"},
	} {
		t.Run(name, func(t *testing.T) {
			test.options.Cover = new(true)
			html := compose(t, document.Document{Content: []byte("text"), Options: test.options}).Page.HTML

			class := "cover"
			if test.options.Landscape != nil && test.options.InkSaver == nil {
				class = "cover cover-wide"
			}

			if want := `<section class="` + class + `" style="` + test.want + `">`; !strings.Contains(html, want) {
				_, rest, _ := strings.Cut(html, "<section ")
				t.Errorf("the cover is <section %.80s, want %s", rest, want)
			}
		})
	}
}
