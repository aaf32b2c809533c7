package analysis

import (
	"strings"
	"testing"

	"presswork/internal/analysis/lang"
)

func TestMinutes(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		text string
		want int
	}{
		"nothing":      {"", 0},
		"a word":       {"word", 1},
		"220 words":    {strings.Repeat("word ", 220), 1},
		"221 words":    {strings.Repeat("word ", 221), 2},
		"Chinese":      {strings.Repeat("文字", 400), 2},
		"code":         {"```\n" + strings.Repeat("x := 1\n", 98) + "```\n", 4},
		"front matter": {"---\ntitle: " + strings.Repeat("word ", 500) + "\n---\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := read([]byte(c.text)).minutes(); got != c.want {
				t.Errorf("%s: %d minutes, want %d", name, got, c.want)
			}
		})
	}
}

func TestCitationsAreCountedAndRemoved(t *testing.T) {
	t.Parallel()

	r := read([]byte("cited [@one; @two] and [3] and -- [@four], not [more] or [1984]{{ page.x }}{% y %}"))

	got, want := r.passages[0].text, "cited  and  and -- , not [more] or [1984]"
	if got != want || r.ev.citations != 4 {
		t.Errorf("text %q with %d citations, want %q with 4", got, r.ev.citations, want)
	}
}

func TestCaptions(t *testing.T) {
	t.Parallel()

	const text = "**Bill to:** Ada\n\nEXPERIENCE\nat sea\n\n**From** home\nto work\n\nAlone\n\nA sentence that is one.\n\ntwo words\nof a paragraph\n"

	r := read([]byte(text))
	if got, want := strings.Join(r.captions, "|"), "Bill to|EXPERIENCE|From home|Alone"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestProseInACodeBlockIsRead(t *testing.T) {
	t.Parallel()

	prose := strings.Repeat("It was a long way from the house to the sea and nobody spoke on it. ", 12)
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"a fence":         {"# Letter\n\n```\n" + prose + "\n```\n", true},
		"indented":        {strings.Repeat("    "+prose+"\n", 4), true},
		"a fence of Go":   {"```go\n" + prose + "\n```\n", false},
		"beside code":     {"```go\nx\n```\n\n```\n" + prose + "\n```\n", false},
		"code in a fence": {"```\n" + strings.Repeat("if (a[0] == b{c}) { return <d>; } ", 30) + "\n```\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := read([]byte(c.text)).proseWords() > 60; got != c.want {
				t.Errorf("%s: read as prose: %v, want %v", name, got, c.want)
			}
		})
	}
}

func TestHeadingsThatAreMostlyCode(t *testing.T) {
	t.Parallel()

	r := read([]byte("# `fetch(url)`\n\n## Using the `x` of it\n\n## open(path)\n\n## `--verbose`, -v\n"))
	for i, want := range []bool{true, false, true, true} {
		if r.headings[i].code != want {
			t.Errorf("%q: code is %v, want %v", r.headings[i].text, r.headings[i].code, want)
		}
	}
}

func TestCodeDoesNotDetermineTheLanguage(t *testing.T) {
	t.Parallel()

	text := "# Einrichten\n\nBitte öffnen Sie zuerst die Konfiguration und tragen Sie den Namen des Servers ein, dann starten Sie das Programm neu.\n\n```sh\n# this is the comment of a script that says the server must be started before the client\nserver start\n```\n"
	if got := lang.Detect(read([]byte(text)).proseTokens()); got != "de" {
		t.Errorf("got %s, want de", got)
	}
}
