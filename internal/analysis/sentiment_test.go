package analysis

import (
	_ "embed"
	"strings"
	"testing"
)

//go:embed testdata/negation.tsv
var negationPairs string

// wantSign says whether a score has the sign a sentence is marked with.
func wantSign(mark string, score float64) bool {
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
	model := embeddedSentiment()
	pairs, right := 0, 0
	for fields := range dataLines(negationPairs) {
		pairs++
		var scores [2]float64
		good := true
		for i, sentence := range fields {
			mark, text, _ := strings.Cut(sentence, " ")
			scores[i] = model.Score(text)
			good = good && wantSign(mark, scores[i])
		}
		if good && scores[0] > scores[1] {
			right++
		} else {
			t.Logf("%+.2f, %+.2f: %s | %s", scores[0], scores[1], fields[0], fields[1])
		}
	}
	if pairs < 120 || float64(right) < 0.95*float64(pairs) {
		t.Errorf("%d of %d pairs are right, want 95 %% of 120 or more", right, pairs)
	}
}
