package plaintext

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitSentences(t *testing.T) {
	t.Parallel()

	for _, want := range []string{
		"Dr. Smith arrived at 3.14 p.m. in Paris.|He left.",
		"J. R. R. Tolkien wrote it.|It sold well.",
		"See e.g. Fig. 3 and Sec. 2.|Then stop.",
		"Visit https://example.com/a.b?c=d.|It is free.",
		"Well... maybe not.|Wait!|What?!|\"Stop!\" he said.|\"Go.\"|He went.",
		"We sell pens, paper, etc.|Orders go to Acme Inc. in Rome.",
		"i love it.|it works.|go.",
		"今日は晴れです。|明日は雨でしょう！|本当？",
		"This is it.|1. First point.|2. Second point.",
		"No full stop",
		"It was me and I.|Am I right?",
	} {
		t.Run(want, func(t *testing.T) {
			sentences := strings.Split(want, "|")

			separator := " "
			// Chinese and Japanese have no space between sentences.
			if strings.Contains(want, "今") {
				separator = ""
			}

			if diff := cmp.Diff(sentences, Sentences(strings.Join(sentences, separator))); diff != "" {
				t.Errorf("sentences (-want +got):\n%s", diff)
			}
		})
	}

	diff := cmp.Diff(
		[]string{"A title", "a line\nthat goes on."},
		Sentences("A title\n \n\na line\nthat goes on.\n\n"),
	)
	if diff != "" {
		t.Errorf("sentences (-want +got):\n%s", diff)
	}

	if got := Sentences(strings.Repeat("x", 7500)); len(got) != 5 {
		t.Errorf("a word of 7500 bytes makes %d sentences, want 5", len(got))
	}
}
