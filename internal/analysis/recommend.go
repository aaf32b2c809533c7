package analysis

import (
	"cmp"
	"math"
	"slices"

	"presswork"
)

// Profile is what a choice of theme rests on; it is small, for caches.
type Profile struct {
	// Analysis has no recommendation.
	presswork.Analysis
	// Words, Types and ToneStrength are those of Findings.
	Words        int               `json:"words"`
	Types        []TypeProbability `json:"types"`
	ToneStrength float64           `json:"tone_strength"`
	// Topics are what the document speaks of, of those some themes are made for,
	// the clearest first.
	Topics []Topic `json:"topics"`
}

// Topic is a subject and how clearly, 0 to 1, a document is about it.
type Topic struct {
	Name     string  `json:"name"`
	Strength float64 `json:"strength"`
}

// ThemeInfo is what a choice needs to know of a theme.
type ThemeInfo struct {
	Name string `json:"name"`
	// Scheme is light or dark.
	Scheme string `json:"scheme"`
	// Colors are "#rrggbb" by name; base_100, primary, secondary and accent count.
	Colors map[string]string `json:"colors"`
	Tags   []string          `json:"tags"`
	// Custom tells that the theme is not built in: it is judged by its colours
	// and tags.
	Custom bool `json:"custom"`
}

// Recommender chooses themes by data/themes.txt. It is immutable and safe for
// concurrent use.
type Recommender struct{ rules *themeRules }

// NewRecommender reads the embedded data.
func NewRecommender() *Recommender {
	rules, err := parseThemeRules(themeData)
	if err != nil {
		panic(err) // the data is compiled in; the tests read it
	}
	return &Recommender{rules}
}

// Uncalibrated is a Recommender whose confidence is what is believed, not yet
// how often that proved right: the calibration is fitted on it.
func (r *Recommender) Uncalibrated() *Recommender {
	rules := *r.rules
	rules.slope, rules.intercept = 1, 0
	return &Recommender{&rules}
}

// The bounds below which a text does not tell enough.
const (
	enoughWords   = 75
	cautiousLimit = 0.5 // of the confidence then
	fallbackTheme = "light"
)

// forbiddenFrom is how probable the types that must not have a theme may be
// together before it is not considered.
const forbiddenFrom = 0.10

// Recommend chooses a theme and two alternatives from the shelf, which is in the
// catalogue's order. What s says replaces what was found. The alternatives are
// unlike the choice: one of the three is light and, for what is read on screens,
// one dark.
func (r *Recommender) Recommend(p Profile, shelf []ThemeInfo, s Steer) presswork.Recommendation {
	c := r.newChoice(p, shelf, s)
	if len(c.candidates) == 0 {
		return presswork.Recommendation{Alternatives: []string{}, Reasons: []string{"there are no themes"}}
	}
	primary := c.primary()
	alternatives := c.alternatives(primary)
	rec := presswork.Recommendation{Primary: primary.Name, Alternatives: []string{}, Confidence: c.confidence(primary)}
	for _, a := range alternatives {
		rec.Alternatives = append(rec.Alternatives, a.Name)
	}
	rec.Reasons = c.reasons(primary, alternatives)
	return rec
}

// Rank lists the shelf's themes for a document, the most fitting first; the
// first three are those of Recommend.
func (r *Recommender) Rank(p Profile, shelf []ThemeInfo, s Steer) []string {
	c := r.newChoice(p, shelf, s)
	if len(c.candidates) == 0 {
		return nil
	}
	primary := c.primary()
	list := append([]candidate{primary}, c.alternatives(primary)...)
	rest := slices.DeleteFunc(c.candidates, func(k candidate) bool {
		return slices.ContainsFunc(list, func(o candidate) bool { return o.Name == k.Name })
	})
	slices.SortStableFunc(rest, func(a, b candidate) int {
		// What the document should not have comes last.
		if a, b := a.forbidden >= forbiddenFrom, b.forbidden >= forbiddenFrom; a != b {
			if a {
				return 1
			}
			return -1
		}
		return cmp.Compare(b.score, a.score)
	})
	names := make([]string, 0, len(shelf))
	for _, k := range append(list, rest...) {
		names = append(names, k.Name)
	}
	return names
}

// Cautious tells whether a text does not say enough to choose by: then it is the
// theme that suits most, with a confidence of at most one half.
func Cautious(p Profile, s Steer) bool {
	return s == Steer{} && (p.Words < enoughWords || p.Language == "" || p.Language == "und")
}

// choice is one recommendation under way.
type choice struct {
	rules  *themeRules
	p      Profile
	steer  Steer
	belief []belief
	// tone and strength are the document's, or the mood asked for at full
	// strength. voice is how far they may lead, 0 to 1.
	tone            toneRule
	strength, voice float64
	// cautious tells that the text does not say enough.
	cautious   bool
	candidates []candidate
}

