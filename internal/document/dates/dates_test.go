package dates

import (
	"testing"
	"time"
)

func TestOfWritesADayInTheStyleOfTheLanguage(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.November, 5, 12, 0, 0, 0, time.UTC)

	for name, c := range map[string]struct{ written, lang, shown, day string }{
		"no date":                {"", "de", "2026-11-05", ""},
		"a day in German":        {"2026-03-21", "de", "21. März 2026", "2026-03-21"},
		"a region of German":     {"2026-03-21", "de-CH", "21. März 2026", "2026-03-21"},
		"British English":        {"2026-03-21", "en-GB", "21 March 2026", "2026-03-21"},
		"American English":       {"2026/3/21", "en-US", "March 21, 2026", "2026-03-21"},
		"an unknown language":    {"2026-03-21", "tlh", "2026-03-21", "2026-03-21"},
		"the day of rendering":   {`\today`, "en-US", "November 5, 2026", "2026-11-05"},
		"a day with a time":      {"2026-03-21T10:00:00Z", "en-US", "March 21, 2026", "2026-03-21"},
		"the day of R Markdown":  {"`r Sys.Date()`", "de", "5. November 2026", "2026-11-05"},
		"a first of the month":   {"2026-03-01", "af", "01 Maart 2026", "2026-03-01"},
		"digits of Persian":      {"2026-03-21", "fa", "۲۱ مارس ۲۰۲۶", "2026-03-21"},
		"digits of Egypt":        {"2026-03-21", "ar-EG", "٢١ مارس ٢٠٢٦", "2026-03-21"},
		"a year before 1000":     {"0800-12-25", "en-US", "December 25, 800", "0800-12-25"},
		"lines in a date":        {"spring\n2026", "en", "spring 2026", ""},
		"a day that never was":   {"2026-02-30", "en", "2026-02-30", ""},
		"mixed separators":       {"2026-03/21", "en", "2026-03/21", ""},
		"text instead of a date": {"spring 2026", "en", "spring 2026", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if shown, day := Of(c.written, c.lang, now); shown != c.shown || day != c.day {
				t.Errorf("Of(%q, %q) = %q, %q; want %q, %q", c.written, c.lang, shown, day, c.shown, c.day)
			}
		})
	}
}
