package recommend

import (
	"cmp"
	"slices"

	"presswork/internal/analysis"
)

// clearTopic is how clearly a document must be about a topic for it to count.
const clearTopic = 0.3

// Profile reduces findings to what a choice of theme rests on.
func (r *Rules) Profile(f analysis.Findings) Profile {
	p := Profile{
		Analysis:     f.Analysis,
		Words:        f.Words,
		Types:        f.Types,
		Evidence:     f.Evidence,
		ToneStrength: f.ToneStrength,
		Topics:       []Topic{},
	}

	for _, t := range r.topics {
		hits, distinct := 0, 0

		for _, word := range t.words {
			if n := f.Count(word); n > 0 {
				hits, distinct = hits+n, distinct+1
			}
		}
		// Four of its words, and six in a thousand, are a topic.
		perMille := 1000 * float64(hits) / float64(max(f.Words, 1))
		if s := min(1, float64(distinct)/4) * min(1, perMille/6); s >= clearTopic {
			p.Topics = append(p.Topics, Topic{t.name, s})
		}
	}
	slices.SortStableFunc(p.Topics, func(a, b Topic) int { return cmp.Compare(b.Strength, a.Strength) })

	return p
}

// topic returns a rule by name; the zero one when there is none.
func (r *Rules) topic(name string) topicRule {
	for _, t := range r.topics {
		if t.name == name {
			return t
		}
	}

	return topicRule{}
}
