package document_test

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork"
	"presswork/internal/document"
	"presswork/themes"
)

func TestSourceLinesOnlyAddAttributes(t *testing.T) {
	t.Parallel()

	const pictures = "\n\n![A picture](" + dotURI + ")\n"
	line := regexp.MustCompile(` data-line="[0-9]+"`)

	for name, o := range map[string]presswork.Options{
		"report":  {},
		"columns": {As: "paper", Columns: new(2)},
		"book":    {As: "book", Lang: "en"},
		"slides":  {As: "slides"},
		"cv":      {As: "cv"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := document.Document{Content: append(themes.Sample(), pictures...), Theme: "light", Options: o}
			plain := compose(t, d).Page.HTML
			d.SourceLines = true
			lined := compose(t, d).Page.HTML

			if line.MatchString(plain) || !line.MatchString(lined) {
				t.Error("want data-line only in the page with source lines")
			}

			if diff := cmp.Diff(plain, line.ReplaceAllString(lined, "")); diff != "" {
				t.Errorf("the pages differ in more than data-line (-without +with):\n%s", diff)
			}
		})
	}
}
