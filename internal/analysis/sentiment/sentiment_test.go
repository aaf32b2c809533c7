package sentiment

import (
	_ "embed"
	"math"
	"strings"
	"testing"

	"presswork/internal/analysis/plaintext"
	"presswork/internal/analysis/wordlist"
)

//go:embed testdata/negation.tsv
var negationPairs string

// hasSign reports whether a score is positive, negative or about zero, as its mark demands.
func hasSign(mark string, score float64) bool {
	switch mark {
	case "+":
		return score > 0.03
	case "-":
		return score < -0.03
	}

	return score > -0.15 && score < 0.15
}

func TestNegationPairs(t *testing.T) {
	t.Parallel()
	model := embedded()

	pairs, right := 0, 0
	for fields := range wordlist.Rows(negationPairs) {
		pairs++
		var scores [2]float64
		correct := true

		for i, sentence := range fields {
			mark, text, _ := strings.Cut(sentence, " ")
			scores[i] = model.Score(text)
			correct = correct && hasSign(mark, scores[i])
		}

		if correct && scores[0] > scores[1] {
			right++
		} else {
			t.Logf("%+.2f, %+.2f: %s | %s", scores[0], scores[1], fields[0], fields[1])
		}
	}

	if pairs < 120 || float64(right) < 0.95*float64(pairs) {
		t.Errorf("%d of %d pairs are right, want 95 %% of 120 or more", right, pairs)
	}
}

func TestWordsWithSeveralMeanings(t *testing.T) {
	t.Parallel()

	for _, neutral := range []string{
		"Fatal error: process killed", "Kill the child process and abort.", "You are free to use, copy and share",
		"Please see the security policy.", "Dear Sir, sincerely yours", "Returns an error if the file does not exist.",
		"The party agrees to indemnify the other party against any loss or damages.", "",
	} {
		t.Run(neutral, func(t *testing.T) {
			if score := OfSentence(neutral); math.Abs(score) > 0.1 {
				t.Errorf("%q scores %.2f, want neutral", neutral, score)
			}
		})
	}

	for sentence, sign := range map[string]string{
		"I love this!": "+", "The patient died.": "-", "😡": "-", "😀😀😀": "+", "👍": "+", "If only it were good.": "-",
		"not not not good": "-", "We are proud to announce record profits.": "+", "Not the worst show": "+",
	} {
		t.Run(sentence, func(t *testing.T) {
			if score := OfSentence(sentence); !hasSign(sign, score) {
				t.Errorf("%q scores %.2f, want %s", sentence, score, sign)
			}
		})
	}
}

func TestDocumentSentiment(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		label, kind string
		factual     bool
		text        string
	}{
		{"positive", "letter", false, "Thank you for the wonderful evening. The food was delicious and the company was delightful. We loved every minute and hope to see you soon."},
		{"negative", "blog_post", false, "The update is a disaster. It crashes daily, support ignores us and the new design is ugly. I regret buying it."},
		{"mixed", "blog_post", false, "The camera is superb and I love the screen. The battery is terrible and the speaker is awful. The keyboard is excellent. Customer support was rude and useless."},
		{"neutral", "api_reference", true, "Returns an error if the handle is invalid. Kills the child process on abort. Throws a fatal exception when the parser fails. The best match wins."},
		{"neutral", "legal", true, "The party shall be liable for any damages, loss or injury. The licensee agrees to defend and hold harmless the licensor against all claims, including negligence and fraud."},
		{"neutral", "story", false, "The train leaves at nine. It stops in three towns. The line was built in 1874."},
		{"neutral", "", false, ""},
	} {
		t.Run(c.label, func(t *testing.T) {
			got := OfDocument(plaintext.Sentences(c.text), c.kind, c.factual)
			if got.Label != c.label {
				t.Errorf("%s %q is %s (%.2f), want %s", c.kind, c.text, got.Label, got.Score, c.label)
			}
		})
	}
}
