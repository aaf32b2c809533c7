package cite_test

import (
	"strings"
	"testing"
)

func TestDates(t *testing.T) {
	t.Parallel()

	parts := func(attributes string) string {
		return `<date variable="issued" ` + attributes + `><date-part name="day" suffix=" "/><date-part name="month" ` +
			`suffix=" "/><date-part name="year"/></date>`
	}
	for name, c := range map[string]struct{ issued, layout, want string }{
		"year":                 {`{"date-parts": [[2001]]}`, parts(""), "2001"},
		"year and month":       {`{"date-parts": [[2001, 2]]}`, parts(""), "February 2001"},
		"day":                  {`{"date-parts": [[2001, 2, 3]]}`, parts(""), "3 February 2001"},
		"parts as strings":     {`{"date-parts": [["2001", "2", "3"]]}`, parts(""), "3 February 2001"},
		"years":                {`{"date-parts": [[2001], [2003]]}`, parts(""), "2001–2003"},
		"months":               {`{"date-parts": [[2001, 2], [2001, 4]]}`, parts(""), "February–April 2001"},
		"days":                 {`{"date-parts": [[2001, 2, 3], [2001, 2, 5]]}`, parts(""), "3–5 February 2001"},
		"days of two months":   {`{"date-parts": [[2001, 2, 3], [2001, 3, 5]]}`, parts(""), "3 February–5 March 2001"},
		"days of two years":    {`{"date-parts": [[2001, 2, 3], [2002, 3, 5]]}`, parts(""), "3 February 2001–5 March 2002"},
		"a range of one day":   {`{"date-parts": [[2001, 2, 3], [2001, 2, 3]]}`, parts(""), "3 February 2001"},
		"raw":                  {`{"raw": "2001-02-03"}`, parts(""), "3 February 2001"},
		"literal":              {`{"literal": "in press"}`, parts(""), "in press"},
		"raw text":             {`{"raw": "soon"}`, parts(""), "soon"},
		"a text":               {`"2001-02"`, parts(""), "February 2001"},
		"a year before Christ": {`{"date-parts": [[-44]]}`, parts(""), "44 BC"},
		"an early year":        {`{"date-parts": [[98]]}`, parts(""), "98 AD"},
		"season":               {`{"date-parts": [[2001]], "season": 2}`, parts(""), "Summer 2001"},
		"season as a month":    {`{"date-parts": [[2001, 24]]}`, parts(""), "Winter 2001"},
		"affixes":              {`{"date-parts": [[2001]]}`, parts(`prefix="(" suffix=")"`), "(2001)"},
		"in bold":              {`{"date-parts": [[2001]]}`, parts(`font-weight="bold"`), "<strong>2001</strong>"},
		"localized text form": {
			`{"date-parts": [[2001, 2, 3]]}`,
			`<date variable="issued" form="text"/>`,
			"February 3, 2001",
		},
		"localized numeric form": {
			`{"date-parts": [[2001, 2, 3]]}`,
			`<date variable="issued" form="numeric"/>`,
			"02/03/2001",
		},
		"localized year": {`{"date-parts": [[2001, 2, 3]]}`, `<date variable="issued" form="text" ` +
			`date-parts="year"/>`, "2001"},
		"localized year and month": {
			`{"date-parts": [[2001, 2, 3]]}`,
			`<date variable="issued" form="text" date-parts="year-month"/>`,
			"February 2001",
		},
		"overridden part": {`{"date-parts": [[2001, 2, 3]]}`, `<date variable="issued" form="text"><date-part ` +
			`name="month" form="short"/></date>`, "Feb. 3, 2001"},
		"months in numbers": {`{"date-parts": [[2001, 2]]}`, `<date variable="issued"><date-part name="month" ` +
			`form="numeric"/></date>`, "2"},
		"months in two digits": {`{"date-parts": [[2001, 2]]}`, `<date variable="issued"><date-part name="month" ` +
			`form="numeric-leading-zeros"/></date>`, "02"},
		"days in two digits": {`{"date-parts": [[2001, 2, 3]]}`, `<date variable="issued"><date-part name="day" ` +
			`form="numeric-leading-zeros"/></date>`, "03"},
		"ordinal days": {`{"date-parts": [[2001, 2, 3]]}`, `<date variable="issued"><date-part name="day" ` +
			`form="ordinal"/></date>`, "3rd"},
		"years in two digits": {`{"date-parts": [[2001]]}`, `<date variable="issued"><date-part name="year" ` +
			`form="short"/></date>`, "01"},
		"range delimiter": {`{"date-parts": [[2001], [2003]]}`, `<date variable="issued"><date-part ` +
			`name="year" range-delimiter="/"/></date>`, "2001/2003"},
		"no date":          {`{"date-parts": []}`, `<text value="a"/>` + parts(`prefix="|"`), "a"},
		"invalid month":    {`{"date-parts": [[2001, 77, 3]]}`, parts(""), "3 2001"},
		"invalid year":     {`{"date-parts": [["soon"]]}`, `<text value="a"/>` + parts(""), "a"},
		"array of numbers": {`[1, 2]`, `<text value="a"/>` + parts(""), "a"},
		"too many parts":   {`{"date-parts": [[2001, 2, 3, 4, 5], [2001, 2, 4], [7]]}`, parts(""), "3–4 February 2001"},
		"approximate year": {`{"date-parts": [[1850]], "circa": true}`, `<choose><if is-uncertain-date="issued">` +
			`<text value="about "/></if></choose>` + parts(""), "about 1850"},
		"exact year": {`{"date-parts": [[1850]]}`, `<choose><if is-uncertain-date="issued"><text ` +
			`value="about "/></if></choose>` + parts(""), "1850"},
		"periods stripped": {`{"date-parts": [[2001, 2]]}`, `<date variable="issued"><date-part name="month" ` +
			`form="short" strip-periods="true"/></date>`, "Feb"},
		"month in capitals": {`{"date-parts": [[2001, 2]]}`, `<date variable="issued"><date-part name="month" ` +
			`text-case="uppercase"/></date>`, "FEBRUARY"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := written(t, c.layout, `[{"id": "k", "type": "book", "issued": `+c.issued+`}]`); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestDatesFollowTheLanguage(t *testing.T) {
	t.Parallel()
	style := styled("", `<date variable="issued" form="text"/>`, "")

	for lang, want := range map[string]string{
		"en-US":   "May 1, 2001",
		"en-GB":   "1 May 2001",
		"de":      "1. Mai 2001",
		"fr":      "1 mai 2001",
		"es":      "1 de mayo de 2001",
		"ja":      "2001年5月1日",
		"zh-Hant": "2001年5月1日", "pt-BR": "1º de maio de 2001", "": "May 1, 2001", "tlh": "May 1, 2001", "!": "May 1, 2001",
	} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()

			got := process(t, style, `[{"id": "k", "issued": {"date-parts": [[2001, 5, 1]]}}]`, lang, citing("k")).Citations[0]
			if strings.ReplaceAll(got, "\u00a0", " ") != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}
