// Package dates writes the date of a document as the document's language does.
package dates

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/language"

	"presswork/internal/lazyregexp"
	"presswork/internal/pdffile"
)

// table has one language per line: its tag, its digit zero, its pattern and its months.
//
//go:embed dates.txt
var table string

// form describes how a language writes dates.
type form struct {
	zero rune // of its digits
	// pattern has the placeholders {d}, {dd}, {m} and {y}.
	pattern string
	months  []string
}

// forms parses the table on its first call.
var forms = sync.OnceValue(func() map[string]form {
	byTag := map[string]form{}

	for line := range strings.Lines(table) {
		if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) == 4 {
			byTag[f[0]] = form{zero: []rune(f[1])[0], pattern: f[2], months: strings.Split(f[3], "|")}
		}
	}

	return byTag
})

var (
	// numericDay matches a date with the year first, such as 2026-05-14 or 2026/5/14.
	numericDay = lazyregexp.New(`^(\d{4})([-/.])(\d{1,2})([-/.])(\d{1,2})(?:[T ]+\d.*)?$`)
	// renderDay matches what Quarto, LaTeX and R Markdown write for the day of rendering.
	renderDay = lazyregexp.New("(?i)^(today|now|last-modified|\\\\today|`r .*Sys\\.(Date|time)\\(\\).*`)$")
)

// Of returns the date that a document shows, given the date in its front matter ("" for none), its language and the
// current time. A day is written in the style of the language, and any other text as it is. Without a date in the front
// matter, shown is the current day as 2006-01-02. day is the date of the front matter in that form. It is "" if the
// front matter has no day.
func Of(written, lang string, now time.Time) (shown, day string) {
	written = pdffile.OneLine(written)
	t := now

	switch m := numericDay().FindStringSubmatch(written); {
	case written == "":
		return now.Format(time.DateOnly), ""
	case renderDay().MatchString(written): // t is the day already
	case m == nil || m[2] != m[4]:
		return written, ""
	default:
		year, _ := strconv.Atoi(m[1])
		month, _ := strconv.Atoi(m[3])
		date, _ := strconv.Atoi(m[5])

		t = time.Date(year, time.Month(month), date, 0, 0, 0, 0, time.UTC)
		if t.Day() != date || int(t.Month()) != month {
			return written, "" // no such day, such as 30 February
		}
	}
	day = t.Format(time.DateOnly)

	f, ok := formOf(lang)
	if !ok {
		return day, day
	}
	number := func(layout string) string {
		return strings.Map(func(r rune) rune { return r - '0' + f.zero }, t.Format(layout))
	}

	return strings.NewReplacer("{d}", number("2"), "{dd}", number("02"), "{m}", f.months[t.Month()-1],
		"{y}", strings.TrimLeft(number("2006"), string(f.zero))).Replace(f.pattern), day
}

// formOf returns the form of a language or of its nearest ancestor in CLDR that has one. For example, British
// English inherits from en-001 and Swiss German from German.
func formOf(lang string) (form, bool) {
	tag, err := language.Parse(lang)
	for ; err == nil && !tag.IsRoot(); tag = tag.Parent() {
		if f, ok := forms()[tag.String()]; ok {
			return f, true
		}
	}

	return form{}, false
}
