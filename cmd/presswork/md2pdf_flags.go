package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"presswork"
	"presswork/internal/fault"
)

// optionHelp maps the JSON name of each option that is also a flag to its help text. A word in backquotes names
// the value. Brackets mark an optional value.
func optionHelp() map[string]string {
	return map[string]string{
		"page_size":         "`SIZE`: A3, A4, A5, A6, B5, Letter, Legal, Tabloid or \"210mm x 297mm\" (default A4)",
		"landscape":         "turn the page",
		"margin_preset":     "`PRESET`: none, narrow, normal or wide (default normal)",
		"margins":           "margin as a CSS `LENGTH` (\"20mm\")",
		"binding":           "`LENGTH` that the spine takes from the inner margin (\"8mm\"); margins mirror on facing pages",
		"bleed":             "`LENGTH` of colour beyond the edge where the paper is cut (\"3mm\")",
		"crop_marks":        "crop marks on a larger sheet, with a bleed of 3mm unless --bleed says otherwise",
		"header_text":       "`TEXT` above each page, with {page} {total} {title} {date} {chapter}",
		"footer_text":       "`TEXT` below each page, the same (default the theme's page number)",
		"toc":               "table of contents, down to heading level `[=LEVEL]` (default 3)",
		"cover":             "cover page from title, subject, author and date",
		"numbered_headings": "number the headings",
		"chapter_start":     "`PLACE` where chapters begin: continue (default), page, or right (a right-hand page)",
		"footnotes":         "`PLACE` of footnotes: page (at the foot of their page, the default) or end",
		"numbering": "number all that have a caption: through the `SCOPE` document or chapter (default: what " +
			"has a label)",
		"bibliography": "`FILE` of the works that are cited, BibTeX or CSL-JSON, beside the document; several " +
			"with commas",
		"csl":           "citation `STYLE`: apa, ieee, vancouver… or a .csl file (default chicago-author-date)",
		"nocite":        "`KEYS` that are listed without being cited, \"@a, @b\" or \"@*\"",
		"lof":           "list of figures",
		"lot":           "list of tables",
		"lol":           "list of listings",
		"line_numbers":  "number the lines of code blocks",
		"code_theme":    "highlighting `STYLE` of code blocks (default the theme's)",
		"ink_saver":     "dark text on white paper, in any theme",
		"title":         "`TITLE` (default the first heading)",
		"author":        "`AUTHOR`",
		"subject":       "`SUBJECT`",
		"keywords":      "keywords, as a comma `LIST`",
		"lang":          "language as a BCP 47 `TAG` (\"en\", \"de-CH\")",
		"scale":         "`FACTOR` 0.1 to 2 (default 1)",
		"page_ranges":   "print these `PAGES` only (\"1-3,5\")",
		"tagged":        "write the structure that screen readers use (default true)",
		"outline":       "write bookmarks (default true)",
		"pdf_a":         "PDF/A of the level `[=LEVEL]`: 2b, 2u or 3b (default 2b)",
		"pdf_ua":        "PDF/UA-1",
		"attach_source": "attach the Markdown to the PDF (needs --pdf-a=3b)",
		"password":      "`PASSWORD` that opens the PDF; better --password-file",
		"strict":        "fail where there would be warnings",
		"raw_html":      "raw HTML is `HOW`: sanitized or escaped (default sanitized)",
		"as": "`KIND`: document, book (justified, drop caps, running heads on facing pages), or " +
			"slides: a 16:9 page for each part between ---",
		"speaker_notes": "notes of slides as `KIND`: comments in the PDF, pages behind the slides, or none " +
			"(default comments)",
		"resolution":    "`DPI` of pictures of pages, 36 to 600 (default 150)",
		"markdown":      "`DIALECT` of the Markdown: gfm, pandoc, obsidian or mdx (default by what it holds)",
		"remote_images": "show http and https images (default true)",
	}
}

// addOptionFlags registers a flag for each option: page_size becomes --page-size. The caller adds --css, which
// takes a file.
func addOptionFlags(flags *pflag.FlagSet, o *presswork.Options) {
	help := optionHelp()

	v := reflect.ValueOf(o).Elem()
	for i := range v.NumField() {
		key := jsonKey(v.Type().Field(i))
		if key == "css" {
			continue
		}
		name := strings.ReplaceAll(key, "_", "-")

		switch field := v.Field(i).Addr().Interface().(type) {
		case *string:
			flags.StringVar(field, name, "", help[key])
		case **string:
			flags.Func(name, help[key], func(s string) error { *field = &s; return nil })
		case **bool:
			flags.BoolFunc(name, help[key], func(s string) error { return setJSON(field, s, "true or false") })
		case **int:
			flags.Func(name, help[key], func(s string) error { return setJSON(field, s, "a whole number") })
		case **float64:
			flags.Func(name, help[key], func(s string) error { return setJSON(field, s, "a number") })
		case **presswork.Depth:
			flags.BoolFunc(name, help[key], func(s string) error { return setJSON(field, s, "a heading level 1 to 6") })
		case **presswork.PDFALevel:
			flags.BoolFunc(name, help[key], func(s string) error { return setLevel(field, s) })
		case *presswork.Files:
			flags.Func(name, help[key],
				func(s string) error { return json.Unmarshal([]byte(strconv.Quote(s)), field) })
		case *presswork.Keywords:
			flags.Func(name, help[key],
				func(s string) error { return json.Unmarshal([]byte(strconv.Quote(s)), field) })
		case *presswork.Margins:
			flags.StringVar(&field.Top, "margin-top", "", "top "+help[key])
			flags.StringVar(&field.Right, "margin-right", "", "right "+help[key])
			flags.StringVar(&field.Bottom, "margin-bottom", "", "bottom "+help[key])
			flags.StringVar(&field.Left, "margin-left", "", "left "+help[key])
		}
	}
}

func jsonKey(f reflect.StructField) string {
	key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return key
}

// setJSON parses a value that is typed in its JSON form.
func setJSON[T any](field **T, s, want string) error {
	if err := json.Unmarshal([]byte(s), field); err != nil {
		return fmt.Errorf("it must be %s", want)
	}

	return nil
}

func setLevel(field **presswork.PDFALevel, s string) error {
	if s != "true" && s != "false" {
		s = strconv.Quote(s)
	}

	return setJSON(field, s, "2b, 2u or 3b")
}

// flagOf returns the flag of a rejected option as a prefix such as "--page-size: ".
func flagOf(err error) string {
	param, ok := strings.CutPrefix(fault.AsError(err).Param, "options.")
	if !ok || param == "margins" { // four flags share this option
		return ""
	}
	name := strings.NewReplacer("margins.", "margin-", "_", "-").Replace(param)

	return "--" + name + ": "
}
