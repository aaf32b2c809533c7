package input_test

import (
	"testing"

	"presswork/internal/input"
)

func TestNearest(t *testing.T) {
	t.Parallel()

	choices := []string{"nord", "night", "winter", "page_size", "page_ranges"}

	for word, want := range map[string]string{
		"nrod": "nord", "NORD": "nord", "pagesize": "page_size", "page-size": "page_size",
		"wintre": "winter", "zzz": "", "": "", "something_else": "",
	} {
		t.Run(word, func(t *testing.T) {
			if got := input.Nearest(word, choices); got != want {
				t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
			}
		})
	}
}

func TestDidYouMeanPhrase(t *testing.T) {
	t.Parallel()

	if got, want := input.DidYouMean("nrod", []string{"nord"}), `; did you mean "nord"?`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}

	if got := input.DidYouMean("xyz", []string{"nord"}); got != "" {
		t.Errorf("got %q, want nothing", got)
	}
}

func TestTypoAllowsOneEdit(t *testing.T) {
	t.Parallel()

	choices := []string{"title", "theme", "toc", "scale", "margins"}

	for word, want := range map[string]string{"titel": "title", "THME": "theme", "margin": "margins", "top": "", "locale": "", "layout": "", "": ""} {
		t.Run(word, func(t *testing.T) {
			if got := input.Typo(word, choices); got != want {
				t.Errorf("Typo(%q) = %q, want %q", word, got, want)
			}
		})
	}
}
