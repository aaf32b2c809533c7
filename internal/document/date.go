package document

import (
	_ "embed"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/language"

	"presswork/internal/pdffile"
)

//go:embed dates.txt
var datesTable string

// dateForm is how a language writes a date.
type dateForm struct {
	zero    rune // of its digits
	pattern string
	months  []string
}

var dateForms = sync.OnceValue(func() map[string]dateForm {
	forms := map[string]dateForm{}

	for line := range strings.Lines(datesTable) {
		if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) == 4 {
			forms[f[0]] = dateForm{zero: []rune(f[1])[0], pattern: f[2], months: strings.Split(f[3], "|")}
		}
	}

	return forms
})

var (
	writtenDay = regexp.MustCompile(`^(\d{4})([-/.])(\d{1,2})([-/.])(\d{1,2})(?:[T ]+\d.*)?$`)
	// printDay is what Quarto, LaTeX and R Markdown call the day of printing.
	printDay = regexp.MustCompile("(?i)^(today|now|last-modified|\\\\today|`r .*Sys\\.(Date|time)\\(\\).*`)$")
)

// dateOf returns the date a document shows, and the day (2006-01-02) if it has
// one of its own. A day is written as lang does, anything else as it stands in
// the front matter; without one the day of printing is meant.
func dateOf(written, lang string, now time.Time) (shown, day string) {
	written = pdffile.OneLine(written)
	t := now

	switch m := writtenDay.FindStringSubmatch(written); {
	case written == "":
		return now.Format(time.DateOnly), ""
	case printDay.MatchString(written):
	case m == nil || m[2] != m[4]:
		return written, ""
	default:
		year, _ := strconv.Atoi(m[1])
		month, _ := strconv.Atoi(m[3])
		date, _ := strconv.Atoi(m[5])

		t = time.Date(year, time.Month(month), date, 0, 0, 0, 0, time.UTC)
		if t.Day() != date || int(t.Month()) != month {
			return written, "" // a day that no month has
		}
	}
	day = t.Format(time.DateOnly)

	form, ok := dateFormOf(lang)
	if !ok {
		return day, day
	}
	number := func(layout string) string {
		return strings.Map(func(r rune) rune { return r - '0' + form.zero }, t.Format(layout))
	}

	return strings.NewReplacer("{d}", number("2"), "{dd}", number("02"), "{m}", form.months[t.Month()-1],
		"{y}", strings.TrimLeft(number("2006"), string(form.zero))).Replace(form.pattern), day
}

// dateFormOf finds the form of a language, or of the nearest that it is a kind
// of: British English is of the world's (en-001), Swiss German is German.
func dateFormOf(lang string) (dateForm, bool) {
	tag, err := language.Parse(lang)
	for ; err == nil && !tag.IsRoot(); tag = tag.Parent() {
		if form, ok := dateForms()[tag.String()]; ok {
			return form, true
		}
	}

	return dateForm{}, false
}
