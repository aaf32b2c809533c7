package document_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
	"presswork/internal/fault"
	"presswork/themes"
)

// The cost of a stylesheet is limited, because every element of a long document may have its images and match its
// selectors.
func TestCostOfStylesheetsIsLimited(t *testing.T) {
	t.Parallel()
	background := func(rects int) string {
		svg := `<svg xmlns="http://www.w3.org/2000/svg">` + strings.Repeat("<rect/>", rects) + `</svg>`
		return `p{background:u\72l("data:image/svg+xml;base64,` + base64.StdEncoding.EncodeToString([]byte(svg)) + `")}`
	}
	bomb := `<svg xmlns='http://www.w3.org/2000/svg'><g id='a'>` + strings.Repeat("<rect/>", 100) +
		`</g><g id='b'>` + strings.Repeat("<use href='%23a'/>", 100) + `</g></svg>`

	var nths strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&nths, "p:nth-child(%dn){}", i)
	}

	const frame = ",\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00"

	gif := "GIF89a\x01\x00\x01\x00\x00\x00\x00" + strings.Repeat(frame, 3000) + ";"
	animation := base64.StdEncoding.EncodeToString([]byte(gif))

	for name, c := range map[string]struct {
		css, content string
		options      fault.Code // of CheckOptions, which does not know the content
		compose      fault.Code // of Compose
	}{
		"an icon":            {background(20), strings.Repeat("p\n\n", 5000), "", ""},
		"a bomb":             {`p{background:url("data:image/svg+xml,` + bomb + `")}`, "p", fault.ContentTooComplex, fault.ContentTooComplex},
		"on every paragraph": {background(4000), strings.Repeat("p\n\n", 5000), "", fault.ContentTooComplex},
		"a few selectors":    {"p:has(em) ~ p, [a~=b] {color:red}", strings.Repeat("p\n\n", 5000), "", ""},
		"many selectors":     {strings.Repeat("p:has(em) ~ p {color:red}", 1000), strings.Repeat("p\n\n", 5000), "", fault.ContentTooComplex},
		"many positions":     {nths.String(), strings.Repeat("p\n\n", 1000), "", fault.ContentTooComplex},
		"many siblings":      {strings.Repeat(".a ~ p {color:red}", 600), strings.Repeat("p\n\n", 1000), "", fault.ContentTooComplex},
		"some siblings":      {strings.Repeat(".a ~ p {color:red}", 60), strings.Repeat("p\n\n", 1000), "", ""},
		"siblings in lists":  {strings.Repeat(".a ~ p {color:red}", 100), strings.Repeat("p\n\n- a\n- b\n\n", 500), "", ""},
		"an animation":       {`p{background:url("data:image/gif;base64,` + animation + `")}`, "p", fault.ContentTooComplex, fault.ContentTooComplex},
	} {
		t.Run(name, func(t *testing.T) {
			o := presswork.Options{CSS: c.css}
			if err := document.CheckOptions(o); fault.CodeOf(err) != c.options {
				t.Errorf("CheckOptions: got %v, want %q", err, c.options)
			}

			_, err := converter(t, document.Options{}).Compose(
				t.Context(),
				document.Document{Content: []byte(c.content), Options: o},
			)
			if fault.CodeOf(err) != c.compose || err != nil && fault.AsError(err).Param != "options.css" {
				t.Errorf("Compose: got %v, want %q", err, c.compose)
			}
		})
	}
	// A custom theme has the same limits.
	dir := t.TempDir()
	if err := os.WriteFile(
		filepath.Join(dir, "heavy.css"),
		[]byte(":root{--primary:#00f;--base-100:#fff;--base-content:#000}"+background(4000)),
		0o600,
	); err != nil {
		t.Fatal(err)
	}
	themed := themes.Open(themes.Options{Dir: dir})

	_, err := document.New(document.Options{Themes: themed}).
		Compose(t.Context(), document.Document{Content: []byte(strings.Repeat("p\n\n", 5000)), Theme: "heavy"})
	if fault.CodeOf(err) != fault.ContentTooComplex || !strings.Contains(err.Error(), "theme heavy") {
		t.Errorf("a heavy theme: got %v, want %s with its name", err, fault.ContentTooComplex)
	}
}

func TestTablesOfContentsHaveAtMost20000Entries(t *testing.T) {
	t.Parallel()

	content := []byte("# t\n\n" + strings.Repeat("## a\n\n", 21000))

	for name, c := range map[string]struct {
		options presswork.Options
		want    fault.Code
	}{
		"no contents":        {presswork.Options{}, ""},
		"contents of titles": {presswork.Options{TOC: new(presswork.Depth(1))}, ""},
		"contents":           {presswork.Options{TOC: new(presswork.Depth(2)), NumberedHeadings: new(true)}, fault.ContentTooComplex},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := converter(t, document.Options{}).Compose(
				t.Context(),
				document.Document{Content: content, Options: c.options},
			)
			if fault.CodeOf(err) != c.want ||
				err != nil &&
					!strings.Contains(err.Error(), "the contents have 21000 entries; at most 20000 are allowed") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
