package recommend

import (
	"cmp"
	"slices"

	"presswork/internal/analysis"
)

// clearTopic is the strength from which a topic counts.
const clearTopic = 0.3

// taggedTopic is the least strength of a topic that the author's tags name.
const taggedTopic = 0.6

// Profile returns the part of the findings that the choice of a theme depends on.
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
		// A topic needs four of its words, and six in a thousand words.
		perMille := 1000 * float64(hits) / float64(max(f.Words, 1))

		s := min(1, float64(distinct)/4) * min(1, perMille/6)
		if slices.Contains(f.Tags, t.name) {
			s = max(s, taggedTopic)
		}

		if s >= clearTopic {
			p.Topics = append(p.Topics, Topic{t.name, s})
		}
	}
	slices.SortStableFunc(p.Topics, func(a, b Topic) int { return cmp.Compare(b.Strength, a.Strength) })

	return p
}

// topic returns the rule with this name, or the zero rule if there is none.
func (r *Rules) topic(name string) topicRule {
	for _, t := range r.topics {
		if t.name == name {
			return t
		}
	}

	return topicRule{}
}
