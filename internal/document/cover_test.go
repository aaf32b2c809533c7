package document_test

import (
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
)

// Package cover tests the factors for other titles and sheets.
func TestCoversAreScaledToTheirSheet(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		options presswork.Options
		want    string
	}{
		"a few words":     {presswork.Options{Title: "A Year at the Tide Station", Subject: "Notes"}, "--cover-scale:1.00;--cover-fit:1.00"},
		"a sheet turned":  {presswork.Options{Title: "Tides", PageSize: "A5", Landscape: new(true)}, "--cover-scale:0.70;--cover-fit:0.70"},
		"without picture": {presswork.Options{Title: "Tides", PageSize: "A5", Landscape: new(true), InkSaver: new(true)}, "--cover-scale:0.70;--cover-fit:0.70"},
		"a scaled text":   {presswork.Options{Title: "Tides", Scale: new(0.5)}, "--cover-scale:2.00;--cover-fit:2.00"},
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
