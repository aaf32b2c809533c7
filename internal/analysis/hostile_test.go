package analysis

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"presswork/internal/test/cputime"
)

// outgrows reports whether the time of work grows faster than its text. A text of eight times the length may take
// as long as eight short ones, and three times that because of caches. Work that takes less than half a second
// always passes.
func outgrows(unit string, size int, work func(text string)) bool {
	took := func(texts int) time.Duration {
		text := strings.Repeat(unit, size/texts/len(unit))

		return cputime.Of(func() {
			for range texts {
				work(text)
			}
		})
	}
	for range 3 {
		if long := took(1); long < 500*time.Millisecond || long < 3*took(8) {
			return false
		}
	}

	return true
}

// TestHostileText reads what makes a careless scanner quadratic.
func TestHostileText(t *testing.T) {
	t.Parallel()

	for i, unit := range []string{"[", "[a](", "![", "**", "*a ", "_", "`", "``` ", "<a", "<!--", "$a", "$$", "{%", "&amp", "> ", "- ", "# ", "|a", "a\n", "\\", "a b: ", "1. ", "\n", "--- ", "a-", "not ", "“", "\u0301", "文"} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			if outgrows(unit, 256<<10, func(text string) { Analyze([]byte(text)) }) {
				t.Errorf("%q repeated takes more than its length", unit)
			}
		})
	}
}

func TestAnEndlessTitleIsClipped(t *testing.T) {
	t.Parallel()

	endless := strings.Repeat("long long ago ", 1<<12)
	for i, text := range []string{
		"---\ntitle: " + endless + "\n---\n", "+++\ntitle = 'a'\ntags = '" + endless + "'\n+++\n", "# " + endless,
		"---\ntitle:\n" + strings.Repeat("  - "+strings.Repeat("x", 200)+"\n", 250) + "---\n",
	} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			r := read([]byte(text))
			if n := len(r.title()); n == 0 || n > maxHeading {
				t.Errorf("%.20q: the title has %d bytes; allowed: %d", text, n, maxHeading)
			}

			if n := len(r.front["title"]); n > maxFrontValue {
				t.Errorf("%.20q: %d bytes are kept", text, n)
			}
		})
	}
}

func TestHostileSentences(t *testing.T) {
	t.Parallel()

	for i, unit := range []string{"not ", "but ", "good but ", "a", "no good enough can't ", "!", ". ", "a. ", "😀", "\xff", "so-good-", "1. ", "(\"'", "it was\n\n"} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			score := func(text string) {
				sentences, cues := splitSentences(text), documentCues{Language: "en"}
				s, f := scoreSentiment(sentences, cues), scoreFormality(sentences, cues)

				tone, strength := detectTone(sentences, cues)
				if math.Abs(s.Score) > 1 || f.Score < 0 || f.Score > 1 || math.IsNaN(s.Score+f.Score+strength) ||
					tone == "" {
					t.Errorf("%d bytes of %q: %+v %+v %s %v", len(text), unit, s, f, tone, strength)
				}
			}
			if outgrows(unit, 512<<10, score) {
				t.Errorf("%q repeated takes more than its length", unit)
			}
		})
	}
}
