package cover_test

import (
	"strings"
	"testing"

	"presswork/internal/document/cover"
	"presswork/internal/document/markup"
	"presswork/internal/document/sheet"
)

func TestStyleFitsSheetAndTitle(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		width, height, scale float64
		title, subject       string
		want                 string
	}{
		"A4":             {210, 297, 1, "Report", "", "--cover-scale:1.00;--cover-fit:1.00"},
		"A5":             {148, 210, 1, "Report", "", "--cover-scale:0.70;--cover-fit:0.70"},
		"tiny sheet":     {20, 30, 1, "Report", "", "--cover-scale:0.40;--cover-fit:0.40"},
		"huge sheet":     {2100, 2970, 1, "Report", "", "--cover-scale:2.00;--cover-fit:2.00"},
		"scaled text":    {210, 297, 2, "Report", "", "--cover-scale:0.50;--cover-fit:0.50"},
		"long title":     {210, 297, 1, strings.Repeat("x", 4*72), "", "--cover-scale:1.00;--cover-fit:0.50"},
		"endless title":  {210, 297, 1, strings.Repeat("x", 7200), "", "--cover-scale:1.00;--cover-fit:0.40"},
		"limit of title": {210, 297, 1, strings.Repeat("x", 72), "", "--cover-scale:1.00;--cover-fit:1.00"},
		"long subject":   {210, 297, 1, "Tides", strings.Repeat("Tides ", 100), "--cover-scale:1.00;--cover-fit:0.68"},
		"title of 漢字":    {210, 297, 1, strings.Repeat("潮", 60), "", "--cover-scale:1.00;--cover-fit:0.77"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := sheet.Sheet{Width: c.width, Height: c.height, Scale: c.scale}
			if got := cover.Style(s, c.title, c.subject); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestWriteLeavesOutEmptyTextsAndEscapesOthers(t *testing.T) {
	t.Parallel()

	var w markup.Writer
	cover.Write(&w, sheet.Sheet{Width: 297, Height: 210, Scale: 1}, false, cover.Cover{Title: "A < B", Date: "today"})
	got := w.String()

	for _, want := range []string{`class="cover cover-wide"`, `<p class="cover-title">A &lt; B</p>`, `<p class="cover-date">today</p>`} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %s:\n%s", want, got)
		}
	}

	if strings.Contains(got, "cover-author") || strings.Contains(got, "cover-subject") || strings.Contains(got, "<h1") {
		t.Errorf("has an empty text or a heading:\n%s", got)
	}
}
