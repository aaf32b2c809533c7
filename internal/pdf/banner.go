package pdf

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"presswork/internal/suggest"
	"presswork/themes"
)

var placeholder = regexp.MustCompile(`\{[A-Za-z_]+\}`)

const placeholderHelp = "allowed: {page}, {total}, {title}, {date}"

// checkBanner checks the text of a header or footer.
func checkBanner(name, text string) error {
	if utf8.RuneCountInString(text) > maxText {
		return invalid(name, "%s is longer than %d characters", name, maxText)
	}
	for _, p := range placeholder.FindAllString(text, -1) {
		switch p {
		case "{page}", "{total}", "{title}", "{date}":
		case "{chapter}":
			return invalid(name, "%s: {chapter} is not available yet; %s", name, placeholderHelp)
		default:
			return invalid(name, "%s: unknown placeholder %s%s; %s", name, short(p),
				suggest.Phrase(p, []string{"{page}", "{total}", "{title}", "{date}"}), placeholderHelp)
		}
	}
	return nil
}

// bannerContent writes a header or footer as the value of a margin box's
// content property: strings and page counters.
func bannerContent(text, title string, now time.Time) string {
	var parts []string
	literal := func(s string) {
		if s != "" {
			parts = append(parts, themes.QuoteCSS(s))
		}
	}
	at := 0
	for _, m := range placeholder.FindAllStringIndex(text, -1) {
		literal(text[at:m[0]])
		at = m[1]
		switch text[m[0]:m[1]] {
		case "{page}":
			parts = append(parts, "counter(page)")
		case "{total}":
			parts = append(parts, "counter(pages)")
		case "{title}":
			literal(title)
		case "{date}":
			literal(now.Format(time.DateOnly))
		}
	}
	literal(text[at:])
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, " ")
}
