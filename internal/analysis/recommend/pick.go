package recommend

import (
	"cmp"
	"math"
	"slices"

	"presswork/internal/analysis"
)

// liftProhibitions removes the prohibitions if they exclude every theme with the mood that the caller requested. A
// dark résumé is unusual, but it was requested.
func (c *choice) liftProhibitions() {
	if c.wanted.Mood == "" {
		return
	}

	fitting := func(k candidate) bool {
		return k.forbidden < forbiddenFrom && slices.Contains(c.tone.accept, k.twin)
	}
	if slices.ContainsFunc(c.candidates, fitting) {
		return
	}

	for i := range c.candidates {
		c.candidates[i].forbidden = 0
	}
}

// allowed returns the candidates that are not forbidden, or all candidates if all are forbidden.
func (c *choice) allowed() []candidate {
	list := slices.DeleteFunc(
		slices.Clone(c.candidates),
		func(k candidate) bool { return k.forbidden >= c.tolerance(k) },
	)
	if len(list) == 0 {
		return c.candidates
	}

	return list
}

// tolerance returns the limit for the total probability of types that must not have a theme. A theme that reaches
// it is excluded. The limit is higher for an occasion: an invitation to a Halloween party may have the Halloween
// theme although its type is uncertain.
func (c *choice) tolerance(k candidate) float64 {
	for _, topic := range c.p.Topics {
		if c.isOccasion(topic) && slices.Contains(c.rules.topic(topic.Name).accept, k.twin) {
			return occasionTolerance
		}
	}

	return forbiddenFrom
}

// primary returns the best theme. It is a dark one only if something asks for it, or if no light one is allowed.
func (c *choice) primary() candidate {
	if c.cautious {
		if i := slices.IndexFunc(c.candidates, func(k candidate) bool { return k.Name == fallbackTheme }); i >= 0 {
			return c.candidates[i]
		}
	}

	pool := c.allowed()

	light := slices.DeleteFunc(
		slices.Clone(pool),
		func(k candidate) bool { return k.Scheme == "dark" && !c.darkRequested(k) },
	)
	if len(light) > 0 {
		pool = light
	}
	// The first of equal candidates wins, in the catalogue's order.
	return slices.MaxFunc(pool, func(a, b candidate) int { return cmp.Compare(a.score, b.score) })
}

// darkRequested reports whether the caller, the tone or the topic asks for a dark theme.
func (c *choice) darkRequested(k candidate) bool {
	if c.wanted.Mood != "" || k.Custom {
		return true
	}

	if c.strength >= clearTone && c.voice >= minDarkVoice && c.tone.dark() && slices.Contains(c.tone.accept, k.twin) {
		return true
	}

	return slices.ContainsFunc(c.p.Topics, func(t Topic) bool {
		return t.Strength >= darkTopic && slices.Contains(c.rules.topic(t.Name).accept, k.twin)
	})
}

// minDarkVoice is the least voice with which a document's tone may choose a dark page.
const minDarkVoice = 0.3

// dark reports whether a dark page suits the tone.
func (t toneRule) dark() bool { return t.wants[lookDarkness] > 0.7 || t.name == "luxurious" }

// leastDifference is the least distance between the looks of two themes that a reader sees as different.
const leastDifference = 0.08

// alternatives returns two themes that suit the document and differ from the choice and from each other.
func (c *choice) alternatives(primary candidate) []candidate {
	chosen := []candidate{primary}
	for len(chosen) < 3 {
		pool := slices.DeleteFunc(c.allowed(), func(k candidate) bool {
			return slices.ContainsFunc(chosen, func(o candidate) bool { return o.Name == k.Name })
		})
		if len(pool) == 0 {
			break
		}

		alike := func(k candidate) bool { return minDistance(k, chosen) < leastDifference }
		if others := slices.DeleteFunc(slices.Clone(pool), alike); len(others) > 0 {
			pool = others
		}

		worth := func(k candidate) float64 { return k.score + 0.3*minDistance(k, chosen) + c.newlyAccepted(k, chosen) }
		if scheme := c.missingScheme(chosen); scheme != "" && len(chosen) == 2 {
			inScheme := slices.DeleteFunc(slices.Clone(pool), func(k candidate) bool { return k.Scheme != scheme })
			if len(inScheme) > 0 {
				pool = inScheme
				// Prefer the dark counterpart of the same theme.
				worth = func(k candidate) float64 {
					return k.score + 0.5*(1-distance(primary.look.without(lookDarkness), k.look))
				}
			}
		}
		chosen = append(
			chosen,
			slices.MaxFunc(pool, func(a, b candidate) int { return cmp.Compare(worth(a), worth(b)) }),
		)
	}

	return chosen[1:]
}

