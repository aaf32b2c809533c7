package label_test

import (
	"strings"
	"testing"

	"presswork/internal/markdown/label"
)

func TestEveryLanguageHasItsOwnWords(t *testing.T) {
	t.Parallel()
	english := label.WordsOf("en").Lists[label.Figure]

	const languages = "ar bg ca cs da de el es et fa fi fr he hi hr hu id it ja ko lt lv " +
		"nb nl nn no pl pt ro ru sk sl sr sv th tr uk ur vi zh zh-TW"
	for lang := range strings.FieldsSeq(languages) {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()

			if title := label.WordsOf(lang).Lists[label.Figure]; title == "" || title == english {
				t.Errorf("got the title %q", title)
			}
		})
	}

	if got := label.WordsOf("tlh").Lists[label.Figure]; got != english {
		t.Errorf("an unknown language has %q, want the English %q", got, english)
	}
}

func TestLabelsAreFoundAndNamed(t *testing.T) {
	t.Parallel()
	set := label.Set{
		"fig:a": {Kind: label.Figure, Number: "2"},
		"eq:b":  {Kind: label.Equation, Number: "1.1"},
		"sec:c": {Kind: label.Section, Title: "A section"},
	}

	for key, want := range map[string]string{"fig:a": "2", "Fig:a": "2", "eq:b": "(1.1)", "sec:c": "A section"} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()

			found := set.Find(key)
			if found == nil || found.Name() != want {
				t.Errorf("got %+v, want the name %q", found, want)
			}
		})
	}

	if found := set.Find("fig:z"); found != nil {
		t.Errorf("a missing key gives %+v", found)
	}
}

func TestCountersStartAgainInAChapter(t *testing.T) {
	t.Parallel()
	c := label.NewCounters(true, map[label.Kind]int{label.Table: 3})

	got := []string{c.Next(label.Table)}
	c.BeginChapter("2")
	got = append(got, c.Next(label.Table), c.Next(label.Table), c.Next(label.Figure))
	c.BeginChapter("2")
	got = append(got, c.Next(label.Figure))

	if joined := strings.Join(got, " "); joined != "4 2.1 2.2 2.1 2.2" {
		t.Errorf("got the numbers %s", joined)
	}
}
