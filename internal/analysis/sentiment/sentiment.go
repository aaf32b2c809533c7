// Package sentiment scores how positive or negative English sentences and documents are. It extends the rules of VADER
// by a linear model of words.
package sentiment

import (
	"math"

	"presswork/internal/analysis/finding"
	"presswork/internal/analysis/plaintext"
)

const (
	// maxSentences limits the sentences that are scored.
	maxSentences = 400
	// polarThreshold is the polarity from which a sentence counts as good or bad.
	polarThreshold = 0.15
	// neutralShare is the factor of the score of a sentence in which no word has a polarity.
	neutralShare = 0.25
	// factualGain and documentGain stretch the means of sentences, which are close to 0, to −1…1.
	factualGain, documentGain = 1.5, 3.0
	// positiveFrom and negativeTo are the scores from which a document is positive and up to which it is negative.
	positiveFrom, negativeTo = 0.16, -0.16
)

// genreBaselines holds the mean sentence score of a document type. It comes from the type's usual wording, not
// from the author's opinion.
var genreBaselines = map[string]float64{
	"letter": 0.03, "newsletter": 0.04, "bio": 0.04, "resume": 0.03, "recipe": 0.04,
	"proposal": 0.04, "governance": 0.02, "contributing": 0.03, "readme": 0.02, "tutorial": 0.02,
}

// OfSentence returns the polarity of an English sentence, about −0.9 to 0.9.
func OfSentence(sentence string) float64 { return embedded().Score(sentence) }

// OfDocument returns a document's polarity: the mean of its sentences weighted by length, minus the usual mean
// of its type.
func OfDocument(sentences []string, documentType string, factual bool) finding.Leaning {
	m := measureSentences(plaintext.Sample(sentences, maxSentences), factual)
	if m.weight == 0 {
		return finding.Leaning{Label: "neutral"}
	}

	gain := documentGain
	if factual {
		gain = factualGain
	}
	score := math.Round(1000*math.Tanh(gain*aboveUsual(m.mean, genreBaselines[documentType]))) / 1000

	s := finding.Leaning{Label: "neutral", Score: score}
	switch {
	case m.good >= 0.25 && m.bad >= 0.25 && math.Abs(score) < 0.3 && !factual:
		s.Label = "mixed"
	case score >= positiveFrom:
		s.Label = "positive"
	case score <= negativeTo:
		s.Label = "negative"
	}

	return s
}

// aboveUsual subtracts the usual mean of a document type. A positive mean stops at 0: a text does not become negative
// only because it lacks the usual praise. A negative mean at most doubles.
func aboveUsual(mean, usual float64) float64 {
	if mean >= 0 {
		return max(0, mean-usual)
	}

	return mean - min(usual, -mean)
}

// measure summarises the sentences of a document. weight is the number of words, at most 30 of a sentence.
type measure struct {
	mean, weight float64
	good, bad    float64 // shares of the words in positive and negative sentences
}

// measureSentences scores English sentences.
func measureSentences(sentences []string, factual bool) (m measure) {
	model := embedded()

	for _, sentence := range sentences {
		score, rules := model.score(sentence, factual)
		weight := min(30, float64(rules.words))
		m.weight += weight

		if rules.polar == 0 {
			score *= neutralShare
		}

		m.mean += weight * score
		switch {
		case score > polarThreshold:
			m.good += weight
		case score < -polarThreshold:
			m.bad += weight
		}
	}

	if m.weight > 0 {
		m.mean, m.good, m.bad = m.mean/m.weight, m.good/m.weight, m.bad/m.weight
	}

	return m
}
