package cite_test

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"presswork/internal/markdown/cite"
	"presswork/internal/markdown/cite/bibfile"
)

// suiteFile is the archive that scripts/cslsuite.sh fetches. The Makefile pins it.
const suiteFile = "csl-suite-0.8.1.1.tar.gz"

// suitePasses lists the fixtures of the CSL project's test suite that pass.
const suitePasses = "testdata/suite-passes.txt"

// TestSuiteOfTheCSLProject runs every fixture of the CSL project's test suite and compares the
// fixtures that pass with testdata/suite-passes.txt. `make golden` accepts a new list.
func TestSuiteOfTheCSLProject(t *testing.T) {
	t.Parallel()

	fixtures := readSuite(t)
	if len(fixtures) < 800 {
		t.Fatalf("the suite has %d fixtures, want at least 800", len(fixtures))
	}

	list, err := os.ReadFile(suitePasses)
	if err != nil {
		t.Fatal(err)
	}

	expected := map[string]bool{}
	for name := range strings.FieldsSeq(string(list)) {
		expected[name] = true
	}

	updating := os.Getenv("PRESSWORK_UPDATE") == "1"
	library := cite.New()
	left := map[string]int{}
	var passes []string

	for _, name := range slices.Sorted(maps.Keys(fixtures)) {
		f := fixtures[name]
		if reason := f.unsupported(); reason != "" {
			left[reason]++
			continue
		}
		t.Run(name, func(t *testing.T) {
			got, err := f.run(t, library)
			want := appearance(f.section("RESULT"))

			pass := err == nil && got == want
			if pass {
				passes = append(passes, name)
			}

			switch {
			case updating:
			case pass && !expected[name]:
				t.Errorf("it passes now: run `make golden` to add it to %s", suitePasses)
			case !pass && expected[name]:
				t.Errorf("it passed before:\n got %s\nwant %s\n%v", got, want, err)
			case !pass:
				t.Logf("known to differ:\n got %s\nwant %s\n%v", got, want, err)
			}
		})
		delete(expected, name)
	}

	t.Logf("%d of %d fixtures pass; not run: %v", len(passes), len(fixtures), left)

	if updating {
		if err := os.WriteFile(suitePasses, []byte(strings.Join(passes, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}

		return
	}

	for name := range expected {
		t.Errorf("%s names the fixture %s, which is not run", suitePasses, name)
	}
}

// fixture is a file of the suite: its sections by their names.
type fixture map[string]string

func (f fixture) section(name string) string { return f[name] }

// unsupported returns the reason why the package cannot run the fixture, "" if it can.
func (f fixture) unsupported() string {
	switch mode := f.section("MODE"); {
	case mode != "citation" && mode != "bibliography":
		return "mode " + mode
	case f.section("CITATIONS") != "":
		return "citations changed one by one, with numbers of notes"
	case f.section("BIBSECTION") != "" || f.section("BIBENTRIES") != "":
		return "bibliographies in sections"
	}

	return ""
}

// run returns the appearance of the output of the package for the fixture.
func (f fixture) run(t *testing.T, library *cite.Library) (string, error) {
	style, err := cite.ParseStyle([]byte(f.section("CSL")))
	if err != nil {
		return "", err
	}

	input, err := f.input()
	if err != nil {
		return "", err
	}

	works, err := bibfile.Read(input, "en-US")
	if err != nil {
		return "", err
	}
	job := cite.Job{Items: works.Items}

	job.Citations, job.Uncited, err = f.citations(input)
	if err != nil {
		return "", err
	}

	result, err := style.Process(t.Context(), library, job)
	if err != nil {
		return "", err
	}

	if f.section("MODE") == "citation" {
		return appearance(strings.Join(result.Citations, "\n")), nil
	}
	var b strings.Builder
	b.WriteString(`<div class="csl-bib-body">`)

	for _, e := range result.Entries {
		b.WriteString(`<div class="csl-entry">`)

		if e.Label != "" {
			b.WriteString(
				`<div class="csl-left-margin">` + e.Label + `</div><div class="csl-right-inline">` + e.HTML + `</div>`,
			)
		} else {
			b.WriteString(e.HTML)
		}
		b.WriteString("</div>")
	}

	return appearance(b.String() + "</div>"), nil
}

// input returns the works of the fixture. Works without an id get one.
func (f fixture) input() ([]byte, error) {
	var works []map[string]any
	if err := json.Unmarshal([]byte(f.section("INPUT")), &works); err != nil {
		return nil, err
	}

	for i, work := range works {
		if work["id"] == nil {
			work["id"] = fmt.Sprint("work-", i)
		}
	}

	return json.Marshal(works)
}

// citations returns the citations of the fixture, and the keys that are only in its bibliography.
func (f fixture) citations(input []byte) (list []cite.Citation, uncited []string, err error) {
	var items []struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal(input, &items); err != nil {
		return nil, nil, err
	}
	var all cite.Citation

	for _, item := range items {
		key := keyOf(item.ID)
		uncited = append(uncited, key)
		all.Cites = append(all.Cites, cite.Cite{Key: key})
	}

	given := f.section("CITATION-ITEMS")
	switch {
	case given == "" && f.section("MODE") == "bibliography":
		return nil, uncited, nil
	case given == "":
		return []cite.Citation{all}, nil, nil
	}

	var cites [][]struct {
		ID       json.RawMessage `json:"id"`
		Locator  json.RawMessage `json:"locator"`
		Label    string          `json:"label"`
		Prefix   string          `json:"prefix"`
		Suffix   string          `json:"suffix"`
		Suppress any             `json:"suppress-author"`
	}
	if err := json.Unmarshal([]byte(given), &cites); err != nil {
		return nil, nil, err
	}

	for _, one := range cites {
		var c cite.Citation
		for _, x := range one {
			c.Cites = append(c.Cites, cite.Cite{
				Key: keyOf(x.ID), Locator: keyOf(x.Locator), Label: x.Label, Prefix: x.Prefix, Suffix: x.Suffix,
				SuppressAuthor: x.Suppress == true || x.Suppress == 1.0,
			})
		}
		list = append(list, c)
	}

	return list, uncited, nil
}

// keyOf returns a JSON string or number as text.
func keyOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}

	return string(raw)
}

