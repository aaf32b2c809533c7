package document

import (
	"slices"
	"strings"
	"unicode/utf8"

	"presswork"
	"presswork/internal/document/sheet"
	"presswork/internal/document/typeset"
	"presswork/internal/input"
	"presswork/internal/lazyregexp"
	"presswork/themes"
)

// placeholder matches a placeholder such as {page}.
var placeholder = lazyregexp.New(`\{[A-Za-z_]+\}`)

// placeholders returns the words that are replaced in a header or footer.
func placeholders() []string {
	return []string{"{page}", "{total}", "{title}", "{date}", "{chapter}"}
}

// checkBanner returns an error for a text that a header or footer cannot have.
func checkBanner(name, text string) error {
	if utf8.RuneCountInString(text) > maxText {
		return invalid(name, "%s is longer than %d characters", name, maxText)
	}

	for _, p := range placeholder().FindAllString(text, -1) {
		if !slices.Contains(placeholders(), p) {
			return invalid(name, "%s: unknown placeholder %s%s; allowed: %s", name, input.Short(p),
				input.DidYouMean(p, placeholders()), strings.Join(placeholders(), ", "))
		}
	}

	return nil
}

// noContent is the content of an absent margin box.
const noContent = "none"

// namesChapter reports whether the header or footer has the name of the chapter.
func namesChapter(o presswork.Options) bool {
	for _, text := range []*string{o.HeaderText, o.FooterText} {
		if text != nil && strings.Contains(*text, "{chapter}") {
			return true
		}
	}

	return false
}

// bannerCapacity returns the number of letters of a header or footer that fit into a margin. margin is in millimetres.
// Chromium does not clip there: a longer text would be printed over the body.
func bannerCapacity(s sheet.Sheet, margin float64) int {
	const (
		size   = 8.5 * sheet.Point // the type size of paper.css
		line   = 1.3 * size        // its line height
		filled = 0.85              // of the margin, at most
	)
	lines := int(margin * filled / line)

	return lines * int(s.TextWidth()/(size*typeset.LetterWidth))
}

// bannerContent returns a header or footer as the value of a margin box's content property. margin is in millimetres,
// number stands for {page}, total for {total}. A text that does not fit into the margin is cut.
func (p page) bannerContent(text string, margin float64, number, total string) string {
	const counterDigits = 4 // estimate for page numbers, which are not known yet
	var parts []string

	capacity := bannerCapacity(p.sheet, margin)
	if capacity == 0 {
		return noContent
	}
	// literal adds text up to the capacity that is left.
	literal := func(s string) {
		if s == "" || capacity <= 0 {
			return
		}

		if letters := []rune(s); len(letters) > capacity {
			s = string(letters[:capacity]) + "…"
		}
		capacity -= utf8.RuneCountInString(s)
		parts = append(parts, themes.QuoteCSS(s))
	}
	// counter adds a counter whose text has about this many letters.
	counter := func(value string, letters int) {
		parts = append(parts, value)
		capacity -= letters
	}

	at := 0
	for _, m := range placeholder().FindAllStringIndex(text, -1) {
		literal(text[at:m[0]])

		at = m[1]
		switch text[m[0]:m[1]] {
		case "{page}":
			counter(number, counterDigits)
		case "{total}":
			counter(total, counterDigits)
		case "{title}":
			literal(p.meta.Title)
		case "{date}":
			literal(p.date)
		case "{chapter}":
			longest := 0
			for _, c := range p.chapters {
				longest = max(longest, utf8.RuneCountInString(runningTitle(c)))
			}

			if longest > 0 {
				counter("counter(page,"+chapterStyle+")", longest)
			}
		}
	}
	literal(text[at:])

	if len(parts) == 0 {
		return noContent
	}

	return strings.Join(parts, " ")
}

// bareCSS returns the rules for sections and blank pages without a header or footer. Chromium can select the
// margin boxes of these pages only by the name of the page.
func bareCSS(names themes.Names) string {
	header, footer := "", ""
	for _, place := range []string{"left", "center", "right"} {
		header += "@top-" + place + "{content:none}"
		footer += "@bottom-" + place + "{content:none}"
	}

	css := ""
	if names[".no-header"] {
		css += "@page no-header{" + header + "}.no-header{page:no-header}"
	}

	if names[".no-footer"] {
		css += "@page no-footer{" + footer + "}.no-footer{page:no-footer}"
	}

	if names[".no-header"] && names[".no-footer"] {
		css += "@page no-banners{" + header + footer + "}.no-header.no-footer{page:no-banners}"
	}

	if names[".leaf"] {
		css += "@page leaf{" + header + footer + "}"
	}

	return css
}
