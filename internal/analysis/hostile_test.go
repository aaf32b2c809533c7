package analysis

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"presswork/internal/analysis/plaintext"
	"presswork/internal/analysis/sentiment"
	"presswork/internal/test/cputime"
)

// superlinear reports whether the time of work grows faster than its text. It compares one text with eight texts of
// an eighth of the length. The long text may take three times as long, because it fits the caches less well. Work of
// less than half a second is never reported.
func superlinear(unit string, size int, work func(text string)) bool {
	timeOf := func(texts int) time.Duration {
		text := strings.Repeat(unit, size/texts/len(unit))

		return cputime.Of(func() {
			for range texts {
				work(text)
			}
		})
	}
	for range 3 {
		if long := timeOf(1); long < 500*time.Millisecond || long < 3*timeOf(8) {
			return false
		}
	}

	return true
}

// TestHostileText repeats the beginnings of constructs, for which a careless scanner takes quadratic time.
func TestHostileText(t *testing.T) {
	t.Parallel()

	for _, unit := range []string{"[", "[a](", "![", "**", "*a ", "_", "`", "``` ", "<a", "<!--", "$a", "$$", "{%", "&amp", "> ", "- ", "# ", "|a", "a\n", "\\", "a b: ", "1. ", "\n", "--- ", "a-", "not ", "“", "\u0301", "文"} {
		t.Run(fmt.Sprintf("%q", unit), func(t *testing.T) {
			if superlinear(unit, 256<<10, func(text string) { Analyze([]byte(text)) }) {
				t.Errorf("%q repeated takes superlinear time", unit)
			}
		})
	}
}

func TestLongTitlesAreCut(t *testing.T) {
	t.Parallel()

	endless := strings.Repeat("long long ago ", 1<<12)
	for _, text := range []string{
		"---\ntitle: " + endless + "\n---\n", "+++\ntitle = 'a'\ntags = '" + endless + "'\n+++\n", "# " + endless,
		"---\ntitle:\n" + strings.Repeat("  - "+strings.Repeat("x", 200)+"\n", 250) + "---\n",
	} {
		t.Run(fmt.Sprintf("%.10q", text), func(t *testing.T) {
			r := read([]byte(text))
			if n := len(r.title()); n == 0 || n > maxHeading {
				t.Errorf("%.20q: the title has %d bytes, want 1 to %d", text, n, maxHeading)
			}

			if n := len(r.front["title"]); n > maxFrontValue {
				t.Errorf("%.20q: front matter keeps %d bytes of the title, want at most %d", text, n, maxFrontValue)
			}
		})
	}
}

func TestHostileSentences(t *testing.T) {
	t.Parallel()

	for _, unit := range []string{"not ", "but ", "good but ", "a", "no good enough can't ", "!", ". ", "a. ", "😀", "\xff", "so-good-", "1. ", "(\"'", "it was\n\n"} {
		t.Run(fmt.Sprintf("%q", unit), func(t *testing.T) {
			score := func(text string) {
				sentences, cues := plaintext.Sentences(text), documentCues{Language: "en"}
				s, f := sentiment.OfDocument(sentences, "", false), scoreFormality(sentences, cues)

				tone, strength := detectTone(sentences, cues)
				if math.Abs(s.Score) > 1 || f.Score < 0 || f.Score > 1 || math.IsNaN(s.Score+f.Score+strength) ||
					tone == "" {
					t.Errorf(
						"%d bytes of %q: sentiment %+v, formality %+v, tone %q of strength %v",
						len(text),
						unit,
						s,
						f,
						tone,
						strength,
					)
				}
			}
			if superlinear(unit, 512<<10, score) {
				t.Errorf("%q repeated takes superlinear time", unit)
			}
		})
	}
}
