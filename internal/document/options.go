package document

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/language"

	"presswork"
	"presswork/internal/document/csscost"
	"presswork/internal/document/layout"
	"presswork/internal/document/metadata"
	"presswork/internal/document/sheet"
	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/markdown"
	"presswork/internal/markdown/codestyle"
	"presswork/internal/markdown/dialect"
	"presswork/internal/pdffile"
	"presswork/themes"
)

const (
	maxText = pdffile.MaxText // characters of a title, header and so on
	maxCSS  = 256 << 10       // bytes of the extra stylesheet
	// maxNoCite bounds the list of entries that are not cited, in characters.
	maxNoCite = 10_000

	minResolution, maxResolution = 36, 600 // pixels to the inch
)

// Check returns an error for a document that cannot be rendered, without rendering it. It checks the content, the
// front matter, the options, and both together. It returns the front matter without invalid values. Errors: those
// of markdown.Check, FrontMatterInvalid, InvalidOption.
func Check(content []byte, o presswork.Options) (metadata.FrontMatter, error) {
	return check(content, o, false)
}

// check is Check for a document of its own, or for a chapter of a book, which may be empty.
func check(content []byte, o presswork.Options, inBook bool) (metadata.FrontMatter, error) {
	if err := markdown.Check(content); err != nil && (!inBook || fault.CodeOf(err) != fault.ContentEmpty) {
		return metadata.FrontMatter{}, err
	}

	if err := CheckOptions(o); err != nil {
		return metadata.FrontMatter{}, err
	}

	matter, err := metadata.Read(content)
	if err != nil {
		return metadata.FrontMatter{}, err
	}

	if d := matter.Deck; d.Marp == "true" && slices.Contains([]string{"default", "gaia", "uncover"}, matter.Theme) {
		matter.Theme = "" // Marp's own
	}

	return matter, sift(&matter, o)
}

// sift removes invalid values from the front matter, with a warning: they may be meant for another program. Values
// of o take precedence, also when combinations are checked. A document that sets a password is never printed
// without one. Errors: FrontMatterInvalid, InvalidOption.
func sift(m *metadata.FrontMatter, o presswork.Options) error {
	// Each round drops one value, so the loop ends. A dropped value can make another combination valid or invalid.
	for {
		all := over(o, m.Options)

		err := cmp.Or(CheckOptions(all), checkLayout(all))
		if err == nil {
			return nil
		}
		e := fault.AsError(err)
		name, _, _ := strings.Cut(strings.TrimPrefix(e.Param, "options."), ".")

		line, known := m.Lines[name]
		switch {
		case !known:
			return err
		case name == "password":
			return fault.Errorf(fault.FrontMatterInvalid, "front matter, line %d: %s", line, e.Message).
				WithParam("content")
		}
		m.Drop(name, e.Message)
	}
}

// CheckOptions returns an error for an option with an invalid value. Its Param is "options.NAME". Errors:
// InvalidOption, ContentTooComplex.
func CheckOptions(o presswork.Options) error {
	if err := checkFinish(o); err != nil {
		return err
	}

	if _, err := sheet.Of(o, sheet.NormalMargins()); err != nil {
		return err
	}

	if o.TOC != nil && (*o.TOC < 0 || *o.TOC > 6) {
		return invalid(
			"toc",
			"toc %d is not allowed; allowed: true, false, or the deepest heading level, 1 to 6",
			*o.TOC,
		)
	}

	if err := cmp.Or(checkTexts(o), checkWords(o), checkCitations(o)); err != nil {
		return err
	}

	if len(o.CSS) > maxCSS {
		return invalid("css", "css is larger than %d KB", maxCSS>>10)
	}

	if err := csscost.Check(o.CSS, 0, ""); err != nil {
		return err.WithParam("options.css")
	}

	if c := o.Columns; c != nil && (*c < 1 || *c > 2) {
		return invalid("columns", "columns %d is not allowed; allowed: 1, 2", *c)
	}

	if r := o.Resolution; r != nil && (*r < minResolution || *r > maxResolution) {
		return invalid("resolution", "resolution %d is not allowed; allowed: %d to %d pixels to the inch",
			*r, minResolution, maxResolution)
	}

	if o.Outline != nil && *o.Outline && o.Tagged != nil && !*o.Tagged {
		return invalid("outline",
			"outline needs tagged: bookmarks are made from the tags; leave tagged true or set outline to false")
	}

	return nil
}

// checkTexts returns an error for free texts that are too long, for unknown placeholders and for a malformed language.
func checkTexts(o presswork.Options) error {
	for name, text := range map[string]*string{"header_text": o.HeaderText, "footer_text": o.FooterText} {
		if text != nil {
			if err := checkBanner(name, *text); err != nil {
				return err
			}
		}
	}

	for name, text := range map[string]string{
		"title": o.Title, "author": o.Author, "subject": o.Subject, "keywords": strings.Join(o.Keywords, ", "),
	} {
		if utf8.RuneCountInString(text) > maxText {
			return invalid(name, "%s is longer than %d characters", name, maxText)
		}
	}

	if o.Lang != "" {
		if _, err := language.Parse(o.Lang); err != nil || len(o.Lang) > 35 {
			return invalid("lang", "lang %q is not a BCP 47 language tag; write \"en\", \"de-CH\" or the like",
				input.Short(o.Lang))
		}
	}

	return nil
}

