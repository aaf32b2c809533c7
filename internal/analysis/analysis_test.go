package analysis_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"presswork/internal/analysis"
	"presswork/internal/analysis/finding"
	"presswork/internal/test/golden"
)

// TestDocuments compares the analysis of the documents in testdata with a golden file.
func TestDocuments(t *testing.T) {
	t.Parallel()

	files, err := filepath.Glob("testdata/documents/*.md")
	if err != nil || len(files) == 0 {
		t.Fatal("no documents", err)
	}
	var out bytes.Buffer

	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		a := analysis.Analyze(b)
		fmt.Fprintf(&out, "%s: %s, %s, %d min\n", filepath.Base(file), a.DocumentType, a.Language, a.ReadingMinutes)

		for _, k := range a.Keywords {
			fmt.Fprintf(&out, "    %.2f %s\n", k.Score, k.Term)
		}
	}
	golden.Check(t, "documents.golden", out.Bytes())
}

// TestWeightsFitTheSamples fails if the features or the lexicon have changed without `make train`.
func TestWeightsFitTheSamples(t *testing.T) {
	t.Parallel()

	files, err := filepath.Glob("../../tools/train/samples/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no samples", err)
	}
	right, all := 0, 0

	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		kind := strings.TrimSuffix(filepath.Base(file), ".txt")

		for _, text := range strings.Split("\n"+string(b), "\n-- ")[1:] {
			_, text, _ = strings.Cut(text, " --\n")
			all++

			if got := analysis.Analyze([]byte(text)).DocumentType; got == kind {
				right++
			} else {
				t.Logf("type %s, want %s: %.40q", got, kind, text)
			}
		}
	}

	if right*100 < all*95 {
		t.Errorf("the type of %d of %d samples is right, want 95 %%: run `make train`", right, all)
	}
}

func TestTextsWithoutProseHaveNoType(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ text, kind, language string }{
		"empty":        {"", "other", "und"},
		"blank":        {" \n\t\n ", "other", "und"},
		"one word":     {"Hello", "other", "und"},
		"only code":    {"```go\nfunc main() {}\n```\n", "other", "und"},
		"only a table": {"| a | b |\n|---|---|\n| 1 | 2 |\n", "other", "und"},
		"binary":       {strings.Repeat("the library was not found and it is on the list\x00\x01\x02", 50), "other", "und"},
		"only emoji":   {"🎉🎉🎉 😀 👩‍👩‍👧", "other", "und"},
		"only markup":  {"# \n\n**\n\n[]()\n\n![](x)\n---\n", "other", "und"},
		"not UTF-8":    {"caf\xe9 cr\xe8me, s'il vous pla\xeet", "other", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			a := analysis.Analyze([]byte(c.text))
			if a.DocumentType != c.kind || c.language != "" && a.Language != c.language {
				t.Errorf("type %s, language %s; want %s, %s", a.DocumentType, a.Language, c.kind, c.language)
			}

			if a.EmotionalTone == "" || a.Keywords == nil {
				t.Errorf("got %+v, want a tone and a list of keywords", a)
			}

			if a.Sentiment != (finding.Leaning{}) || a.Formality != (finding.Leaning{}) {
				t.Errorf("got %+v, want no sentiment or formality for an unknown language", a)
			}

			empty := strings.TrimSpace(c.text) == ""
			if empty != (a.ReadingMinutes == 0) && name != "binary" && name != "not UTF-8" {
				t.Errorf("reading takes %d minutes", a.ReadingMinutes)
			}
		})
	}
}

func TestLongDocumentsAreSampled(t *testing.T) {
	t.Parallel()

	sample, err := os.ReadFile("testdata/documents/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(sample)[4:], "---\n")

	short, long := analysis.Examine([]byte(body)), analysis.Examine([]byte(strings.Repeat(body, 600)))
	if long.DocumentType != short.DocumentType || long.Language != short.Language {
		t.Errorf(
			"type %s and language %s, repeated 600 times %s and %s",
			short.DocumentType,
			short.Language,
			long.DocumentType,
			long.Language,
		)
	}

	if want := 600 * short.Words; long.Words < want*9/10 || long.Words > want*11/10 {
		t.Errorf("estimated %d words, want about %d", long.Words, want)
	}
}

func TestAnalysisIsDeterministic(t *testing.T) {
	t.Parallel()

	sample, err := os.ReadFile("testdata/documents/guide.md")
	if err != nil {
		t.Fatal(err)
	}

	want := analysis.Examine(sample)
	for range 20 {
		if got := analysis.Examine(sample); !reflect.DeepEqual(got, want) {
			t.Fatalf("first %+v, then %+v", want, got)
		}
	}

	if first, second := analysis.Version(), analysis.Version(); first == "" || first != second {
		t.Errorf("Version() = %q, then %q; want the same text twice", first, second)
	}
}

func TestResumeInACodeBlockIsRecognized(t *testing.T) {
	t.Parallel()

	text := "```\nJANE DOE\njane@example.org   (555) 010-0199\n\nEXPERIENCE\n\n2019 - present  Welder, Dock 4\nKept three lines running and trained new staff.\n\nEDUCATION\n\nTrade school, 2018\n\nSKILLS\n\nTIG, MIG, reading drawings\n\nReferences available upon request\n```\n"
	if a := analysis.Analyze([]byte(text)); a.DocumentType != "resume" {
		t.Errorf("type %s, want resume", a.DocumentType)
	}
}

func TestFrontMatterAloneDeterminesTheType(t *testing.T) {
	t.Parallel()

	text := "---\ninvoice-nr: 23\ncurrency: EUR\nVAT: 20\nto:\n- Some Person\nservice:\n- description: work\n  price: 320.00\n---\n"
	if a := analysis.Analyze([]byte(text)); a.DocumentType != "invoice" {
		t.Errorf("type %s, want invoice", a.DocumentType)
	}
}

func TestTypesAreSortedByProbability(t *testing.T) {
	t.Parallel()
	f := analysis.Examine([]byte("# Shopping\n\n- milk\n- eggs\n"))

	sum := 0.0
	for i, p := range f.Types {
		sum += p.Probability
		if !slices.Contains(analysis.DocumentTypes(), p.Type) || i > 0 && p.Probability > f.Types[i-1].Probability {
			t.Errorf("type %d is %+v, want a known type that is not more probable than the one before", i, p)
		}
	}

	if len(f.Types) != len(analysis.DocumentTypes()) || sum < 0.999 || sum > 1.001 {
		t.Errorf("%d types with a sum of %f, want %d with 1", len(f.Types), sum, len(analysis.DocumentTypes()))
	}
}

func FuzzAnalyze(f *testing.F) {
	for _, seed := range []string{"", "# A\n\nb", "---\na: b\n---\n", "```\nx", "| a |\n|---|\n", "[a](b) ![c](d) <e> `f` **g** $h$ {#i}", "1. a\n   - [x] b\n> c\n", "\xff\x00", "a\n===\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got := analysis.Analyze(text)
		if !slices.Contains(analysis.DocumentTypes(), got.DocumentType) ||
			!slices.Contains(analysis.Tones(), got.EmotionalTone) {
			t.Errorf("type %q and tone %q, want known ones", got.DocumentType, got.EmotionalTone)
		}

		if got.TypeConfidence < 0 || got.TypeConfidence > 1 || got.Sentiment.Score < -1 ||
			got.Sentiment.Score > 1 || got.Formality.Score < 0 || got.Formality.Score > 1 ||
			got.ReadingMinutes < 0 || len(got.Keywords) > 10 {
			t.Errorf("out of range: %+v", got)
		}
	})
}
