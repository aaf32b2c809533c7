package cite_test

import (
	"strings"
	"testing"

	"presswork/internal/markdown/cite"
)

const shelf = `[
	{"id": "a", "title": "'Zebra'", "volume": "10", "author": [{"family": "Roe", "given": "Ann"}],
		"issued": {"date-parts": [[2001, 5]]}},
	{"id": "b", "title": "Ärger", "volume": "9", "author": [{"family": "Doe", "given": "Zoe"}],
		"issued": {"date-parts": [[2001, 2]]}},
	{"id": "c", "title": "apple", "volume": "100", "author": [{"family": "Doe", "given": "Ann"}],
		"issued": {"date-parts": [[-44]]}},
	{"id": "d", "title": "Banana", "author": [{"family": "Berg", "given": "Zed", "non-dropping-particle": "van"}]}]`

func TestEntriesAreSorted(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ keys, want string }{
		"no key":             {"", "abcd"},
		"title":              {`<key variable="title"/>`, "cbda"},
		"title, descending":  {`<key variable="title" sort="descending"/>`, "adbc"},
		"author":             {`<key variable="author"/>`, "dcba"},
		"number":             {`<key variable="volume"/>`, "bacd"},
		"number, descending": {`<key variable="volume" sort="descending"/>`, "cabd"},
		"date":               {`<key variable="issued"/>`, "cbad"},
		"date, descending":   {`<key variable="issued" sort="descending"/>`, "abcd"},
		"year of a macro":    {`<key macro="year"/>`, "cabd"},
		"two keys":           {`<key macro="family"/><key variable="title"/>`, "dcba"},
		"a missing variable": {`<key variable="note"/>`, "abcd"},
		"a missing macro":    {`<key macro="nonsense"/>`, "abcd"},
		"citation number":    {`<key variable="citation-number"/>`, "abcd"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			more := `<macro name="year"><date variable="issued"><date-part name="year"/></date></macro><macro ` +
				`name="family"><names variable="author"><name form="short"/></names></macro>` +
				`<bibliography><sort>` + c.keys + `</sort><layout><text value="x"/></layout></bibliography>`
			if c.keys == "" {
				more = strings.Replace(more, "<sort></sort>", "", 1)
			}
			result := process(
				t,
				strings.Replace(
					styled("", `<text variable="title"/>`, more),
					"<style ",
					`<style demote-non-dropping-particle="sort-only" `,
					1,
				),
				shelf,
				"en-US",
				citing("a", "b", "c", "d"),
			)

			got := ""
			for _, e := range result.Entries {
				got += e.Key
			}

			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

const repeated = `[
	{"id": "a", "author": [{"family": "Doe"}], "issued": {"date-parts": [[2001]]}},
	{"id": "b", "author": [{"family": "Doe"}], "issued": {"date-parts": [[2001]]}},
	{"id": "c", "author": [{"family": "Doe"}], "issued": {"date-parts": [[2001]]}},
	{"id": "d", "author": [{"family": "Doe"}], "issued": {"date-parts": [[2003]]}},
	{"id": "e", "author": [{"family": "Roe"}], "issued": {"date-parts": [[1999]]}},
	{"id": "f", "author": [{"family": "Roe"}], "issued": {"date-parts": [[2000]]}}]`

func TestCitationsCollapse(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ attributes, keys, want string }{
		"no collapse":              {``, "a b d e", "Doe 2001a; Doe 2001b; Doe 2003; Roe 1999"},
		"years":                    {`collapse="year"`, "a b d e", "Doe 2001a, 2001b, 2003; Roe 1999"},
		"cite group delimiter":     {`collapse="year" cite-group-delimiter="/"`, "a b d e", "Doe 2001a/2001b/2003; Roe 1999"},
		"after-collapse delimiter": {`collapse="year" after-collapse-delimiter=" | "`, "a d e", "Doe 2001a, 2003 | Roe 1999"},
		"suffixes":                 {`collapse="year-suffix"`, "a b d e", "Doe 2001a; b, 2003; Roe 1999"},
		"year suffix delimiter":    {`collapse="year-suffix" year-suffix-delimiter=","`, "a b d", "Doe 2001a,b, 2003"},
		"suffixes in a range": {
			`collapse="year-suffix-ranged" year-suffix-delimiter=","`,
			"a b c d",
			"Doe 2001a–c, 2003",
		},
		"two suffixes in a range": {`collapse="year-suffix-ranged" year-suffix-delimiter=","`, "a b", "Doe 2001a,b"},
		"suffixes with a gap":     {`collapse="year-suffix-ranged" year-suffix-delimiter=","`, "a c d", "Doe 2001a,c, 2003"},
		"two groups of years": {
			`collapse="year" after-collapse-delimiter=" | "`,
			"a d e f",
			"Doe 2001a, 2003 | Roe 1999, 2000",
		},
		"another author between": {`collapse="year"`, "a e d", "Doe 2001a; Roe 1999; Doe 2003"},
		"one":                    {`collapse="year"`, "e", "Roe 1999"},
		"unknown work":           {`collapse="year"`, "a nobody", "Doe 2001a; <strong>nobody?</strong>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			layout := `<group delimiter=" "><names variable="author"><name form="short"/></names><date variable="issued">` +
				`<date-part name="year"/></date></group>`
			style := strings.Replace(
				styled(`disambiguate-add-year-suffix="true" `+c.attributes, layout, ""),
				"<layout>",
				`<layout delimiter="; ">`,
				1,
			)

			result := process(
				t,
				style,
				repeated,
				"en-US",
				citing("a", "b", "c", "d", "e", "f"),
				citing(strings.Fields(c.keys)...),
			)
			if got := result.Citations[1]; got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestCitationNumbersCollapse(t *testing.T) {
	t.Parallel()

	for keys, want := range map[string]string{
		"a":        "[1]",
		"a b":      "[1], [2]",
		"a b c":    "[1]–[3]",
		"a b c e":  "[1]–[3], [5]",
		"a c e":    "[1], [3], [5]",
		"e a":      "[1], [5]",
		"c b a":    "[1]–[3]",
		"a nobody": "[1], <strong>nobody?</strong>",
	} {
		t.Run(keys, func(t *testing.T) {
			t.Parallel()
			style := `<style><citation collapse="citation-number"><sort><key variable="citation-number"/></sort><layout ` +
				`delimiter=", "><text variable="citation-number" prefix="[" suffix="]"/></layout></citation></style>`

			result := process(
				t,
				style,
				repeated,
				"en-US",
				citing("a", "b", "c", "d", "e"),
				citing(strings.Fields(keys)...),
			)
			if got := result.Citations[1]; got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

func TestSubsequentAuthorSubstitute(t *testing.T) {
	t.Parallel()
	bibliography := `<bibliography subsequent-author-substitute="———"><layout suffix="."><names variable="author"/>` +
		`<text variable="volume" prefix=", "/></layout></bibliography>`
	equal(
		t,
		listed(t, bibliography, shelf, "b", "b", "c", "a"),
		[]string{"Zoe Doe, 9.", "Ann Doe, 100.", "Ann Roe, 10."},
	)
	equal(t, listed(t, bibliography, repeated, "a", "b", "e"), []string{"Doe.", "———.", "Roe."})
}

func TestSecondFieldAlign(t *testing.T) {
	t.Parallel()
	bibliography := `<bibliography second-field-align="flush"><layout><text variable="citation-number" suffix="."/>` +
		`<text variable="volume"/></layout></bibliography>`
	result := process(
		t,
		styled("", `<text variable="citation-number"/>`, bibliography),
		shelf,
		"en-US",
		citing("c", "a"),
	)

	var got []string
	for _, e := range result.Entries {
		got = append(got, e.Label+"|"+e.HTML)
	}
	equal(t, got, []string{"1.|100", "2.|10"})
	equal(t, result.Citations, []string{"12"})
}

func TestCitationLabels(t *testing.T) {
	t.Parallel()

	for authors, want := range map[string]string{
		`{"family": "Knuth"}`:                                                                 "Knut84",
		`{"family": "Knuth"}, {"family": "Plass"}`:                                            "KnPl84",
		`{"family": "Knuth"}, {"family": "Plass"}, {"family": "Lamport"}`:                     "KnPL84",
		`{"family": "A"}, {"family": "B"}, {"family": "C"}, {"family": "D"}, {"family": "E"}`: "ABCD84",
		`{"literal": "NASA"}`:                                                                 "NASA84",
		``:                                                                                    "84",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()

			work := `[{"id": "k", "author": [` + authors + `], "issued": {"date-parts": [[1984]]}}]`
			if got := written(t, `<text variable="citation-label"/>`, work); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

func TestPrefixesAndSuffixes(t *testing.T) {
	t.Parallel()
	layout := `<names variable="author"><name form="short"/></names>`
	style := strings.Replace(styled("", layout, ""), "<layout>", `<layout prefix="(" suffix=")" delimiter="; ">`, 1)

	for name, c := range map[string]struct {
		cite cite.Cite
		want string
	}{
		"prefix":              {cite.Cite{Key: "a", Prefix: "see"}, "(see Doe; Roe)"},
		"suffix":              {cite.Cite{Key: "a", Suffix: "and more"}, "(Doe and more; Roe)"},
		"suffix with a comma": {cite.Cite{Key: "a", Suffix: ", passim"}, "(Doe, passim; Roe)"},
		"italics":             {cite.Cite{Key: "a", Prefix: "<i>see</i>"}, "(<em>see</em> Doe; Roe)"},
		"a script":            {cite.Cite{Key: "a", Prefix: "<script>"}, "(&lt;script&gt; Doe; Roe)"},
		"quotation marks":     {cite.Cite{Key: "a", Suffix: `"so"`}, "(Doe “so”; Roe)"},
		"without the author":  {cite.Cite{Key: "a", SuppressAuthor: true}, "(Roe)"},
		"unknown work":        {cite.Cite{Key: "<b>"}, "(<strong>&lt;b&gt;?</strong>; Roe)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			result := process(t, style, repeated, "en-US", cite.Citation{Cites: []cite.Cite{c.cite, {Key: "e"}}})
			if got := strings.Replace(result.Citations[0], "(; ", "(", 1); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestNotesBeginWithACapital(t *testing.T) {
	t.Parallel()
	style := `<style class="note"><citation><layout suffix="."><choose><if position="ibid"><text term="ibid" ` +
		`form="short"/></if><else><text variable="title"/></else></choose></layout></citation></style>`
	result := process(t, style, `[{"id": "k", "title": "things"}]`, "en-US", citing("k"), citing("k"))
	equal(t, result.Citations, []string{"things.", "Ibid."})
}
