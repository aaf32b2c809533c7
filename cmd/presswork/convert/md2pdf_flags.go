package convert

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
		"landscape":         "print in landscape",
		"margin_preset":     "`PRESET`: none, narrow, normal or wide (default normal)",
		"margins":           "margin as a CSS `LENGTH` (\"20mm\")",
		"binding":           "gutter of `LENGTH` on the inner margin (\"8mm\"); margins mirror on facing pages",
		"bleed":             "`LENGTH` by which colours extend past the trim (\"3mm\")",
		"crop_marks":        "print crop marks on a larger sheet; sets --bleed to 3mm if it is not given",
		"header_text":       "`TEXT` above each page; it may contain {page} {total} {title} {date} {chapter}",
		"footer_text":       "`TEXT` below each page, with the same placeholders (default the theme's page number)",
		"toc":               "table of contents; `[=LEVEL]` is the deepest heading level, 1 to 6 (default 3)",
		"cover":             "cover page from title, subject, author and date",
		"numbered_headings": "number the headings",
		"chapter_start":     "`PLACE` where chapters begin: continue (default), page or right (a right-hand page)",
		"footnotes":         "`PLACE` of footnotes: page (at the foot of their page, the default) or end",
		"numbering": "number all figures, tables and listings with a caption, per `SCOPE`: document or chapter " +
			"(default: only those with a label)",
		"bibliography": "`FILE` with the cited works, BibTeX or CSL-JSON, in the document's folder; separate " +
			"several with commas",
		"csl":           "citation `STYLE`: apa, ieee, vancouver… or a .csl file (default chicago-author-date)",
		"nocite":        "`KEYS` of works to list although they are not cited: \"@a, @b\" or \"@*\"",
		"lof":           "list of figures",
		"lot":           "list of tables",
		"lol":           "list of listings",
		"line_numbers":  "number the lines of code blocks",
		"code_theme":    "highlighting `STYLE` of code blocks (default the theme's)",
		"ink_saver":     "dark text on white paper, in any theme",
		"title":         "`TITLE` (default the first heading)",
		"author":        "`AUTHOR`",
		"subject":       "`SUBJECT`",
		"keywords":      "`LIST` of keywords, separated by commas",
		"lang":          "language as a BCP 47 `TAG` (\"en\", \"de-CH\")",
		"scale":         "scale the page by `FACTOR`, 0.1 to 2 (default 1)",
		"page_ranges":   "print only these `PAGES` (\"1-3,5\")",
		"tagged":        "write the structure tags that screen readers use (default true)",
		"outline":       "write bookmarks (default true)",
		"pdf_a":         "write PDF/A; `[=LEVEL]` is 2b, 2u or 3b (default 2b)",
		"pdf_ua":        "write PDF/UA-1",
		"attach_source": "attach the Markdown to the PDF (needs --pdf-a=3b)",
		"password":      "`PASSWORD` that opens the PDF; --password-file is safer",
		"strict":        "treat warnings as errors",
		"raw_html":      "`MODE` of raw HTML: sanitized or escaped (default sanitized)",
		"as": "`KIND`: document, book (justified, drop caps, running heads on facing pages), slides (a 16:9 page " +
			"for each part between ---), paper (dense, justified, numbered sections), letter, cv, recipe, minutes (by " +
			"fields of the front matter), or auto (by the text)",
		"columns": "`N` columns of a paper: 1 or 2 (default 1)",
		"density": "`DENSITY` of the text: compact, normal or generous (default normal)",
		"speaker_notes": "speaker notes as `KIND`: comments in the PDF, pages after the slides, or none " +
			"(default comments)",
		"resolution":    "`DPI` of page pictures, 36 to 600 (default 150)",
		"markdown":      "`DIALECT` of the Markdown: gfm, pandoc, obsidian or mdx (default: detected)",
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

// jsonKey returns the JSON name of an option.
func jsonKey(f reflect.StructField) string {
	key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return key
}

// setJSON parses a flag value that is written as JSON. want completes the error "it must be ...".
func setJSON[T any](field **T, s, want string) error {
	if err := json.Unmarshal([]byte(s), field); err != nil {
		return fmt.Errorf("it must be %s", want)
	}

	return nil
}

// setLevel parses a PDF/A level. Without a value the flag is "true", the default level.
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
