package document_test

import (
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
	"presswork/internal/fault"
)

func TestCheckOptionsAcceptsValidOptions(t *testing.T) {
	t.Parallel()

	for _, o := range []presswork.Options{
		{},
		{PageSize: "a4"},
		{PageSize: "TABLOID"},
		{PageSize: "210mm x 297mm"},
		{PageSize: "8.5in x 11in"},
		{PageSize: "500px x 700px"},
		{PageSize: "100mmx5000mm"},
		{Landscape: new(true), MarginPreset: "wide"},
		{MarginPreset: "NONE"},
		{PageSize: "A6", MarginPreset: "wide"},
		{Margins: presswork.Margins{Top: "20mm", Right: "1in", Bottom: "0pt", Left: ".5CM"}},
		{HeaderText: new("{title} {date}"), FooterText: new("")},
		{FooterText: new("{page} of {total}, {chapter}")},
		{TOC: new(presswork.Depth(6))},
		{TOC: new(presswork.Depth(0)), PDFA: new(presswork.PDFALevel("")), PDFUA: new(false), AttachSource: new(false)},
		{Cover: new(true), NumberedHeadings: new(true), LineNumbers: new(true), CodeTheme: "monokai", InkSaver: new(true), CSS: "p{}"},
		{Title: "a", Author: "b", Subject: "c", Keywords: presswork.Keywords{"d"}, Lang: "de-CH"},
		{Lang: "zh-Hant"},
		{Scale: new(0.1)},
		{Scale: new(2.0)},
		{PageRanges: " 1-3, 5 ,7-7"},
		{Tagged: new(false), Outline: new(false)},
		{Tagged: new(false)},
		{Strict: new(true), RawHTML: "escaped", RemoteImages: new(false)},
	} {
		if err := document.CheckOptions(o); err != nil {
			t.Errorf("%+v: got %v, want no error", o, err)
		}
	}
}