// belief is how probable a document type is.
type belief struct {
	typeRule
	share float64
	// order are the type's themes for this document, the most fitting first.
	order []string
}

// candidate is a theme and how well it suits.
type candidate struct {
	ThemeInfo
	look look
	// twin is the built-in theme whose place in the lists it has: itself, or for
	// a custom theme the one most like it, likeness 0 to 1.
	twin     string
	likeness float64
	// fit is by type, score everything together.
	fit, score float64
	// accepted is how probable the types are that may have it, forbidden those
	// that must not.
	accepted, forbidden float64
}

func (r *Recommender) newChoice(p Profile, shelf []ThemeInfo, s Steer) *choice {
	c := &choice{rules: r.rules, p: p, steer: s, belief: r.rules.believe(p, s), strength: p.ToneStrength, tone: r.rules.tones[p.EmotionalTone]}
	for _, b := range c.belief {
		c.voice += b.share * b.voice
	}
	if s.Mood != "" {
		c.tone, c.strength, c.voice = r.rules.tones[s.Mood], 1, 1
	}
	for i := range c.belief {
		c.belief[i].order = c.order(c.belief[i].typeRule)
	}
	c.cautious = Cautious(p, s)
	for _, info := range shelf {
		k := candidate{ThemeInfo: info, twin: info.Name, likeness: 1}
		var known bool
		if k.look, known = r.rules.looks[info.Name]; !known || info.Custom {
			k.look = lookOf(info)
			k.twin, k.likeness = r.rules.nearest(k.look)
		}
		c.judge(&k)
		c.candidates = append(c.candidates, k)
	}
	c.lift()
	return c
}

