package bibfile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/markdown/cite/bibfile"
)

func TestBibTeXNames(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		author string
		want   []bibfile.Name
	}{
		"given family":        {"Jane Doe", []bibfile.Name{{Given: "Jane", Family: "Doe"}}},
		"family, given":       {"Doe, Jane", []bibfile.Name{{Given: "Jane", Family: "Doe"}}},
		"family of two words": {"García Márquez, Gabriel", []bibfile.Name{{Given: "Gabriel", Family: "García Márquez"}}},
		"two given names":     {"Donald Ervin Knuth", []bibfile.Name{{Given: "Donald Ervin", Family: "Knuth"}}},
		"particle": {
			"Ludwig van Beethoven",
			[]bibfile.Name{{Given: "Ludwig", NonDropping: "van", Family: "Beethoven"}},
		},
		"particle before the comma": {
			"van der Berg, Anna",
			[]bibfile.Name{{Given: "Anna", NonDropping: "van der", Family: "Berg"}},
		},
		"suffix":      {"King, Jr., Martin Luther", []bibfile.Name{{Given: "Martin Luther", Family: "King", Suffix: "Jr."}}},
		"institution": {"{Barnes and Noble}", []bibfile.Name{{Literal: "Barnes and Noble"}}},
		"one word":    {"Plato", []bibfile.Name{{Family: "Plato"}}},
		"two people":  {"A Bee and C Dee", []bibfile.Name{{Given: "A", Family: "Bee"}, {Given: "C", Family: "Dee"}}},
		"and on the next line": {
			"A Bee\n    and C Dee",
			[]bibfile.Name{{Given: "A", Family: "Bee"}, {Given: "C", Family: "Dee"}},
		},
		"AND in capitals":   {"A Bee AND C Dee", []bibfile.Name{{Given: "A", Family: "Bee"}, {Given: "C", Family: "Dee"}}},
		"and within a word": {"Andy Sand", []bibfile.Name{{Given: "Andy", Family: "Sand"}}},
		"and in brackets": {
			"{Smith and Sons} and A Bee",
			[]bibfile.Name{{Literal: "Smith and Sons"}, {Given: "A", Family: "Bee"}},
		},
		"others": {"A Bee and others", []bibfile.Name{{Given: "A", Family: "Bee"}}},
		"two ands in a row": {
			"A Bee and and C Dee",
			[]bibfile.Name{{Given: "A", Family: "Bee"}, {Given: "C", Family: "Dee"}},
		},
		"accents":                 {`Erd{\H{o}}s, P{\'a}l`, []bibfile.Name{{Given: "Pál", Family: "Erdős"}}},
		"accent without brackets": {`G\"odel, Kurt`, []bibfile.Name{{Given: "Kurt", Family: "Gödel"}}},
		"comma within brackets":   {"{Doe, Inc.}", []bibfile.Name{{Literal: "Doe, Inc."}}},
		"bracket around family":   {"{de la Cruz}, Ana", []bibfile.Name{{Given: "Ana", Family: "de la Cruz"}}},
		"hyphen":                  {"Jean-Paul Sartre", []bibfile.Name{{Given: "Jean-Paul", Family: "Sartre"}}},
		"other script":            {"毛, 泽东", []bibfile.Name{{Given: "泽东", Family: "毛"}}},
		"only a comma":            {",", []bibfile.Name{{Literal: ","}}},
		"nested braces":           {"{{Doe}}, {J}", []bibfile.Name{{Given: "J", Family: "Doe"}}},
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

func TestBibTeXAbbreviations(t *testing.T) {
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

func TestBibTeXTypes(t *testing.T) {
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

func TestBibTeXFields(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ src, variable, want string }{
		"subtitle": {"@book{k, title={Things}, subtitle={A Study}}", "title", "Things: A study"},
		"brackets keep capitals": {
			"@book{k, title={The {DNA} of {Paris} Today}}",
			"title",
			`The <span class="nocase">DNA</span> of <span class="nocase">Paris</span> today`,
		},
		"German titles keep capitals": {
			"@book{k, langid={german}, title={Die Verwandlung Des Hauses}}",
			"title",
			"Die Verwandlung Des Hauses",
		},
		"words with capitals within": {
			"@book{k, title={Using LaTeX and iPhone Today}}",
			"title",
			"Using LaTeX and iPhone today",
		},
		"the word after a colon":     {"@book{k, title={One: Two Three}}", "title", "One: Two three"},
		"BibLaTeX's journal":         {"@article{k, journaltitle={J}}", "container-title", "J"},
		"book and its subtitle":      {"@incollection{k, booktitle={B}, booksubtitle={S}}", "container-title", "B: S"},
		"a journal's number":         {"@article{k, number=3}", "issue", "3"},
		"a book's number":            {"@book{k, number=3}", "collection-number", "3"},
		"a report's number":          {"@report{k, number=3}", "number", "3"},
		"pages":                      {"@article{k, pages={12--34}}", "page", "12-34"},
		"pages with an en dash":      {"@article{k, pages={12–34}}", "page", "12-34"},
		"DOI":                        {`@article{k, doi={10.1000/a\_b}}`, "DOI", "10.1000/a_b"},
		"a publisher's place":        {"@book{k, address={Bern}}", "publisher-place", "Bern"},
		"location before address":    {"@book{k, address={Bern}, location={Basel}}", "publisher-place", "Basel"},
		"school":                     {"@phdthesis{k, school={ETH}}", "publisher", "ETH"},
		"kind of thesis":             {"@phdthesis{k,}", "genre", "PhD thesis"},
		"kind of master's thesis":    {"@mastersthesis{k,}", "genre", "Master’s thesis"},
		"own kind of thesis":         {"@phdthesis{k, type={Habilitation}}", "genre", "Habilitation"},
		"an address in howpublished": {`@misc{k, howpublished={\url{https://x.de/a}}}`, "URL", "https://x.de/a"},
		"arXiv": {
			"@misc{k, eprint={2101.00001}, archiveprefix={arXiv}}",
			"URL",
			"https://arxiv.org/abs/2101.00001",
		},
		"a field twice":            {"@book{k, publisher={A}, publisher={B}}", "publisher", "A"},
		"line ends are spaces":     {"@book{k, publisher={A\n   B}}", "publisher", "A B"},
		"quotation marks":          {`@book{k, publisher="A {"}B"}`, "publisher", `A "B`},
		"a comma after the last":   {"@book{k, publisher={A},}", "publisher", "A"},
		"field in capitals":        {"@book{k, PUBLISHER = {A}}", "publisher", "A"},
		"a comment between fields": {"@book{k, % title\n publisher={A}}", "publisher", "A"},
		"a dash":                   {"@book{k, publisher={A--B---C}}", "publisher", "A–B—C"},
		"an escaped bracket":       {`@book{k, publisher={A \{ B}}`, "publisher", "A { B"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := read(t, c.src).Vars[c.variable]; got != c.want {
				t.Errorf("%s is %q, want %q", c.variable, got, c.want)
			}
		})
	}
}

func TestBibTeXDates(t *testing.T) {
	t.Parallel()

	for fields, want := range map[string]bibfile.Date{
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

// read returns the work "k" of a BibTeX file.
func read(t *testing.T, src string) *bibfile.Item {
	t.Helper()

	b, err := bibfile.Read([]byte(src), "en-US")
	if err != nil || len(b.Problems) > 0 {
		t.Fatalf("%v %v", err, b.Problems)
	}

	if b.Items["k"] == nil {
		t.Fatalf("no work k among %v", b.Items)
	}

	return b.Items["k"]
}
