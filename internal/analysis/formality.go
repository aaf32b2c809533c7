package analysis

import (
	"math"
	"slices"
	"strings"

	"presswork/internal/analysis/finding"
	"presswork/internal/analysis/plaintext"
)

const (
	// maxFormalitySentences limits the sentences that are scored.
	maxFormalitySentences = 400
	// formalFrom and informalTo are the scores from which a document is formal and up to which it is informal.
	formalFrom, informalTo = 0.58, 0.38
	// formalityMiddle is the median score of neutral documents. formalitySpread stretches the medians, which are
	// close together, to 0…1.
	formalityMiddle, formalitySpread = 0.54, 1.8
	// enoughSentences is the number of complete sentences from which captions and list items are ignored.
	enoughSentences = 6
	// shortestLog and longestLog bound the logarithm of a sentence's length, at 8 and 18 words. Instructions are
	// short in any register.
	shortestLog, longestLog = 2.1, 2.9
)

// genreRegisters holds the formality that a document type adds beyond its sentences.
var genreRegisters = map[string]float64{
	"legal": 0.06, "governance": 0.02, "paper": 0.05, "rfc": 0.06, "resume": 0.05,
	"invoice": 0.05, "tutorial": 0.03, "api_reference": 0.03, "report": 0.02, "proposal": 0.02, "blog_post": -0.03,
	"newsletter": -0.03, "story": -0.02, "bio": -0.01,
}

// scoreFormality returns a document's formality: the median of its sentences, adjusted by the cues of the whole
// document.
func scoreFormality(sentences []string, cues documentCues) finding.Leaning {
	sample := plaintext.Sample(sentences, maxFormalitySentences)
	score := formalityMiddle + formalitySpread*(medianFormality(sample)-formalityMiddle) +
		formalityCues(sample, cues) + genreRegisters[cues.Type]
	score = math.Round(1000*max(0, min(1, score))) / 1000

	f := finding.Leaning{Label: "neutral", Score: score}
	switch {
	case len(sentences) == 0:
		f.Score = 0.5
	case score >= formalFrom:
		f.Label = "formal"
	case score <= informalTo:
		f.Label = "informal"
	}

	return f
}

// medianFormality returns the median of the complete sentences. If a document has few of them, captions and list
// items count as well.
func medianFormality(sentences []string) float64 {
	model := embeddedFormality()

	whole, fragments := make([]float64, 0, len(sentences)), make([]float64, 0, len(sentences))
	for _, s := range sentences {
		words := strings.Count(s, " ") + strings.Count(s, "\n") + 1
		if words < 2 {
			continue
		}
		measures := measureFormality(s)

		measures[formalityLogWords] = max(shortestLog, min(longestLog, measures[formalityLogWords]))
		if words < 4 || measures[formalityFullStop] == 0 && !strings.ContainsAny(s[len(s)-1:], "!?\"')") {
			measures[formalityLowerStart] = 0 // list items often start with a small letter
			fragments = append(fragments, model.weigh(measures))
		} else {
			whole = append(whole, model.weigh(measures))
		}
	}

	if len(whole) < enoughSentences {
		whole = append(whole, fragments...)
	}

	if len(whole) == 0 {
		return formalityMiddle
	}
	slices.Sort(whole)

	return (whole[len(whole)/2] + whole[(len(whole)-1)/2]) / 2
}

// formalityCues returns the formality that the whole document adds to that of its sentences. It depends on legal
// words, emoji, the first person, slang, contractions and the frame of a letter.
func formalityCues(sentences []string, cues documentCues) float64 {
	table := registers()
	words, legal, personal := 1, 0, 0

	for _, s := range sentences {
		for field := range strings.FieldsSeq(s) {
			lower := strings.ToLower(plaintext.TrimWord(field))
			words++
			r := table[lower]
			legal += int(indicator(r&legalWord != 0))
			personal += int(indicator(r&(firstPerson|slangWord) != 0 || isContraction(lower)))
		}
	}
	n := float64(words)

	add := min(0.2, 15*float64(legal)/n) - min(0.15, 2*float64(personal)/n) - min(0.15, 8*float64(cues.Emoji)/n)
	if cues.Salutation && cues.Closing {
		add += 0.03
	}

	return add
}
