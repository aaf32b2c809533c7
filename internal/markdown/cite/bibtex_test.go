package cite_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/markdown/cite"
)

func TestNamesOfBibTeX(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		author string
		want   []cite.Name
	}{
		"given family":               {"Jane Doe", []cite.Name{{Given: "Jane", Family: "Doe"}}},
		"family, given":              {"Doe, Jane", []cite.Name{{Given: "Jane", Family: "Doe"}}},
		"family of two words":        {"García Márquez, Gabriel", []cite.Name{{Given: "Gabriel", Family: "García Márquez"}}},
		"two given names":            {"Donald Ervin Knuth", []cite.Name{{Given: "Donald Ervin", Family: "Knuth"}}},
		"particle":                   {"Ludwig van Beethoven", []cite.Name{{Given: "Ludwig", NonDropping: "van", Family: "Beethoven"}}},
		"particle before the comma":  {"van der Berg, Anna", []cite.Name{{Given: "Anna", NonDropping: "van der", Family: "Berg"}}},
		"suffix":                     {"King, Jr., Martin Luther", []cite.Name{{Given: "Martin Luther", Family: "King", Suffix: "Jr."}}},
		"institution":                {"{Barnes and Noble}", []cite.Name{{Literal: "Barnes and Noble"}}},
		"one word":                   {"Plato", []cite.Name{{Family: "Plato"}}},
		"two people":                 {"A Bee and C Dee", []cite.Name{{Given: "A", Family: "Bee"}, {Given: "C", Family: "Dee"}}},
		"and on the next line":       {"A Bee\n    and C Dee", []cite.Name{{Given: "A", Family: "Bee"}, {Given: "C", Family: "Dee"}}},
		"AND in capitals":            {"A Bee AND C Dee", []cite.Name{{Given: "A", Family: "Bee"}, {Given: "C", Family: "Dee"}}},
		"and within a word":          {"Andy Sand", []cite.Name{{Given: "Andy", Family: "Sand"}}},
		"and in brackets":            {"{Smith and Sons} and A Bee", []cite.Name{{Literal: "Smith and Sons"}, {Given: "A", Family: "Bee"}}},
		"others":                     {"A Bee and others", []cite.Name{{Given: "A", Family: "Bee"}}},
		"nothing between two ands":   {"A Bee and and C Dee", []cite.Name{{Given: "A", Family: "Bee"}, {Given: "C", Family: "Dee"}}},
		"accents":                    {`Erd{\H{o}}s, P{\'a}l`, []cite.Name{{Given: "Pál", Family: "Erdős"}}},
		"accent without brackets":    {`G\"odel, Kurt`, []cite.Name{{Given: "Kurt", Family: "Gödel"}}},
		"comma within brackets":      {"{Doe, Inc.}", []cite.Name{{Literal: "Doe, Inc."}}},
		"bracket around family":      {"{de la Cruz}, Ana", []cite.Name{{Given: "Ana", Family: "de la Cruz"}}},
		"hyphen":                     {"Jean-Paul Sartre", []cite.Name{{Given: "Jean-Paul", Family: "Sartre"}}},
		"other script":               {"毛, 泽东", []cite.Name{{Given: "泽东", Family: "毛"}}},
		"only a comma":               {",", []cite.Name{{Literal: ","}}},
		"more brackets than it ends": {"{{Doe}}, {J}", []cite.Name{{Given: "J", Family: "Doe"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			item := read(t, "@book{k, author = {"+c.author+"}}")
			if diff := cmp.Diff(c.want, item.Names["author"]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAbbreviationsOfBibTeX(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ src, want string }{
		"used before a text":         {`@string{j = "Journal"} @article{k, journal = j # { of Things}}`, "Journal of Things"},
		"between texts":              {`@string{x = {B}} @article{k, journal = "A" # x # "C"}`, "ABC"},
		"made of another":            {`@string{a = {A}} @string{b = a # {B}} @article{k, journal = b}`, "AB"},
		"case does not count":        {`@STRING{Acm = {ACM}} @article{k, journal = aCM}`, "ACM"},
		"in round brackets":          {`@string(a = {A}) @article(k, journal = a)`, "A"},
		"the last definition counts": {`@string{a = {A}} @string{a = {B}} @article{k, journal = a}`, "B"},
		"unknown":                    {`@article{k, journal = nature}`, "nature"},
		"number":                     {`@article{k, journal = 1984}`, "1984"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := read(t, c.src).Vars["container-title"]; got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestTypesOfBibTeX(t *testing.T) {
	t.Parallel()

	for src, want := range map[string]string{
		"@article{k,":                            "article-journal",
		"@article{k, entrysubtype = {magazine},": "article-magazine",
		"@ARTICLE{k, entrysubtype=newspaper,":    "article-newspaper",
		"@book{k,":                               "book",
		"@incollection{k,":                       "chapter",
		"@inbook{k,":                             "chapter",
		"@inreference{k,":                        "entry-encyclopedia",
		"@conference{k,":                         "paper-conference",
		"@mastersthesis{k,":                      "thesis",
		"@techreport{k,":                         "report",
		"@unpublished{k,":                        "manuscript",
		"@online{k,":                             "webpage",
		"@booklet{k,":                            "pamphlet",
		"@software{k,":                           "software",
		"@artwork{k,":                            "graphic",
		"@movie{k,":                              "motion_picture",
		"@music{k,":                              "song",
		"@jurisdiction{k,":                       "legal_case",
		"@letter{k,":                             "personal_communication",
		"@misc{k,":                               "document",
		"@misc{k, url = {https://x.de},":         "webpage",
		"@misc{k, url = {https://x.de}, publisher = {P},": "document",
		"@nonsense{k,": "document",
	} {
		t.Run(src, func(t *testing.T) {
			t.Parallel()

			if got := read(t, src+"}").Type; got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

func TestFieldsOfBibTeX(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ src, variable, want string }{
		"subtitle":                    {"@book{k, title={Things}, subtitle={A Study}}", "title", "Things: A study"},
		"brackets keep capitals":      {"@book{k, title={The {DNA} of {Paris} Today}}", "title", `The <span class="nocase">DNA</span> of <span class="nocase">Paris</span> today`},
		"German titles keep capitals": {"@book{k, langid={german}, title={Die Verwandlung Des Hauses}}", "title", "Die Verwandlung Des Hauses"},
		"words with capitals within":  {"@book{k, title={Using LaTeX and iPhone Today}}", "title", "Using LaTeX and iPhone today"},
		"the word after a colon":      {"@book{k, title={One: Two Three}}", "title", "One: Two three"},
		"BibLaTeX's journal":          {"@article{k, journaltitle={J}}", "container-title", "J"},
		"book and its subtitle":       {"@incollection{k, booktitle={B}, booksubtitle={S}}", "container-title", "B: S"},
		"a journal's number":          {"@article{k, number=3}", "issue", "3"},
		"a book's number":             {"@book{k, number=3}", "collection-number", "3"},
		"a report's number":           {"@report{k, number=3}", "number", "3"},
		"pages":                       {"@article{k, pages={12--34}}", "page", "12-34"},
		"pages with an en dash":       {"@article{k, pages={12–34}}", "page", "12-34"},
		"DOI":                         {`@article{k, doi={10.1000/a\_b}}`, "DOI", "10.1000/a_b"},
		"a publisher's place":         {"@book{k, address={Bern}}", "publisher-place", "Bern"},
		"location before address":     {"@book{k, address={Bern}, location={Basel}}", "publisher-place", "Basel"},
		"school":                      {"@phdthesis{k, school={ETH}}", "publisher", "ETH"},
		"kind of thesis":              {"@phdthesis{k,}", "genre", "PhD thesis"},
		"kind of master's thesis":     {"@mastersthesis{k,}", "genre", "Master’s thesis"},
		"own kind of thesis":          {"@phdthesis{k, type={Habilitation}}", "genre", "Habilitation"},
		"an address in howpublished":  {`@misc{k, howpublished={\url{https://x.de/a}}}`, "URL", "https://x.de/a"},
		"arXiv":                       {"@misc{k, eprint={2101.00001}, archiveprefix={arXiv}}", "URL", "https://arxiv.org/abs/2101.00001"},
		"a field twice":               {"@book{k, publisher={A}, publisher={B}}", "publisher", "A"},
		"line ends are spaces":        {"@book{k, publisher={A\n   B}}", "publisher", "A B"},
		"quotation marks":             {`@book{k, publisher="A {"}B"}`, "publisher", `A "B`},
		"a comma after the last":      {"@book{k, publisher={A},}", "publisher", "A"},
		"field in capitals":           {"@book{k, PUBLISHER = {A}}", "publisher", "A"},
		"a comment between fields":    {"@book{k, % title\n publisher={A}}", "publisher", "A"},
		"a dash":                      {"@book{k, publisher={A--B---C}}", "publisher", "A–B—C"},
		"an escaped bracket":          {`@book{k, publisher={A \{ B}}`, "publisher", "A { B"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := read(t, c.src).Vars[c.variable]; got != c.want {
				t.Errorf("%s is %q, want %q", c.variable, got, c.want)
			}
		})
	}
}

func TestDatesOfBibTeX(t *testing.T) {
	t.Parallel()

	for fields, want := range map[string]cite.Date{
		"year=2001":                    {From: [3]int{2001}},
		"year=2001, month=feb":         {From: [3]int{2001, 2}},
		"year=2001, month={February}":  {From: [3]int{2001, 2}},
		"year=2001, month=2, day=3":    {From: [3]int{2001, 2, 3}},
		"year=2001, month={nonsense}":  {From: [3]int{2001}},
		"year=2001, day=3":             {From: [3]int{2001}},
		"year={in press}":              {Literal: "in press"},
		"date={2001-02-03}":            {From: [3]int{2001, 2, 3}},
		"date={2001-02}":               {From: [3]int{2001, 2}},
		"date={2001/2003}":             {From: [3]int{2001}, To: [3]int{2003}},
		"date={2001-02-03/2001-02-05}": {From: [3]int{2001, 2, 3}, To: [3]int{2001, 2, 5}},
		"date={2001/}":                 {From: [3]int{2001}},
		"date={1850~}":                 {From: [3]int{1850}, Circa: true},
		"date={1850?}":                 {From: [3]int{1850}, Circa: true},
		"date={-0044-03-15}":           {From: [3]int{-44, 3, 15}},
		"date={2001-02-03T10:11:12}":   {From: [3]int{2001, 2, 3}},
		"date={2001-13-40}":            {Literal: "2001-13-40"},
		"date={99999999999999999999}":  {Literal: "99999999999999999999"},
		"date={2001}, year=1999":       {From: [3]int{2001}},
		"year={2001--2003}":            {From: [3]int{2001}, To: [3]int{2003}},
	} {
		t.Run(fields, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(want, read(t, "@book{k, "+fields+"}").Dates["issued"]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAccentsOfTeX(t *testing.T) {
	t.Parallel()

	for tex, want := range map[string]string{
		`\'e`: "é", `\'{e}`: "é", `{\'e}`: "é", `{\'{e}}`: "é", `\' e`: "é", "\\`a": "à", `\^o`: "ô", `\"u`: "ü", `\~n`: "ñ", `\=a`: "ā", `\.z`: "ż",
		`\v{c}`: "č", `\v c`: "č", `\u{g}`: "ğ", `\H{o}`: "ő", `\c{c}`: "ç", `\k{a}`: "ą", `\r{a}`: "å", `\d{s}`: "ṣ", `\b{d}`: "ḏ",
		`\'\i`: "í", `\"{\i}`: "ï", `\'{\i}`: "í", `{\ss}`: "ß", `\ss`: "ß", `{\ae}`: "æ", `{\AE}`: "Æ", `{\oe}`: "œ", `{\o}`: "ø", `{\L}`: "Ł", `{\aa}`: "å",
		`{\dh}`: "ð", `{\th}`: "þ", `{\dj}`: "đ", `Ma{\~n}ana`: "Mañana", `na\"{\i}ve`: "naïve", `Stra{\ss}e`: "Straße", `\O re`: "Øre",
		`a~b`: "a\u00a0b", `\&`: "&", `100\%`: "100%", `\#1`: "#1", `a\_b`: "a_b", `\S 3`: "§3", `\ldots`: "…", `\copyright`: "©", `\textregistered`: "®",
		`H$_2$O`: "H<sub>2</sub>O", `x$^{10}$`: "x<sup>10</sup>", `$\beta$-carotene`: "β-carotene", `5 $ a`: "5 $ a",
		`\emph{x}`: "<i>x</i>", `\textbf{x}`: "<b>x</b>", `\textsuperscript{2}`: "<sup>2</sup>", `\textsubscript{2}`: "<sub>2</sub>", `\enquote{x}`: "“x”",
		`\textsc{x}`: `<span style="font-variant:small-caps">x</span>`, `{\it x} y`: "<i>x</i> y", `{\bf x} y`: "<b>x</b> y", `\mbox{x}`: "x", `\url{a}`: "a",
		"``x''": "“x”", "`x'": "‘x’", `a\-b`: "ab", `a\/b`: "ab", `\'{}`: "", `\'{abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz}`: "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
	} {
		t.Run(tex, func(t *testing.T) {
			t.Parallel()

			if got := read(t, "@book{k, publisher = {"+tex+"}}").Vars["publisher"]; got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

func TestWorksInheritFromTheirBook(t *testing.T) {
	t.Parallel()

	item := read(t, `@inproceedings{k, title={Paper}, author={A Bee}, crossref={P}, year=2002}
		@proceedings{p, title={Proceedings}, subtitle={Volume}, author={No One}, editor={C Dee}, year=2001, publisher={Pub}}`)
	for variable, want := range map[string]string{"title": "Paper", "container-title": "Proceedings: Volume", "publisher": "Pub"} {
		if got := item.Vars[variable]; got != want {
			t.Errorf("%s is %q, want %q", variable, got, want)
		}
	}

	if got := item.Names["author"]; len(got) != 1 || got[0].Family != "Bee" {
		t.Errorf("the author is %v", got)
	}

	if got := item.Names["editor"]; len(got) != 1 || got[0].Family != "Dee" {
		t.Errorf("the editor is %v", got)
	}

	if got := item.Dates["issued"].From[0]; got != 2002 {
		t.Errorf("the year is %d, want its own", got)
	}
}

func TestFilesThatAreBroken(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		src      string
		keys     string // of the works that are read
		line     int    // of the first problem
		problem  string
		rejected string // the error
	}{
		"empty":                        {src: " \n"},
		"a byte order mark":            {src: "\ufeff@book{a,}", keys: "a"},
		"an address with an @":         {src: "mail me@example.org @book{a,}", keys: "a"},
		"comment with an entry":        {src: "@comment{@book{b,}} @book{a,}", keys: "a"},
		"preamble":                     {src: `@preamble{"\newcommand{\x}{y}"} @book{a,}`, keys: "a"},
		"no value":                     {src: "@book{a, title = }\n@book{b,}", keys: "b", line: 1, problem: "it has no value"},
		"no equals sign":               {src: "@book{a, title {x}}\n@book{b,}", keys: "b", line: 1, problem: "a field without a value"},
		"an abbreviation of nothing":   {src: "\n\n@string{x}\n@book{b,}", keys: "b", line: 3, problem: `@string "x" has no value`},
		"no key":                       {src: "@book{title = {x}}\n@book{b,}", keys: "b", line: 1, problem: "has no key"},
		"a bracket that is not closed": {src: "@book{a, title = {x\n\n@book{b,}", keys: "b", line: 1, problem: "a bracket { is not closed"},
		"a quote that is not closed":   {src: "@book{a, title = \"x\n\n@book{b,}", keys: "b", line: 1, problem: "a quotation mark is not closed"},
		"the file ends":                {src: "@book{b,}\n@book{a, title =", keys: "b", line: 2, problem: "the file ends within it"},
		"a long key is cut off":        {src: "@book{" + strings.Repeat("a", 300) + ",}\n@book{b,}", keys: "b", line: 1, problem: "has no key"},
		"two of one key":               {src: "@book{a, title={First}}\n@book{a, title={Second}}", keys: "a"},
		"text":                         {src: "nothing of use", rejected: "neither CSL-JSON nor BibTeX"},
		"JSON of another kind":         {src: `{"a": 1}`},
		"JSON that is broken":          {src: `[{"id": `, rejected: "it is not CSL-JSON"},
		"JSON object that is broken":   {src: `{"items": `, rejected: "neither CSL-JSON nor BibTeX"},
		"JSON without a key":           {src: `[{"title": "x"}, {"id": "b"}]`, keys: "b", problem: "work 1 has no id"},
		"JSON of Zotero":               {src: `{"items": [{"id": "a"}]}`, keys: "a"},
		"too large":                    {src: strings.Repeat(" ", 9<<20), rejected: "it has 9 MB; at most 8 are allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b, err := cite.Read([]byte(c.src), "en")
			if c.rejected != "" {
				if err == nil || !strings.Contains(err.Error(), c.rejected) {
					t.Errorf("%v, want %q", err, c.rejected)
				}

				return
			}

			if err != nil {
				t.Fatal(err)
			}

			if len(b.Items) != len(strings.Fields(c.keys)) || c.keys != "" && b.Items[c.keys] == nil {
				t.Errorf("works %v, want %q", b.Items, c.keys)
			}

			first := cite.Problem{}
			if len(b.Problems) > 0 {
				first = b.Problems[0]
			}

			if first.Line != c.line || (c.problem == "") != (first.Text == "") ||
				!strings.Contains(first.Text, c.problem) {
				t.Errorf("problems %v, want %q in line %d", b.Problems, c.problem, c.line)
			}
		})
	}
}

func TestFieldsAndEntriesAreBounded(t *testing.T) {
	t.Parallel()

	var fields strings.Builder
	for i := range 300 {
		fmt.Fprintf(&fields, "x%d={y}, ", i)
	}

	item := read(
		t,
		"@book{k, "+fields.String()+"publisher={late}, title={"+strings.Repeat(
			"{",
			60,
		)+"deep"+strings.Repeat(
			"}",
			60,
		)+"}}",
	)
	if got := item.Vars["publisher"]; got != "" {
		t.Errorf("field 301 is read: %q", got)
	}

	item = read(t, "@book{k, publisher={"+strings.Repeat("x", 17<<10)+"}, note={short}}")
	if got := item.Vars["publisher"]; got != "" {
		t.Errorf("a field of %d bytes is read", len(got))
	}

	if got := item.Vars["note"]; got != "short" {
		t.Errorf("the note is %q", got)
	}
}
