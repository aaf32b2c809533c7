package recommend

import (
	"math"
	"slices"

	"presswork/internal/analysis"
)

// choice holds the state of one recommendation.
type choice struct {
	rules   *Rules
	p       Profile
	wanted  Preference
	beliefs []belief
	// tone and strength are those of the document, or the requested mood at full
	// strength. voice is the weight that the document types give to the tone, 0 to 1.
	tone            toneRule
	strength, voice float64
	// cautious reports whether the text has too little evidence for a choice.
	cautious   bool
	candidates []candidate
}

// belief is a document type and its probability.
type belief struct {
	typeRule
	share float64
	// order holds the type's themes for this document, the best first.
	order []string
}

// candidate is a theme and its scores.
type candidate struct {
	ThemeInfo
	look look
	// twin is the built-in theme whose places in the lists of types and tones count for this theme. A custom theme
	// has the most similar one; likeness is their similarity from 0 to 1.
	twin     string
	likeness float64
	// fit is the score by document type, score the total.
	fit, score float64
	// accepted is the total probability of the types that may have the theme, forbidden that of the types that
	// must not.
	accepted, forbidden float64
}

// newChoice prepares the choice among the themes of list for a document. A mood of the caller replaces the document's
// tone.
func (r *Rules) newChoice(p Profile, list []ThemeInfo, s Preference) *choice {
	c := &choice{
		rules:    r,
		p:        p,
		wanted:   s,
		beliefs:  r.typeBeliefs(p, s),
		strength: p.ToneStrength,
		tone:     r.tones[p.EmotionalTone],
	}
	for _, b := range c.beliefs {
		c.voice += b.share * b.voice
	}

	if s.Mood != "" {
		c.tone, c.strength, c.voice = r.tones[s.Mood], 1, 1
	}

	for i := range c.beliefs {
		c.beliefs[i].order = c.order(c.beliefs[i].typeRule)
	}
	c.cautious = Cautious(p, s) && !slices.ContainsFunc(p.Topics, c.isOccasion)

	for _, info := range list {
		k := candidate{ThemeInfo: info, twin: info.Name, likeness: 1}

		var known bool
		if k.look, known = r.looks[info.Name]; !known || info.Custom {
			k.look = lookOf(info)
			k.twin, k.likeness = r.nearest(k.look)
		}
		c.scoreCandidate(&k)
		c.candidates = append(c.candidates, k)
	}
	c.liftProhibitions()

	return c
}

// typeBeliefs returns the probability of each document type: of the types that the caller requested, else of those
// that the analysis found. It returns nothing if neither is known.
func (r *Rules) typeBeliefs(p Profile, s Preference) []belief {
	found := map[string]float64{}
	for _, t := range p.Types {
		found[t.Type] = t.Probability
	}

	if len(p.Types) == 0 && p.DocumentType != "" {
		found[p.DocumentType] = 1
	}

	allowed := analysis.DocumentTypes()
	if s.Type != "" {
		allowed = r.typesOf(s.Type)
	}
	var all []belief
	sum := 0.0

	for _, t := range r.types {
		share := found[t.name]
		if s.Type != "" {
			share += 0.02 // a requested type stays possible, however improbable it looks
		}

		if share > 0 && slices.Contains(allowed, t.name) {
			all = append(all, belief{typeRule: t, share: share})
			sum += share
		}
	}

	for i := range all {
		all[i].share /= sum
	}

	return all
}

// scoreCandidate computes the scores of a theme.
func (c *choice) scoreCandidate(k *candidate) {
	for _, b := range c.beliefs {
		fit, verdict := b.fit(*k)
		switch verdict {
		case refused:
			k.forbidden += b.share
		case accepted:
			k.accepted += b.share
		}
		k.fit += b.share * fit * k.likeness
	}

	toneWeight, typeWeight := 0.8*c.voice*c.strength, 1.0
	if c.wanted.Mood != "" {
		toneWeight, typeWeight = 1.6, 0.6
	}

	k.score = typeWeight*k.fit + toneWeight*c.toneFit(*k) + 0.05*c.formalityMatch(k.look)
	for _, topic := range c.p.Topics {
		k.score += 1.5 * (0.1 + 0.9*c.topicWeight(topic)) * topic.Strength * rankScore(
			c.rules.topic(topic.Name).accept,
			k.twin,
		)
	}

	if k.Custom {
		k.score += c.customScore(*k)
	}
}

// verdict is what the lists of a document type say about a theme.
type verdict int

const (
	unlisted verdict = iota
	accepted
	refused
)

// fit returns how well a theme suits a type, 0 to 1, and what the lists of the type say about it.
func (b belief) fit(k candidate) (float64, verdict) {
	excluded := slices.Contains(b.never, k.twin) && k.twin != darkWord // darkWord stands for all dark themes
	if excluded || b.neverDark && k.Scheme == "dark" {
		return 0, refused
	}

	score := rankScore(b.order, k.twin)
	if score == 0 {
		return 0, unlisted
	}

	return score, accepted
}

// topicWeight returns the largest weight of a topic, from 0 to 1. It is that of the tone, or more for an occasion:
// every line of such a text shows its topic and tone.
func (c *choice) topicWeight(t Topic) float64 {
	if c.isOccasion(t) {
		return max(c.voice, 0.8)
	}

	return c.voice
}

// isOccasion reports whether the whole text is about one topic and has an emotional tone, as an invitation to a party
// has.
func (c *choice) isOccasion(t Topic) bool {
	const unmistakable = 0.9
	emotional := c.tone.wants[lookPlayfulness] >= 0 && c.tone.wants[lookFormality] < 0.6 || c.tone.name == "luxurious"

	return t.Strength >= unmistakable && c.strength >= occasionTone && emotional && !c.usuallyPrinted()
}

// clearTone is the least strength of a tone that changes the order of themes. occasionTone is the least strength that
// makes a topic an occasion. darkTopic is the least strength of a topic for a dark theme.
const clearTone, occasionTone, darkTopic = 0.5, 0.4, 0.5

// order returns the type's themes for this document: those of its tone first, then those of its formality, then
// the others.
func (c *choice) order(t typeRule) []string {
	var list []string
	if c.strength >= clearTone {
		list = append(list, t.first[c.tone.name]...)
	}

	list = append(append(list, t.first[c.p.Formality.Label]...), t.accept...)
	for i, name := range slices.Backward(list) {
		if slices.Contains(list[:i], name) {
			list = slices.Delete(list, i, i+1)
		}
	}

	return list
}

// rankScore returns 1 for the first theme of a list and just above 0.5 for the last. It returns 0 for a theme that is
// not in the list.
func rankScore(list []string, name string) float64 {
	i := slices.Index(list, name)
	if i < 0 {
		return 0
	}

	return 1 - 0.5*float64(i)/float64(len(list))
}

// toneFit returns how well a theme expresses the tone, 0 to 1.
func (c *choice) toneFit(k candidate) float64 {
	if len(c.tone.accept) == 0 {
		return 0
	}

	return 0.8*rankScore(c.tone.accept, k.twin)*k.likeness + 0.2*(1-distance(c.tone.wants, k.look))
}

// formalityMatch returns how well a theme suits the formality, 0 to 1. It is 0 if the document is neutral.
func (c *choice) formalityMatch(l look) float64 {
	if label := c.p.Formality.Label; label == "" || label == "neutral" {
		return 0
	}

	return 1 - math.Abs(l[lookFormality]-c.p.Formality.Score)
}