// believe says how probable each document type is: what the caller said, else
// what was found; nothing when neither is known.
func (r *themeRules) believe(p Profile, s Steer) []belief {
	found := map[string]float64{}
	for _, t := range p.Types {
		found[t.Type] = t.Probability
	}
	if len(p.Types) == 0 && p.DocumentType != "" {
		found[p.DocumentType] = 1
	}
	allowed := presswork.DocumentTypes()
	if s.Type != "" {
		allowed = r.typesOf(s.Type)
	}
	var all []belief
	sum := 0.0
	for _, t := range r.types {
		share := found[t.name]
		if s.Type != "" {
			share += 0.02 // what was asked for is possible, however little it seems so
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

// judge scores a theme.
func (c *choice) judge(k *candidate) {
	for _, b := range c.belief {
		fit, verdict := b.fit(*k)
		switch verdict {
		case refused:
			k.forbidden += b.share
		case accepted:
			k.accepted += b.share
		}
		k.fit += b.share * fit * k.likeness
	}
	lead, byType := 0.8*c.voice*c.strength, 1.0
	if c.steer.Mood != "" {
		lead, byType = 1.6, 0.6
	}
	k.score = byType*k.fit + lead*c.carries(*k) + 0.15*c.formalityMatch(k.look)
	for _, topic := range c.p.Topics {
		k.score += 1.3 * (0.1 + 0.9*c.voice) * topic.Strength * place(c.rules.topic(topic.Name).accept, k.twin)
	}
	if k.Custom {
		k.score += c.custom(*k)
	}
}

type verdict int

const (
	unlisted verdict = iota
	accepted
	refused
)

// fit is how well a theme suits a type, 0 to 1.
func (b belief) fit(k candidate) (float64, verdict) {
	if slices.Contains(b.never, k.twin) && k.twin != darkWord || b.neverDark && k.Scheme == "dark" {
		return 0, refused
	}
	at := place(b.order, k.twin)
	if at == 0 {
		return 0, unlisted
	}
	return at, accepted
}

// clearTone is how clearly a tone must show to change the order of themes.
const clearTone = 0.4

// order is the type's themes for this document: those of its tone first, then
// those of its formality, then the usual ones.
func (c *choice) order(t typeRule) []string {
	var list []string
	if c.strength >= clearTone {
		list = append(list, t.first[c.tone.name]...)
	}
	list = append(append(list, t.first[c.p.Formality.Label]...), t.accept...)
	for i := len(list) - 1; i >= 0; i-- {
		if slices.Contains(list[:i], list[i]) {
			list = slices.Delete(list, i, i+1)
		}
	}
	return list
}

// place is 1 for the first of a list, falling to just above one half for its
// last, 0 outside of it.
func place(list []string, name string) float64 {
	i := slices.Index(list, name)
	if i < 0 {
		return 0
	}
	return 1 - 0.5*float64(i)/float64(len(list))
}

// carries is how well a theme speaks in the tone, 0 to 1.
func (c *choice) carries(k candidate) float64 {
	if len(c.tone.accept) == 0 {
		return 0
	}
	return 0.8*place(c.tone.accept, k.twin)*k.likeness + 0.2*(1-distance(c.tone.wants, k.look))
}

func (c *choice) formalityMatch(l look) float64 {
	if label := c.p.Formality.Label; label == "" || label == "neutral" {
		return 0
	}
	return 1 - math.Abs(l[lookFormality]-c.p.Formality.Score)
}

// lift takes the prohibitions back when nothing else carries the mood the
// caller asked for: a dark résumé is unusual, but it was asked for.
func (c *choice) lift() {
	if c.steer.Mood == "" {
		return
	}
	carries := func(k candidate) bool {
		return k.forbidden < forbiddenFrom && slices.Contains(c.tone.accept, k.twin)
	}
	if slices.ContainsFunc(c.candidates, carries) {
		return
	}
	for i := range c.candidates {
		c.candidates[i].forbidden = 0
	}
}

// allowed are the candidates that are not forbidden; all, when all are.
func (c *choice) allowed() []candidate {
	list := slices.DeleteFunc(slices.Clone(c.candidates), func(k candidate) bool { return k.forbidden >= forbiddenFrom })
	if len(list) == 0 {
		return c.candidates
	}
	return list
}

func (c *choice) primary() candidate {
	if c.cautious {
		if i := slices.IndexFunc(c.candidates, func(k candidate) bool { return k.Name == fallbackTheme }); i >= 0 {
			return c.candidates[i]
		}
	}
	// The first of equals, in the catalogue's order.
	return slices.MaxFunc(c.allowed(), func(a, b candidate) int { return cmp.Compare(a.score, b.score) })
}

// alternatives are two themes that suit as well as they can and differ from
// what is chosen already.
func (c *choice) alternatives(primary candidate) []candidate {
	chosen := []candidate{primary}
	for len(chosen) < 3 {
		pool := slices.DeleteFunc(c.allowed(), func(k candidate) bool {
			return slices.ContainsFunc(chosen, func(o candidate) bool { return o.Name == k.Name })
		})
		if len(pool) == 0 {
			break
		}
		worth := func(k candidate) float64 { return k.score + 0.3*apart(k, chosen) + c.newlyAccepted(k, chosen) }
		if scheme := c.missing(chosen); scheme != "" && len(chosen) == 2 {
			if of := slices.DeleteFunc(slices.Clone(pool), func(k candidate) bool { return k.Scheme != scheme }); len(of) > 0 {
				pool = of
				// The same theme by night, rather than any dark one.
				worth = func(k candidate) float64 {
					return k.score + 0.5*(1-distance(primary.look.without(lookDarkness), k.look))
				}
			}
		}
		chosen = append(chosen, slices.MaxFunc(pool, func(a, b candidate) int { return cmp.Compare(worth(a), worth(b)) }))
	}
	return chosen[1:]
}

// missing is the scheme that the three must show and do not yet, "" for none.
func (c *choice) missing(chosen []candidate) string {
	has := func(scheme string) bool {
		return slices.ContainsFunc(chosen, func(k candidate) bool { return k.Scheme == scheme })
	}
	switch {
	case !has("light"):
		return "light"
	case !has("dark") && !c.printed():
		return "dark"
	}
	return ""
}

// printed tells whether the document is of a type that is put on paper.
func (c *choice) printed() bool {
	share := 0.0
	for _, b := range c.belief {
		if b.print {
			share += b.share
		}
	}
	return share >= 0.5
}

// apart is the distance to the nearest of those chosen, 0 to 1.
func apart(k candidate, chosen []candidate) float64 {
	least := 1.0
	for _, o := range chosen {
		least = min(least, distance(o.look, k.look))
	}
	return least
}

// newlyAccepted is how probable the types are that may have this theme and none
// of those chosen.
func (c *choice) newlyAccepted(k candidate, chosen []candidate) float64 {
	sum := 0.0
	for _, b := range c.belief {
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

// confidence is how often a choice like this one suits, 0 to 1, in hundredths.
func (c *choice) confidence(primary candidate) float64 {
	raw := primary.accepted
	if c.steer.Mood != "" && slices.Contains(c.tone.accept, primary.twin) {
		raw = max(raw, 0.95)
	}
	v := c.rules.calibrate(raw)
	if c.cautious {
		v = min(v, cautiousLimit)
	}
	return math.Round(v*100) / 100
}

// calibrate makes a frequency of what was believed.
func (r *themeRules) calibrate(raw float64) float64 {
	const edge = 0.01
	raw = min(max(raw, edge), 1-edge)
	return 1 / (1 + math.Exp(-(r.slope*math.Log(raw/(1-raw)) + r.intercept)))
}
