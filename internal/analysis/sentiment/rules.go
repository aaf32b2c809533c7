package sentiment

import (
	"strings"
)

// ruleScores holds the result of the rules for a sentence. good and bad are the sums of the positive and of the
// negative valences, both 0 or more. compound is their difference with emphasis, on −1…1. words counts the words,
// polar those that have a valence.
type ruleScores struct {
	good, bad, compound float64
	words, polar        int
	contextual          bool // the sentence has a negation or a phrase with its own valence
}

// scoreTokens applies the rules to the tokens of a sentence.
func scoreTokens(tokens []token, sentence string) ruleScores {
	markNegations(tokens)
	emphaticCapitals := hasEmphaticCapitals(tokens)
	r := ruleScores{words: len(tokens)}
	weights := contrastWeights(tokens)
	sum := 0.0

	for i := range tokens {
		t := &tokens[i]

		r.contextual = r.contextual || t.negated || t.is(negator)
		if !t.known || !t.inPhrase && t.is(negator|stronger|weaker) {
			continue
		}

		v := tokenValence(tokens, i, emphaticCapitals) * weights[i]
		if v == 0 {
			continue
		}
		r.polar++
		r.contextual = r.contextual || t.inPhrase

		sum += v
		if v > 0 {
			r.good += v
		} else {
			r.bad -= v
		}
	}
	emphasis := punctuationEmphasis(sentence)

	switch {
	case sum > 0:
		sum += emphasis
	case sum < 0:
		sum -= emphasis
	}
	r.compound = squash(sum)

	return r
}

// hasEmphaticCapitals reports whether some words but not all are in capitals. Capitals then add emphasis.
func hasEmphaticCapitals(tokens []token) bool {
	upper := 0
	for i := range tokens {
		if tokens[i].upper {
			upper++
		}
	}

	return 0 < upper && upper < len(tokens)
}

// tokenValence returns the valence of the i-th token, adjusted by capitals, the degree adverbs before it and
// negation.
func tokenValence(tokens []token, i int, emphaticCapitals bool) float64 {
	t := tokens[i]

	v := t.valence
	if t.upper && emphaticCapitals && !t.inPhrase {
		if v > 0 {
			v += capitals
		} else {
			v -= capitals
		}
	}

	for n := 1; n <= 3 && n <= i; n++ {
		b := &tokens[i-n]
		if b.known || b.ends || b.inPhrase {
			break
		}

		if !b.is(stronger | weaker) {
			continue
		}

		effect := boosterEffect(b, v, emphaticCapitals)
		if b.is(negator) {
			continue // "hardly" negates; it does not weaken as well
		}
		v += [...]float64{1, 0.95, 0.9}[n-1] * effect
	}

	// "Least" negates the word after it, but not in "at least" and "very least".
	if i > 0 && tokens[i-1].lower == "least" && (i == 1 || tokens[i-2].lower != "at" && tokens[i-2].lower != "very") {
		v *= negation
	}

	if t.negated {
		if v > 0 {
			return v * flipPositive
		}

		return v * flipNegative
	}

	return v
}

// contrastWeights returns the weights of the tokens. They differ from 1 around "but" and after "although".
func contrastWeights(tokens []token) []float64 {
	weights := make([]float64, len(tokens))
	for i := range weights {
		weights[i] = 1
	}

	for i := range tokens {
		t := &tokens[i]
		switch {
		case t.is(contrast) && !t.inPhrase && contrastAt(tokens, i):
			for k := range weights {
				if k < i {
					weights[k] *= contrastBefore
				} else {
					weights[k] *= contrastAfter
				}
			}

			return weights
		case t.is(concession):
			for k := i + 1; k < min(i+6, len(tokens)); k++ {
				weights[k] = contrastBefore
				if tokens[k].ends {
					break
				}
			}
		}
	}

	return weights
}

// contrastAt reports whether the i-th token, a "but", contrasts two clauses: it does not in "nothing but",
// "anything but" and "not only … but also".
func contrastAt(tokens []token, i int) bool {
	return i > 0 && tokens[i-1].lower != "nothing" && tokens[i-1].lower != "anything" && !notOnly(tokens[:i])
}

// notOnly reports whether tokens contain "not" or a word in "n't", followed by "only" or "just".
func notOnly(tokens []token) bool {
	for i := 1; i < len(tokens); i++ {
		if (tokens[i].lower == "only" || tokens[i].lower == "just") &&
			(tokens[i-1].lower == "not" || strings.HasSuffix(tokens[i-1].lower, "n't")) {
			return true
		}
	}

	return false
}
