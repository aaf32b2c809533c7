package cite_test

import "testing"

const people = `[{"id": "k", "type": "book", "title": "Things", "author": [
	{"family": "Doe", "given": "Jane Mary"}, {"family": "Roe", "given": "Richard"},
		{"family": "Poe", "given": "Edgar A."}, {"family": "Low", "given": "Ann"}],
	"editor": [{"family": "Beethoven", "given": "Ludwig", "non-dropping-particle": "van"}],
	"translator": [{"family": "Fontaine", "given": "Jean", "dropping-particle": "de", "non-dropping-particle": "La",
		"suffix": "III"}],
	"illustrator": [{"literal": "Barnes and Noble"}], "director": [{"family": "毛", "given": "泽东"}],
	"interviewer": [{"family": "O'Brien", "given": "Jean-Paul"}], "recipient": [{"family": "Doe", "given": "John, Jr."}]}]`

func TestNames(t *testing.T) {
	t.Parallel()

	names := func(variable, name string) string {
		return `<names variable="` + variable + `">` + name + `</names>`
	}
	for name, c := range map[string]struct{ layout, want string }{
		"long":      {names("author", `<name/>`), "Jane Mary Doe, Richard Roe, Edgar A. Poe, Ann Low"},
		"short":     {names("author", `<name form="short"/>`), "Doe, Roe, Poe, Low"},
		"and":       {names("author", `<name form="short" and="text"/>`), "Doe, Roe, Poe, and Low"},
		"ampersand": {names("author", `<name form="short" and="symbol"/>`), "Doe, Roe, Poe, &amp; Low"},
		"no delimiter before the last": {names("author", `<name form="short" and="text" `+
			`delimiter-precedes-last="never"/>`), "Doe, Roe, Poe and Low"},
		"delimiter":            {names("author", `<name form="short" delimiter="; "/>`), "Doe; Roe; Poe; Low"},
		"et al.":               {names("author", `<name form="short" et-al-min="3" et-al-use-first="1"/>`), "Doe et al."},
		"et al. of two":        {names("author", `<name form="short" et-al-min="3" et-al-use-first="2"/>`), "Doe, Roe, et al."},
		"et al. of few enough": {names("author", `<name form="short" et-al-min="5" et-al-use-first="1"/>`), "Doe, Roe, Poe, Low"},
		"et al. with the last": {names("author", `<name form="short" et-al-min="3" et-al-use-first="1" `+
			`et-al-use-last="true"/>`), "Doe, … Low"},
		"delimiter always before et al.": {names("author", `<name form="short" et-al-min="3" et-al-use-first="1" `+
			`delimiter-precedes-et-al="always"/>`), "Doe, et al."},
		"and others in italics": {names("author", `<name form="short" et-al-min="3" et-al-use-first="1"/>`+
			`<et-al term="and others" font-style="italic"/>`), "Doe <em>and others</em>"},
		"count":                  {names("author", `<name form="count"/>`), "4"},
		"count of those shown":   {names("author", `<name form="count" et-al-min="3" et-al-use-first="2"/>`), "2"},
		"count of two variables": {names("author editor", `<name form="count"/>`), "5"},
		"initials":               {names("author", `<name initialize-with=". "/>`), "J. M. Doe, R. Roe, E. A. Poe, A. Low"},
		"initials without spaces": {names("author", `<name initialize-with="."/>`), "J.M. Doe, R. Roe, E.A. " +
			"Poe, A. Low"},
		"initials without periods": {names("author", `<name initialize-with=""/>`), "JM Doe, R Roe, EA Poe, A Low"},
		"initials in the name": {
			names("author", `<name initialize-with="." initialize="false"/>`),
			"Jane Mary Doe, Richard Roe, Edgar A. Poe, Ann Low",
		},
		"hyphenated given name": {names("interviewer", `<name initialize-with=". "/>`), "J.-P. O’Brien"},
		"the first inverted": {names("author", `<name name-as-sort-order="first" et-al-min="3" `+
			`et-al-use-first="2"/>`), "Doe, Jane Mary, Richard Roe, et al."},
		"all inverted": {names("author", `<name name-as-sort-order="all" delimiter="; " `+
			`et-al-min="3" et-al-use-first="2"/>`), "Doe, Jane Mary; Roe, Richard; et al."},
		"no separator": {names("author", `<name name-as-sort-order="all" sort-separator="" `+
			`et-al-min="3" et-al-use-first="1"/>`), "DoeJane Mary et al."},
		"particle":                     {names("editor", `<name/>`), "Ludwig van Beethoven"},
		"particle of a short name":     {names("editor", `<name form="short"/>`), "van Beethoven"},
		"particle of an inverted name": {names("editor", `<name name-as-sort-order="all"/>`), "Beethoven, Ludwig van"},
		"two particles and a suffix":   {names("translator", `<name/>`), "Jean de La Fontaine III"},
		"particles and suffix inverted": {
			names("translator", `<name name-as-sort-order="all"/>`),
			"Fontaine, Jean de La, III",
		},
		"institution":                    {names("illustrator", `<name name-as-sort-order="all" initialize-with="."/>`), "Barnes and Noble"},
		"family before given in Chinese": {names("director", `<name initialize-with="."/>`), "毛泽东"},
		"a suffix among the given names": {names("recipient", `<name/>`), "John Doe Jr."},
		"apostrophe":                     {names("interviewer", `<name form="short"/>`), "O’Brien"},
		"formatted name part": {names("editor", `<name><name-part name="family" text-case="uppercase"/>`+
			`</name>`), "Ludwig VAN BEETHOVEN"},
		"label": {
			names("editor", `<name/><label prefix=" (" suffix=")" form="short"/>`),
			"Ludwig van Beethoven (ed.)",
		},
		"plural label": {
			names("author", `<name form="count"/>`) + names("editor", `<label plural="always" suffix=": "/><name/>`),
			"4editors: Ludwig van Beethoven",
		},
		"label before the names": {
			names("editor", `<label form="verb" suffix=" "/><name/>`),
			"edited by Ludwig van Beethoven",
		},
		"two variables": {
			`<names variable="editor translator" delimiter="; "><name form="short"/></names>`,
			"van Beethoven; La Fontaine",
		},
		"substitute": {names("composer", `<name form="short"/><substitute><names `+
			`variable="chair"/><names variable="editor"/></substitute>`), "van Beethoven"},
		"a substitute is not written twice": {
			names("composer", `<substitute><text variable="title"/></substitute>`) + `<text variable="title" prefix="|"/>`,
			"Things",
		},
		"no names": {`<text value="a"/>` + names("composer", `<name/>`), "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := written(t, c.layout, people); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

func TestNameOptionsAreInherited(t *testing.T) {
	t.Parallel()
	layout := `<names variable="author"><name/></names>`

	for attributes, want := range map[string]string{
		`et-al-min="2" et-al-use-first="1"`:                                  "Jane Mary Doe et al.",
		`name-form="short" et-al-min="2" et-al-use-first="1"`:                "Doe et al.",
		`name-form="short" name-delimiter="/"`:                               "Doe/Roe/Poe/Low",
		`name-form="short" and="symbol" delimiter-precedes-last="never"`:     "Doe, Roe, Poe &amp; Low",
		`initialize-with=". " name-as-sort-order="all" name-delimiter="; "`:  "Doe, J. M.; Roe, R.; Poe, E. A.; Low, A.",
		`initialize-with="" name-as-sort-order="first" sort-separator=" "`:   "Doe JM, R Roe, EA Poe, A Low",
		`name-form="short" et-al-min="3" et-al-use-first="1" and="text"`:     "Doe et al.",
		`name-form="short" et-al-min="4" et-al-use-first="3" and="nonsense"`: "Doe, Roe, Poe, et al.",
	} {
		t.Run(attributes, func(t *testing.T) {
			t.Parallel()

			if got := process(t, styled(attributes, layout, ""), people, "en-US", citing("k")).Citations[0]; got != want {
				t.Errorf("%s\nwant %s", got, want)
			}
		})
	}
}

func TestLaterCitationsShortenNamesFurther(t *testing.T) {
	t.Parallel()
	style := styled(
		`name-form="short" et-al-min="5" et-al-use-first="3" et-al-subsequent-min="2" et-al-subsequent-use-first="1"`,
		`<names variable="author"/>`,
		"",
	)
	equal(
		t,
		process(t, style, people, "en-US", citing("k"), citing("k")).Citations,
		[]string{"Doe, Roe, Poe, Low", "Doe et al."},
	)
}

const namesakes = `[
	{"id": "a", "title": "A", "author": [{"family": "Doe", "given": "Jane"}, {"family": "Roe", "given": "R."},
		{"family": "Poe", "given": "E."}], "issued": {"date-parts": [[2001]]}},
	{"id": "b", "title": "B", "author": [{"family": "Doe", "given": "Jane"}, {"family": "Low", "given": "A."},
		{"family": "Poe", "given": "E."}], "issued": {"date-parts": [[2001]]}},
	{"id": "c", "title": "C", "author": [{"family": "Kay", "given": "Ann"}], "issued": {"date-parts": [[2001]]}},
	{"id": "d", "title": "D", "author": [{"family": "Kay", "given": "Bob"}], "issued": {"date-parts": [[2001]]}},
	{"id": "e", "title": "E", "author": [{"family": "Lee", "given": "Ann"}], "issued": {"date-parts": [[2001]]}},
	{"id": "f", "title": "F", "author": [{"family": "Lee", "given": "Ann"}], "issued": {"date-parts": [[2001]]}},
	{"id": "g", "title": "G", "author": [{"family": "Ash", "given": "Ann"}], "issued": {"date-parts": [[2001]]}}]`

func TestDisambiguation(t *testing.T) {
	t.Parallel()
	layout := `<group delimiter=" "><names variable="author"><name form="short" et-al-min="2" et-al-use-first="1" ` +
		`initialize-with="."/></names><date variable="issued"><date-part name="year"/></date>` +
		`<choose><if disambiguate="true"><text variable="title"/></if></choose></group>`

	for name, c := range map[string]struct {
		attributes string
		want       []string
	}{
		"names": {
			`disambiguate-add-names="true"`,
			[]string{
				"Doe, Roe, et al. 2001", "Doe, Low, et al. 2001", "Kay 2001 C", "Kay 2001 D", "Lee 2001 E",
				"Lee 2001 F", "Ash 2001",
			},
		},
		"given names": {
			`disambiguate-add-givenname="true"`,
			[]string{
				"Doe et al. 2001 A", "Doe et al. 2001 B", "A. Kay 2001", "B. Kay 2001", "Lee 2001 E", "Lee 2001 F",
				"Ash 2001",
			},
		},
		"all given names that differ": {
			`disambiguate-add-givenname="true" givenname-disambiguation-rule="all-names" disambiguate-add-names="true"`,
			[]string{
				"Doe, Roe, et al. 2001", "Doe, Low, et al. 2001", "A. Kay 2001", "B. Kay 2001", "Lee 2001 E",
				"Lee 2001 F", "Ash 2001",
			},
		},
		"conditions before suffixes": {
			`disambiguate-add-year-suffix="true"`,
			[]string{
				"Doe et al. 2001 A", "Doe et al. 2001 B", "Kay 2001 C", "Kay 2001 D", "Lee 2001 E", "Lee 2001 F",
				"Ash 2001",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cites := []string{"a", "b", "c", "d", "e", "f", "g"}
			result := process(
				t,
				styled(c.attributes, layout, ""),
				namesakes,
				"en-US",
				citing(cites[0]),
				citing(cites[1]),
				citing(cites[2]),
				citing(cites[3]),
				citing(cites[4]),
				citing(cites[5]),
				citing(cites[6]),
			)
			equal(t, result.Citations, c.want)
		})
	}
}

func TestYearSuffixes(t *testing.T) {
	t.Parallel()
	layout := `<group delimiter=" "><names variable="author"><name form="short" et-al-min="2" et-al-use-first="1"/>` +
		`</names><date variable="issued"><date-part name="year"/></date></group>`
	bibliography := `<bibliography><sort><key variable="title" sort="descending"/></sort><layout><text ` +
		`variable="title"/></layout></bibliography>`
	style := styled(`disambiguate-add-year-suffix="true"`, layout, bibliography)
	result := process(t, style, namesakes, "en-US", citing("e"), citing("f"), citing("g"))
	equal(t, result.Citations, []string{"Lee 2001b", "Lee 2001a", "Ash 2001"})
}
