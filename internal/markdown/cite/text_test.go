package cite_test

import (
	"encoding/json"
	"strings"
	"testing"

	"presswork/internal/markdown/cite"
)

// workWith returns the work "k" with one variable as CSL-JSON.
func workWith(variable, value string) string {
	b, _ := json.Marshal([]map[string]string{{"id": "k", "type": "book", variable: value}})
	return string(b)
}

func TestTextCase(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ form, title, want string }{
		"lowercase":                  {"lowercase", "The DNA of Things", "the dna of things"},
		"lowercase with nocase":      {"lowercase", `The <span class="nocase">DNA</span>`, "the DNA"},
		"uppercase":                  {"uppercase", "émile", "ÉMILE"},
		"first letter":               {"capitalize-first", "the DNA of things", "The DNA of things"},
		"first letter after a quote": {"capitalize-first", "“the” things", "“The” things"},
		"every word":                 {"capitalize-all", "the DNA of things", "The DNA Of Things"},
		"sentence":                   {"sentence", "the DNA of things", "The DNA of things"},
		"sentence of capitals":       {"sentence", "THE DNA OF THINGS", "The dna of things"},
		"title":                      {"title", "the dna of things and a cat", "The Dna of Things and a Cat"},
		"stop word at the end":       {"title", "things to look for", "Things to Look For"},
		"subtitle":                   {"title", "things: a study", "Things: A Study"},
		"title after a question":     {"title", "why things? the answer", "Why Things? The Answer"},
		"hyphen":                     {"title", "self-esteem and well-being", "Self-Esteem and Well-Being"},
		"stop word in a compound":    {"title", "out-of-fashion things", "Out-of-Fashion Things"},
		"en dash":                    {"title", "the scientist–practitioner gap", "The Scientist–Practitioner Gap"},
		"em dash":                    {"title", "traits—self-esteem", "Traits—Self-Esteem"},
		"slash":                      {"title", "a cat/mouse game", "A Cat/Mouse Game"},
		"an address":                 {"title", "see http://example.org/path", "See Http://example.org/path"},
		"capitals that are there":    {"title", "the iPhone and NASA", "The iPhone and NASA"},
		"no-break space":             {"title", "things of 1600\u00a0years", "Things of 1600\u00a0Years"},
		"unknown":                    {"nonsense", "the DNA", "the DNA"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := written(t, `<text variable="title" text-case="`+c.form+`"/>`, workWith("title", c.title))
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestTitlesOfOtherLanguagesKeepTheirCase(t *testing.T) {
	t.Parallel()

	work := `[{"id": "k", "title": "das haus am see", "language": "de"}]`
	if got := written(t, `<text variable="title" text-case="title"/>`, work); got != "das haus am see" {
		t.Errorf("%q", got)
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ form, value, lang, want string }{
		"numeric":                     {"", "2", "en", "2"},
		"ordinal 1":                   {"ordinal", "1", "en", "1st"},
		"ordinal 2":                   {"ordinal", "2", "en", "2nd"},
		"ordinal 3":                   {"ordinal", "3", "en", "3rd"},
		"ordinal 4":                   {"ordinal", "4", "en", "4th"},
		"ordinal 11":                  {"ordinal", "11", "en", "11th"},
		"ordinal 13":                  {"ordinal", "13", "en", "13th"},
		"ordinal 21":                  {"ordinal", "21", "en", "21st"},
		"ordinal 101":                 {"ordinal", "101", "en", "101st"},
		"ordinal 111":                 {"ordinal", "111", "en", "111th"},
		"ordinal in German":           {"ordinal", "3", "de", "3."},
		"feminine ordinal":            {"ordinal", "1", "fr", "1ʳᵉ"},
		"long ordinal":                {"long-ordinal", "2", "en", "second"},
		"long ordinal in German":      {"long-ordinal", "2", "de", "zweiter"},
		"long ordinal beyond ten":     {"long-ordinal", "12", "en", "12th"},
		"roman":                       {"roman", "1994", "en", "mcmxciv"},
		"roman 4":                     {"roman", "4", "en", "iv"},
		"large number":                {"roman", "123456", "en", "123456"},
		"a range":                     {"ordinal", "2-3", "en", "2nd–3rd"},
		"two":                         {"ordinal", "2 & 3", "en", "2nd &amp; 3rd"},
		"a text":                      {"ordinal", "second edition", "en", "second edition"},
		"forty digits":                {"ordinal", strings.Repeat("9", 40), "en", strings.Repeat("9", 40)},
		"400 digits":                  {"roman", strings.Repeat("9", 400), "en", strings.Repeat("9", 400)},
		"a negative number is a text": {"ordinal", "-2", "en", "-2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			style := styled("", `<number variable="edition" form="`+c.form+`"/>`, "")
			if got := process(t, style, workWith("edition", c.value), c.lang, citing("k")).Citations[0]; got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestPageRanges(t *testing.T) {
	t.Parallel()

	for _, c := range []struct{ format, pages, want string }{
		{"", "321-328", "321–328"},
		{"", "321--328", "321–328"},
		{"", "5", "5"},
		{"", "iv-xi", "iv–xi"},
		{"", "1-3, 7-9", "1–3, 7–9"},
		{"expanded", "321-28", "321–328"},
		{"expanded", "42-5", "42–45"},
		{"expanded", "N110-N115", "N110–N115"},
		{"minimal", "321-328", "321–8"},
		{"minimal", "321-332", "321–32"},
		{"minimal", "100-104", "100–4"},
		{"minimal", "42-45", "42–5"},
		{"minimal-two", "321-328", "321–28"},
		{"minimal-two", "42-45", "42–45"},
		{"minimal-two", "100-104", "100–04"},
		{"chicago", "3-10", "3–10"},
		{"chicago", "71-72", "71–72"},
		{"chicago", "100-104", "100–104"},
		{"chicago", "1100-1113", "1100–1113"},
		{"chicago", "101-108", "101–8"},
		{"chicago", "1002-1006", "1002–6"},
		{"chicago", "321-325", "321–25"},
		{"chicago", "1536-1538", "1536–38"},
		{"chicago", "11564-11568", "11564–68"},
		{"chicago", "13792-13803", "13792–803"},
		{"chicago-15", "1496-1504", "1496–1504"},
		{"chicago-16", "1496-1504", "1496–504"},
		{"chicago", "142-145 & 235", "142–45 & 235"},
		{"nonsense", "321-328", "321–328"},
		{"minimal", "9-3", "9–3"},
	} {
		t.Run(c.format+" "+c.pages, func(t *testing.T) {
			t.Parallel()
			style := strings.Replace(
				styled("", `<text variable="page"/>`, ""),
				"<style ",
				`<style page-range-format="`+c.format+`" `,
				1,
			)

			got := process(t, style, workWith("page", c.pages), "en", citing("k")).Citations[0]
			if strings.ReplaceAll(got, "&amp;", "&") != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestLocatorLabels(t *testing.T) {
	t.Parallel()
	layout := `<group delimiter=" "><label variable="locator" form="short"/><text variable="locator"/></group>`

	for name, c := range map[string]struct{ label, locator, lang, want string }{
		"a page":            {"page", "3", "en", "p. 3"},
		"pages":             {"page", "3-5", "en", "pp. 3–5"},
		"two pages":         {"page", "3, 5", "en", "pp. 3, 5"},
		"no label":          {"", "3", "en", "p. 3"},
		"a chapter":         {"chapter", "3", "en", "chap. 3"},
		"chapters":          {"chapter", "3 and 4", "en", "chaps. 3 and 4"},
		"a German page":     {"page", "3", "de", "S. 3"},
		"roman numbers":     {"page", "iv-xi", "en", "pp. iv–xi"},
		"no place":          {"page", "", "en", ""},
		"an unknown place":  {"nonsense", "3", "en", "3"},
		"markup in a place": {"page", "<b>3</b>", "en", "p. &lt;b&gt;3&lt;/b&gt;"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := process(t, styled("", layout, ""), workWith("title", "T"), c.lang, located(c.label, c.locator)).Citations[0]
			if strings.ReplaceAll(got, "\u00a0", " ") != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestPunctuationAndFormatting(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ layout, title, want string }{
		"two full stops":              {`<text variable="title" suffix="."/><text value=". b"/>`, "A", "A. b"},
		"question mark and full stop": {`<text variable="title" suffix="."/>`, "Why?", "Why?"},
		"two exclamation marks":       {`<text variable="title" suffix="!"/>`, "Now!", "Now!"},
		"two spaces":                  {`<text variable="title" suffix=" "/><text value=" b"/>`, "A", "A b"},
		"two commas":                  {`<text variable="title" suffix=","/><text value=", b"/>`, "A", "A, b"},
		"full stop in quotes":         {`<text variable="title" quotes="true" suffix="."/>`, "A", "“A.”"},
		"comma in quotes":             {`<text variable="title" quotes="true" suffix=", "/><text value="b"/>`, "A", "“A,” b"},
		"colon after quotes":          {`<text variable="title" quotes="true" suffix=":"/>`, "A", "“A”:"},
		"question in quotes":          {`<text variable="title" quotes="true" suffix="."/>`, "Why?", "“Why?”"},
		"quotes in quotes":            {`<text variable="title" quotes="true"/>`, `An "old" thing`, "“An ‘old’ thing”"},
		"straight quotation marks":    {`<text variable="title"/>`, `An "old" thing`, "An “old” thing"},
		"straight apostrophe":         {`<text variable="title"/>`, "It's Peter's", "It’s Peter’s"},
		"apostrophe of a year":        {`<text variable="title"/>`, "Back in '09", "Back in ’09"},
		"italics":                     {`<text variable="title" font-style="italic"/>`, "A", "<em>A</em>"},
		"italics in italics": {
			`<text variable="title" font-style="italic"/>`,
			"A <i>b</i> c",
			"<em>A </em>b<em> c</em>",
		},
		"nodecor": {`<text variable="title" font-weight="bold"/>`, `A <span class="nodecor">` +
			`v.</span> B`, "<strong>A </strong>v.<strong> B</strong>"},
		"superscript": {`<text variable="title" vertical-align="sup"/>`, "2", "<sup>2</sup>"},
		"underlined small capitals": {
			`<text variable="title" font-variant="small-caps" text-decoration="underline"/>`,
			"A",
			`<span class="csl-caps"><u>A</u></span>`,
		},
		"periods stripped": {`<text variable="title" strip-periods="true"/>`, "J. Th.", "J Th"},
		"a group without values": {
			`<text value="a"/><group prefix="(" suffix=")"><text value="in "/><text variable="note"/></group>`,
			"A",
			"a",
		},
		"a group of texts": {`<group prefix="(" suffix=")"><text value="x"/></group>`, "A", "(x)"},
		"a group with a value": {
			`<group delimiter=", "><text value="in"/><text variable="note"/><text variable="title"/></group>`,
			"A",
			"in, A",
		},
		"an ampersand":            {`<text variable="title"/>`, "A & B <x>", "A &amp; B &lt;x&gt;"},
		"unopened tag":            {`<text variable="title"/>`, "A</i> b", "A b"},
		"unclosed tag":            {`<text variable="title"/>`, "A <b>b", "A <strong>b</strong>"},
		"a term":                  {`<text term="in" text-case="capitalize-first"/>`, "A", "In"},
		"plural term":             {`<text term="page" plural="true" form="short"/>`, "A", "pp."},
		"symbol":                  {`<text term="section" form="symbol"/>`, "A", "§"},
		"fallback form of a term": {`<text term="in" form="verb-short"/>`, "A", "in"},
		"unknown term":            {`<text value="a"/><text term="nonsense" prefix="|"/>`, "A", "a"},
		"unknown macro":           {`<text value="a"/><text macro="nonsense" prefix="|"/>`, "A", "a"},
		"unknown element":         {`<text value="a"/><nonsense prefix="|"/>`, "A", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := written(t, c.layout, workWith("title", c.title)); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	const work = `[{"id": "k", "type": "book", "title": "T", "volume": "3", "edition": "third", "issued": ` +
		`{"date-parts": [[2001]]}}]`

	for condition, want := range map[string]string{
		`type="book"`:                                 "yes",
		`type="article-journal"`:                      "no",
		`type="article-journal book" match="any"`:     "yes",
		`type="article-journal book" match="all"`:     "no",
		`type="article-journal chapter" match="none"`: "yes", `type="book chapter" match="none"`: "no",
		`variable="title"`:                  "yes",
		`variable="title note"`:             "no",
		`variable="title note" match="any"`: "yes",
		`variable="issued"`:                 "yes",
		`variable="accessed"`:               "no",
		`is-numeric="volume"`:               "yes", `is-numeric="edition"`: "no", `is-numeric="note"`: "no",
		`position="first"`: "yes", `position="subsequent"`: "no", `locator="page"`: "no", `disambiguate="true"`: "no",
		`type="book" variable="note"`: "no", `type="book" variable="note" match="any"`: "yes", `nonsense="x"`: "no", ``: "no",
	} {
		t.Run(condition, func(t *testing.T) {
			t.Parallel()

			layout := `<choose><if ` + condition + `><text value="yes"/></if><else><text value="no"/></else></choose>`
			if got := written(t, layout, work); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	layout := `<choose><if position="ibid-with-locator"><text value="ibid., "/><text variable="locator"/></if>` +
		`<else-if position="ibid"><text value="ibid."/></else-if>` +
		`<else-if position="subsequent"><text value="again"/></else-if><else><text variable="title"/></else></choose>`
	works := `[{"id": "k", "title": "K"}, {"id": "l", "title": "L"}]`

	for name, c := range map[string]struct {
		cites []cite.Citation
		want  []string
	}{
		"the same":               {[]cite.Citation{citing("k"), citing("k")}, []string{"K", "ibid."}},
		"after another":          {[]cite.Citation{citing("k"), citing("l"), citing("k")}, []string{"K", "L", "again"}},
		"another place":          {[]cite.Citation{citing("k"), located("page", "3")}, []string{"K", "ibid., 3"}},
		"the same place":         {[]cite.Citation{located("page", "3"), located("page", "3")}, []string{"K", "ibid."}},
		"no place after a place": {[]cite.Citation{located("page", "3"), citing("k")}, []string{"K", "again"}},
		"one of two":             {[]cite.Citation{citing("k", "l"), citing("k")}, []string{"KL", "again"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			equal(t, process(t, styled("", layout, ""), works, "en-US", c.cites...).Citations, c.want)
		})
	}
}