var (
	tag     = regexp.MustCompile(`<(/?)([a-z]+)([^>]*)>`)
	around  = regexp.MustCompile(`\s*(⟨/?div[^⟩]*⟩)\s*`)
	markers = strings.NewReplacer("&#38;", "&", "&amp;", "&", "&#60;", "‹", "&lt;", "‹", "&#62;", "›", "&gt;", "›",
		"&#34;", `"`, "&quot;", `"`, "&#39;", "'", "&#39", "'")
)

// appearance returns HTML as text with marks for each change of the font and each block. Two texts that look
// alike are equal, whatever elements they use. It drops space at the edges of blocks.
func appearance(html string) string {
	var b strings.Builder
	now, shown := map[string]bool{}, ""
	var open []map[string]bool
	write := func(text string) {
		if text == "" {
			return
		}

		if look := strings.Join(slices.Sorted(maps.Keys(now)), "+"); look != shown && strings.TrimSpace(text) != "" {
			shown = look
			b.WriteString("⟨" + look + "⟩")
		}
		b.WriteString(markers.Replace(text))
	}

	at := 0
	for _, m := range tag.FindAllStringSubmatchIndex(html, -1) {
		write(html[at:m[0]])
		at = m[1]
		name, attributes := html[m[4]:m[5]], html[m[6]:m[7]]

		closing := m[3] > m[2]
		switch {
		case name == "a":
		case closing:
			if n := len(open); n > 0 {
				now, open = open[n-1], open[:n-1]
			}

			if name == "div" {
				b.WriteString("⟨/div⟩")
			}
		default:
			open = append(open, now)

			now = looks(now, name, attributes)
			if name == "div" {
				b.WriteString("⟨div" + attributes + "⟩")
			}
		}
	}
	write(html[at:])

	return strings.TrimSpace(around.ReplaceAllString(b.String(), "$1"))
}

// looks returns the font styles within an element.
func looks(outer map[string]bool, name, attributes string) map[string]bool {
	now := maps.Clone(outer)

	switch name {
	case "i", "em":
		now["i"] = true
	case "b", "strong":
		now["b"] = true
	case "u", "sup", "sub":
		now[name] = true
	}

	for sign, look := range map[string]string{"small-caps": "sc", "csl-caps": "sc", "underline": "u"} {
		if strings.Contains(attributes, sign) {
			now[look] = true
		}
	}

	for sign, look := range map[string]string{
		"font-style:normal": "i", "font-variant:normal": "sc", "font-weight:normal": "b", "text-decoration:none": "u",
	} {
		if strings.Contains(strings.ReplaceAll(attributes, " ", ""), sign) {
			delete(now, look)
		}
	}

	return now
}

var section = regexp.MustCompile(`(?s)>>=+ ?([A-Z-]+) ?=+>>\n(.*?)<<=+ ?[A-Z-]+ ?=+<<`)

// readSuite reads the fixtures of the suite by their names.
func readSuite(t *testing.T) map[string]fixture {
	t.Helper()

	file := os.Getenv("PRESSWORK_CSL_SUITE")
	if file == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		file = filepath.Join(cache, "presswork", "bin", suiteFile)
	}

	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) && os.Getenv("CI") == "" {
		t.Skipf("%s is not there: `make setup-test` fetches the CSL test suite on Debian", file)
	}

	if err != nil {
		t.Fatalf("%v (`make setup-test` fetches the CSL test suite)", err)
	}

	defer f.Close()

	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}

	fixtures := map[string]fixture{}

	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return fixtures
		}

		if err != nil {
			t.Fatal(err)
		}

		name, isText := strings.CutSuffix(path.Base(header.Name), ".txt")
		if !isText || !strings.HasSuffix(path.Dir(header.Name), "/test/csl") {
			continue
		}

		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}

		sections := fixture{}
		for _, m := range section.FindAllStringSubmatch(strings.ReplaceAll(string(text), "\r\n", "\n"), -1) {
			sections[m[1]] = cmp.Or(sections[m[1]], strings.TrimSpace(m[2]))
		}
		fixtures[name] = sections
	}
}
