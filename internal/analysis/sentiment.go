package analysis

import (
	"math"
	"strings"

	"presswork/internal/analysis/finding"
)

const (
	// maxSentimentSentences limits the sentences that are scored.
	maxSentimentSentences = 400
	// polarThreshold is the polarity from which a sentence counts as good or bad.
	polarThreshold = 0.15
	// neutralShare is the factor of the score of a sentence in which no word has a polarity.
	neutralShare = 0.25
	// factualGain and documentGain stretch the means of sentences, which are close to 0, to −1…1.
	factualGain, documentGain = 1.5, 3.0
	// positiveFrom and negativeTo are the scores from which a document is positive and up to which it is negative.
	positiveFrom, negativeTo = 0.16, -0.16
)

// factualTypes are the document types that state facts and do not judge. Their words are read with technical and
// legal senses. Each value is 1.
var factualTypes = wordSigns(
	map[int]string{1: `readme changelog api_reference tutorial contributing governance legal rfc
meeting_notes paper resume invoice recipe`},
)

// genreBaselines holds the mean sentence score of a document type. It comes from the type's usual wording, not
// from the author's opinion.
var genreBaselines = map[string]float64{
	"letter": 0.03, "newsletter": 0.04, "bio": 0.04, "resume": 0.03, "recipe": 0.04,
	"proposal": 0.04, "governance": 0.02, "contributing": 0.03, "readme": 0.02, "tutorial": 0.02,
}

// SentenceSentiment returns the polarity of an English sentence, about −0.9 to 0.9.
func SentenceSentiment(sentence string) float64 { return embeddedSentiment().Score(sentence) }

// scoreSentiment returns a document's polarity: the mean of its sentences weighted by length, minus the usual mean
// of its type.
func scoreSentiment(sentences []string, cues documentCues) finding.Leaning {
	m := measureSentiment(sampleEvenly(sentences, maxSentimentSentences), cues)
	if m.weight == 0 {
		return finding.Leaning{Label: "neutral"}
	}

	gain := documentGain
	if cues.Factual {
		gain = factualGain
	}
	score := math.Round(1000*math.Tanh(gain*aboveUsual(m.mean, genreBaselines[cues.Type]))) / 1000

	s := finding.Leaning{Label: "neutral", Score: score}
	switch {
	case m.good >= 0.25 && m.bad >= 0.25 && math.Abs(score) < 0.3 && !cues.Factual:
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

// sentimentMeasure summarises the sentences of a document. weight is the number of words, at most 30 of a sentence.
type sentimentMeasure struct {
	mean, weight float64
	good, bad    float64 // shares of the words in positive and negative sentences
}

// measureSentiment scores the sentences. In languages other than English, only emoji count.
func measureSentiment(sentences []string, cues documentCues) (m sentimentMeasure) {
	model := embeddedSentiment()

	for _, sentence := range sentences {
		if !english(cues.Language) {
			if sentence = onlyEmoji(sentence); sentence == "" {
				m.weight++
				continue
			}
		}

		score, rules := model.score(sentence, cues.Factual)
		if !english(cues.Language) {
			score = plainRules * rules.compound
		}
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

// english reports whether the English word lists apply to a language, a BCP 47 tag or "und".
func english(language string) bool { return language == "en" }

// onlyEmoji returns the emoji of a sentence that have a polarity.
func onlyEmoji(sentence string) string {
	if isASCII(sentence) {
		return ""
	}
	names := emojiNames()

	return strings.Map(func(r rune) rune {
		if _, ok := names[r]; ok {
			return r
		}

		return -1
	}, sentence)
}
