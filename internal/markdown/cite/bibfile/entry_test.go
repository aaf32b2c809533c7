package bibfile_test

import (
	"fmt"
	"strings"
	"testing"

	"presswork/internal/markdown/cite/bibfile"
)

func TestCrossrefInheritsFields(t *testing.T) {
	t.Parallel()

	item := read(t, `@inproceedings{k, title={Paper}, author={A Bee}, crossref={P}, year=2002}
		@proceedings{p, title={Proceedings}, subtitle={Volume}, author={No One}, editor={C Dee}, year=2001, publisher={Pub}}`)
	for variable, want := range map[string]string{
		"title": "Paper", "container-title": "Proceedings: Volume", "publisher": "Pub",
	} {
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

// A parent may have both: some authors add a booktitle for its children.
func TestCrossrefPrefersBooktitle(t *testing.T) {
	t.Parallel()

	for range 50 { // the order of a map is random
		item := read(t, `@inproceedings{k, title={Paper}, crossref={p}}
			@proceedings{p, title={The Title}, booktitle={The Booktitle}}`)
		if got := item.Vars["container-title"]; got != "The Booktitle" {
			t.Fatalf("the container is %q, want the booktitle", got)
		}
	}
}

func TestBrokenFiles(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		src      string
		keys     string // of the works that are read
		line     int    // of the first problem
		problem  string
		rejected string // the error
	}{
		"empty":                  {src: " \n"},
		"a byte order mark":      {src: "\ufeff@book{a,}", keys: "a"},
		"an address with an @":   {src: "mail me@example.org @book{a,}", keys: "a"},
		"comment with an entry":  {src: "@comment{@book{b,}} @book{a,}", keys: "a"},
		"comment in parentheses": {src: "@comment(as BibTeX allows)\n@book{a, title={x}}", keys: "a"},
		"preamble":               {src: `@preamble{"\newcommand{\x}{y}"} @book{a,}`, keys: "a"},
		"no value":               {src: "@book{a, title = }\n@book{b,}", keys: "b", line: 1, problem: "it has no value"},
		"no equals sign": {
			src:     "@book{a, title {x}}\n@book{b,}",
			keys:    "b",
			line:    1,
			problem: "a field without a value",
		},
		"abbreviation without a value": {
			src:     "\n\n@string{x}\n@book{b,}",
			keys:    "b",
			line:    3,
			problem: `@string "x" has no value`,
		},
		"no key": {src: "@book{title = {x}}\n@book{b,}", keys: "b", line: 1, problem: "has no key"},
		"unclosed brace": {
			src:     "@book{a, title = {x\n\n@book{b,}",
			keys:    "b",
			line:    1,
			problem: "a bracket { is not closed",
		},
		"unclosed quotation mark": {
			src:     "@book{a, title = \"x\n\n@book{b,}",
			keys:    "b",
			line:    1,
			problem: "a quotation mark is not closed",
		},
		"the file ends": {
			src:     "@book{b,}\n@book{a, title =",
			keys:    "b",
			line:    2,
			problem: "the file ends within it",
		},
		"a long key is cut off": {
			src:     "@book{" + strings.Repeat("a", 300) + ",}\n@book{b,}",
			keys:    "b",
			line:    1,
			problem: "has no key",
		},
		"two of one key":       {src: "@book{a, title={First}}\n@book{a, title={Second}}", keys: "a"},
		"text":                 {src: "nothing of use", rejected: "neither CSL-JSON nor BibTeX"},
		"JSON of another kind": {src: `{"a": 1}`},
		"broken JSON":          {src: `[{"id": `, rejected: "it is not CSL-JSON"},
		"broken JSON object":   {src: `{"items": `, rejected: "neither CSL-JSON nor BibTeX"},
		"JSON without a key":   {src: `[{"title": "x"}, {"id": "b"}]`, keys: "b", problem: "work 1 has no id"},
		"JSON of Zotero":       {src: `{"items": [{"id": "a"}]}`, keys: "a"},
		"too large":            {src: strings.Repeat(" ", 9<<20), rejected: "it has 9 MB; at most 8 are allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b, err := bibfile.Read([]byte(c.src), "en")
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

			first := bibfile.Problem{}
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
		"@book{k, "+fields.String()+"publisher={late}, title={"+strings.Repeat("{", 60)+"deep"+strings.Repeat("}", 60)+
			"}}",
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