// missingScheme returns the scheme, light or dark, that the three themes must include and do not yet, or "".
func (c *choice) missingScheme(chosen []candidate) string {
	has := func(scheme string) bool {
		return slices.ContainsFunc(chosen, func(k candidate) bool { return k.Scheme == scheme })
	}
	switch {
	case !has("light"):
		return "light"
	case !has("dark") && !c.usuallyPrinted():
		return "dark"
	}

	return ""
}

// usuallyPrinted reports whether documents of this type are usually printed on paper.
func (c *choice) usuallyPrinted() bool {
	share := 0.0

	for _, b := range c.beliefs {
		if b.print {
			share += b.share
		}
	}

	return share >= 0.5
}

// minDistance returns the distance to the nearest chosen theme, 0 to 1.
func minDistance(k candidate, chosen []candidate) float64 {
	least := 1.0
	for _, o := range chosen {
		least = min(least, distance(o.look, k.look))
	}

	return least
}

// newlyAccepted returns the total probability of the types that may have this theme but none of the chosen ones.
func (c *choice) newlyAccepted(k candidate, chosen []candidate) float64 {
	sum := 0.0

	for _, b := range c.beliefs {
		may := func(o candidate) bool {
			_, v := b.fit(o)
			return v == accepted
		}
		if may(k) && !slices.ContainsFunc(chosen, may) {
			sum += b.share
		}
	}

	return sum
}

// confidence returns how often a choice like this one suits, 0 to 1, rounded to hundredths.
func (c *choice) confidence(primary candidate) float64 {
	v := primary.accepted
	if c.wanted.Mood != "" && slices.Contains(c.tone.accept, primary.twin) {
		v = max(v, 0.95)
	}

	for _, topic := range c.p.Topics {
		if c.isOccasion(topic) && slices.Contains(c.rules.topic(topic.Name).accept, primary.twin) {
			v = max(v, 0.75)
		}
	}

	v = min(v, maxConfidence)
	v *= 1 - (1-otherShare)*c.otherProbability(primary)
	v *= 1 - uncertaintyPenalty*(1-c.typeCertainty())

	if c.wanted == (Preference{}) && (terse(c.p) || c.cautious) {
		v = min(v, c.terseLimit())
	}

	if c.unsure() {
		v = min(v, unsureLimit)
	}

	return math.Round(v*100) / 100
}

// unsureLimit is the highest confidence while a reason says that the type is unsure between two. Both may accept the
// theme, but a reader of that reason expects to see the doubt in the number.
const unsureLimit = 0.75

// uncertaintyPenalty reduces the confidence if the type is uncertain: types that accept the theme are then found
// by chance. It was fitted on other documents than those used for the measurement.
const uncertaintyPenalty = 0.05

// maxConfidence is the highest confidence that the evaluation corpus is large enough to support.
const maxConfidence = 0.97

// typeCertainty returns the probability of the most probable type relative to typicalTop, at most 1. It is 1 if the
// caller stated a preference.
func (c *choice) typeCertainty() float64 {
	if top := c.top(); top != nil && c.wanted == (Preference{}) {
		return min(1, top.share/typicalTop)
	}

	return 1
}

// typicalTop is the type probability from which no confidence is lost.
const typicalTop = 0.97

// otherShare is the confidence factor for a document of type "other", which may be of a type without a list. It is
// set by hand: there is no data to fit it on.
const otherShare = 0.8

// otherProbability returns the probability that the document has no particular type. It is 0 if such a document must
// not have the theme.
func (c *choice) otherProbability(k candidate) float64 {
	for _, b := range c.beliefs {
		if _, v := b.fit(k); b.name == analysis.OtherType && v == accepted {
			return b.share
		}
	}

	return 0
}

// terseLimit is the highest confidence for a short text. It starts at one half and grows with the number of words, if
// the text is readable and clearly shows its type.
func (c *choice) terseLimit() float64 {
	if c.cautious || c.p.Words >= enoughWords {
		return cautiousLimit
	}

	return cautiousLimit + (1-cautiousLimit)*min(1, float64(c.p.Words)/enoughWords)
}
