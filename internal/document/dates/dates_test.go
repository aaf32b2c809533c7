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
		"Austrian German":        {"2024-01-05", "de-AT", "5. Jänner 2024", "2024-01-05"},
		"French, one digit each": {"2024/8/9", "fr", "9 août 2024", "2024-08-09"},
		"Polish":                 {"2024-08-09", "pl", "9 sierpnia 2024", "2024-08-09"},
		"Catalan":                {"2024-04-09", "ca", "9 d’abril del 2024", "2024-04-09"},
		"Russian":                {"2024-08-09", "ru", "9 августа 2024\u202fг.", "2024-08-09"},
		"Japanese":               {"2024-08-09", "ja", "2024年8月9日", "2024-08-09"},
		"Chinese of Taiwan":      {"2024-08-09", "zh-TW", "2024年8月9日", "2024-08-09"},
		"Korean":                 {"2024-08-09", "ko", "2024년 8월 9일", "2024-08-09"},
		"Norwegian":              {"2024-08-09", "no", "9. august 2024", "2024-08-09"},
		"the word today":         {"today", "en", "November 5, 2026", "2026-11-05"},
		"day before month":       {"05/03/2024", "en", "05/03/2024", ""},
		"only a year":            {"2024", "en", "2024", ""},
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