func TestCheckOptionsNamesTheWrongValueAndTheRemedy(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		options     presswork.Options
		param, says string
	}{
		{presswork.Options{PageSize: "A44"}, "page_size", `did you mean "A4"?; allowed: A3, A4`},
		{presswork.Options{PageSize: "210 x 297"}, "page_size", "a number with a unit"},
		{presswork.Options{PageSize: "1mm x 1mm"}, "page_size", "20mm to 5080mm"},
		{presswork.Options{PageSize: "210mm x 99999mm"}, "page_size", "20mm to 5080mm"},
		{presswork.Options{PageSize: "210mm"}, "page_size", "not known"},
		{presswork.Options{MarginPreset: "narow"}, "margin_preset", `did you mean "narrow"?; allowed: none`},
		{presswork.Options{Margins: presswork.Margins{Top: "20"}}, "margins.top", "a number with a unit"},
		{presswork.Options{Margins: presswork.Margins{Left: "-1mm"}}, "margins.left", "a number with a unit"},
		{presswork.Options{Margins: presswork.Margins{Left: "calc(1mm)"}}, "margins.left", "a number with a unit"},
		{presswork.Options{Margins: presswork.Margins{Left: "150mm", Right: "60mm"}}, "margins", "leave less than 10mm"},
		{presswork.Options{HeaderText: new("{pages}")}, "header_text", `unknown placeholder {pages}; did you mean "{page}"`},
		{presswork.Options{FooterText: new("{Chapter}")}, "footer_text", `did you mean "{chapter}"?; allowed: {page}, {total}, {title}, {date}, {chapter}`},
		{presswork.Options{TOC: new(presswork.Depth(7))}, "toc", "the deepest heading level, 1 to 6"},
		{presswork.Options{TOC: new(presswork.Depth(-1))}, "toc", "the deepest heading level, 1 to 6"},
		{presswork.Options{FooterText: new(strings.Repeat("x", 1001))}, "footer_text", "longer than 1000"},
		{presswork.Options{CodeTheme: "monokia"}, "code_theme", `did you mean "monokai"`},
		{presswork.Options{CSS: strings.Repeat("x", 300_000)}, "css", "256 KB"},
		{presswork.Options{Title: strings.Repeat("x", 1001)}, "title", "1000 characters"},
		{presswork.Options{Lang: "english language"}, "lang", "BCP 47"},
		{presswork.Options{Scale: new(2.1)}, "scale", "0.1 to 2"},
		{presswork.Options{Scale: new(0.0)}, "scale", "0.1 to 2"},
		{presswork.Options{PageRanges: "3-1"}, "page_ranges", "1-3,5"},
		{presswork.Options{PageRanges: "0"}, "page_ranges", "1-3,5"},
		{presswork.Options{PageRanges: "1,,2"}, "page_ranges", "1-3,5"},
		{presswork.Options{Tagged: new(false), Outline: new(true)}, "outline", "needs tagged"},
		{presswork.Options{Markdown: "obsidan"}, "markdown", `did you mean "obsidian"?; allowed: gfm, pandoc, obsidian, mdx`},
		{presswork.Options{RawHTML: "raw"}, "raw_html", "sanitized, escaped"},
		{presswork.Options{PDFA: new(presswork.PDFALevel("1b"))}, "pdf_a", "PDF/A-1 has no transparency"},
		{presswork.Options{PDFA: new(presswork.PDFALevel("2a"))}, "pdf_a", "not available; allowed: 2b, 2u, 3b"},
		{presswork.Options{PDFA: new(presswork.PDFALevel("x"))}, "pdf_a", "does not exist; allowed: true (2b), 2b, 2u, 3b"},
		{presswork.Options{PDFUA: new(true), Tagged: new(false)}, "pdf_ua", "needs tagged"},
		{presswork.Options{AttachSource: new(true)}, "attach_source", `needs pdf_a "3b"`},
		{presswork.Options{AttachSource: new(true), PDFA: new(presswork.PDFALevel("2b"))}, "attach_source", `needs pdf_a "3b"`},
		{presswork.Options{Password: "x", PDFA: new(presswork.PDFALevel("2b"))}, "password", "forbids encryption"},
		{presswork.Options{Password: strings.Repeat("ü", 64)}, "password", "longer than 127 bytes"},
		{presswork.Options{Password: "a\tb"}, "password", "control character"},
	} {
		t.Run(c.param+": "+c.says, func(t *testing.T) {
			e := fault.AsError(document.CheckOptions(c.options))
			if e == nil || e.Code != fault.InvalidOption || e.Param != "options."+c.param ||
				!strings.Contains(e.Message, c.says) {
				t.Errorf("got %v", e)
			}
		})
	}
}

func TestCheckReadsContentFrontMatterAndOptions(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		content string
		options presswork.Options
		want    fault.Code
	}{
		"valid":                   {"---\ntheme: nord\n---\n# x", presswork.Options{}, ""},
		"no content":              {"", presswork.Options{}, fault.ContentEmpty},
		"invalid option":          {"x", presswork.Options{RawHTML: "y"}, fault.InvalidOption},
		"malformed front matter":  {"---\ntheme: nord\npage_size: [\nlang: de\n---\n# x", presswork.Options{}, fault.FrontMatterInvalid},
		"conflict in matter":      {"---\npassword: x\npdf_a: true\n---\n# x", presswork.Options{}, fault.FrontMatterInvalid},
		"conflict in the options": {"---\nlang: de\n---\n# x", presswork.Options{PDFUA: new(true), Tagged: new(false)}, fault.InvalidOption},
	} {
		t.Run(name, func(t *testing.T) {
			matter, err := document.Check([]byte(c.content), c.options)
			if fault.CodeOf(err) != c.want {
				t.Errorf("got %v, want %q", err, c.want)
			}

			if c.want == "" && matter.Theme != "nord" {
				t.Errorf("got the theme %q, want nord", matter.Theme)
			}
		})
	}
}

func FuzzPageRanges(f *testing.F) {
	for _, s := range []string{"1", "1-3,5", "3-1", " 2 - 4 ", "1,", "-", "99999999999999999999", "1-3-5", "１"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		o := presswork.Options{PageRanges: s}
		if err := document.CheckOptions(o); err != nil && fault.CodeOf(err) != fault.InvalidOption {
			t.Errorf("%q: got %v, want %s or no error", s, err, fault.InvalidOption)
		}
	})
}