// checkWords returns an error for an option whose value is not one of its words.
func checkWords(o presswork.Options) error {
	if o.CodeTheme != "" && !slices.Contains(codestyle.Names(), o.CodeTheme) {
		styles := codestyle.Names()

		return invalid("code_theme", "code_theme %q does not exist%s; allowed: %s", input.Short(o.CodeTheme),
			input.DidYouMean(o.CodeTheme, styles), strings.Join(styles, ", "))
	}

	for _, word := range []struct {
		name, value string
		allowed     []string
	}{
		{"footnotes", o.Footnotes, []string{"page", "end"}},
		{"numbering", o.Numbering, []string{"document", markdown.ByChapter}},
		{"markdown", o.Markdown, dialect.Names()},
		{"raw_html", o.RawHTML, []string{"sanitized", "escaped"}},
		{"as", o.As, append([]string{asAuto, "document", asBook, "slides"}, layout.Names()...)},
		{"density", o.Density, themes.Densities()},
		{"chapter_start", o.ChapterStart, []string{"continue", "page", "right"}},
		{"speaker_notes", o.SpeakerNotes, []string{"comments", "pages", "none"}},
	} {
		if word.value != "" && !slices.Contains(word.allowed, word.value) {
			return invalid(word.name, "%s %q is not allowed%s; allowed: %s", word.name, input.Short(word.value),
				input.DidYouMean(word.value, word.allowed), strings.Join(word.allowed, ", "))
		}
	}

	return nil
}

// checkCitations returns an error for file names that a document cannot have, and for unknown styles.
func checkCitations(o presswork.Options) error {
	const maxFiles = 20
	if len(o.Bibliography) > maxFiles {
		return invalid(
			"bibliography",
			"bibliography names %d files; at most %d are allowed",
			len(o.Bibliography),
			maxFiles,
		)
	}

	for _, name := range o.Bibliography {
		if name == "" || len(name) > 512 || strings.ContainsAny(name, "\x00\n\\") {
			return invalid("bibliography", "bibliography %q is not the name of a file", input.Short(name))
		}
	}

	if utf8.RuneCountInString(o.NoCite) > maxNoCite {
		return invalid("nocite", "nocite is longer than %d characters", maxNoCite)
	}

	if o.CSL == "" || markdown.IsStyleFile(o.CSL) && len(o.CSL) <= 512 {
		return nil
	}

	if styles := markdown.CitationStyles(); !slices.Contains(styles, o.CSL) {
		return invalid("csl", "csl %q does not exist%s; allowed: %s, or a .csl file that comes with the document",
			input.Short(o.CSL), input.DidYouMean(o.CSL, styles), strings.Join(styles, ", "))
	}

	return nil
}

// invalid returns the error InvalidOption for the option with this name.
func invalid(name, format string, args ...any) error {
	return fault.Errorf(fault.InvalidOption, "%s", fmt.Sprintf(format, args...)).WithParam("options." + name)
}

// isTrue reads an option that is false by default.
func isTrue(b *bool) bool { return b != nil && *b }

// notFalse reads an option that is true by default.
func notFalse(b *bool) bool { return b == nil || *b }

// over returns o with the fields of base where o sets none. Each side of the margins counts as a field.
func over(o, base presswork.Options) presswork.Options {
	layer(reflect.ValueOf(&o).Elem(), reflect.ValueOf(base))
	return o
}

// layer fills the fields of top that are not set with those of base, also within structs. Options whose zero value has
// a meaning are pointers, so a zero field was not set.
func layer(top, base reflect.Value) {
	for i := range top.NumField() {
		switch f := top.Field(i); {
		case f.Kind() == reflect.Struct:
			layer(f, base.Field(i))
		case f.IsZero():
			f.Set(base.Field(i))
		}
	}
}

// checkSheets returns an error if the browser would take too long to apply the caller's stylesheet or that of a
// custom theme.
func checkSheets(o presswork.Options, theme themes.Theme, body markdown.Document) error {
	elements := strings.Count(body.HTML, "<") / 2 // an estimate: two tags each
	// The built-in stylesheets are fast for any document, so only others are checked.
	if o.CSS != "" {
		if err := csscost.Check(o.CSS, elements, body.HTML); err != nil {
			return err.WithParam("options.css")
		}
	}

	if theme.Custom {
		if err := csscost.Check(theme.CSS(), elements, body.HTML); err != nil {
			return fault.Errorf(err.Code, "theme %s: %s", theme.Name, err.Message)
		}
	}

	return nil
}
