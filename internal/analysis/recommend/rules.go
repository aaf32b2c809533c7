package recommend

import (
	"cmp"
	"slices"

	"presswork/internal/analysis"
	"presswork/internal/analysis/finding"
)

// Profile holds the findings that the choice of a theme depends on. It is small, so that it can be cached.
type Profile struct {
	// Analysis is the analysis without a recommendation.
	finding.Analysis
	// Words, Types, Evidence and ToneStrength are those of analysis.Findings.
	Words        int                        `json:"words"`
	Types        []analysis.TypeProbability `json:"types"`
	Evidence     []string                   `json:"evidence"`
	ToneStrength float64                    `json:"tone_strength"`
	// Topics are the document's topics for which special themes exist, the strongest first.
	Topics []Topic `json:"topics"`
}

// Topic is a subject and the strength, 0 to 1, with which a document is about it.
type Topic struct {
	Name     string  `json:"name"`
	Strength float64 `json:"strength"`
}

// ThemeInfo describes a theme to the rules.
type ThemeInfo struct {
	Name string `json:"name"`
	// Scheme is light or dark.
	Scheme string `json:"scheme"`
	// Colors are "#rrggbb" by name; base_100, primary, secondary and accent count.
	Colors map[string]string `json:"colors"`
	Tags   []string          `json:"tags"`
	// Custom reports whether the theme is not built in. A custom theme is scored by its colours and tags.
	Custom bool `json:"custom"`
}

// NewRules parses the embedded data. It panics if the data is invalid, which a test rules out.
func NewRules() *Rules {
	rules, err := parseRules(themeData)
	if err != nil {
		panic(err) // the data is compiled in; the tests read it
	}

	return rules
}

// Limits below which a text has too little evidence.
const (
	enoughWords   = 75  // the number of words from which a text is not short
	clearTypeFrom = 0.8 // the probability of the type from which fewer words are enough
	cautiousLimit = 0.5 // the highest confidence for a text with too little evidence
	fallbackTheme = "light"
)

// A theme that some document types must not have is excluded if one of these types, or all together, reach the
// probability forbiddenFrom. For themes of an occasion that fills the text, the limit is occasionTolerance.
const (
	forbiddenFrom     = 0.10
	occasionTolerance = 0.50
)

// Recommend chooses a theme and two alternatives from the list, which is in the order of the catalogue. Values of
// s replace those of the analysis. The alternatives differ from the choice. One of the three is light and, for
// documents read on screens, one is dark.
func (r *Rules) Recommend(p Profile, list []ThemeInfo, s Preference) finding.Recommendation {
	return r.recommend(p, list, s, "")
}

// recommend is Recommend with the theme of a series, which is chosen unless the document must not have it.
func (r *Rules) recommend(p Profile, list []ThemeInfo, s Preference, theme string) finding.Recommendation {
	c := r.newChoice(p, list, s)
	if len(c.candidates) == 0 {
		return finding.Recommendation{Alternatives: []string{}, Reasons: []string{"there are no themes"}}
	}

	primary := c.primary()
	if i := slices.IndexFunc(c.allowed(), func(k candidate) bool { return k.Name == theme }); i >= 0 {
		primary = c.allowed()[i]
	}
	alternatives := c.alternatives(primary)

	rec := finding.Recommendation{Primary: primary.Name, Alternatives: []string{}, Confidence: c.confidence(primary)}
	for _, a := range alternatives {
		rec.Alternatives = append(rec.Alternatives, a.Name)
	}
	rec.Reasons = c.reasons(primary, alternatives)

	return rec
}

// Rank returns the themes for a document, the best first. The first three are those of Recommend.
func (r *Rules) Rank(p Profile, list []ThemeInfo, s Preference) []string {
	c := r.newChoice(p, list, s)
	if len(c.candidates) == 0 {
		return nil
	}
	primary := c.primary()
	best := append([]candidate{primary}, c.alternatives(primary)...)
	rest := slices.DeleteFunc(c.candidates, func(k candidate) bool {
		return slices.ContainsFunc(best, func(o candidate) bool { return o.Name == k.Name })
	})
	slices.SortStableFunc(rest, func(a, b candidate) int {
		// Excluded themes come last.
		if a, b := a.forbidden >= forbiddenFrom, b.forbidden >= forbiddenFrom; a != b {
			if a {
				return 1
			}

			return -1
		}

		return cmp.Compare(b.score, a.score)
	})

	names := make([]string, 0, len(list))
	for _, k := range append(best, rest...) {
		names = append(names, k.Name)
	}

	return names
}

// Cautious reports whether a text has too little evidence for a choice. It then gets the theme that suits most
// documents, with a confidence of at most one half. A short text, or one in an unknown language, is enough if it
// is clearly an invoice or a poem. A text of unclear type is not enough, however long it is.
func Cautious(p Profile, s Preference) bool {
	return s == Preference{} && (terse(p) && !typeClear(p) || typeUnclear(p))
}

// typeUnclear reports whether no document type is probable enough to be reported.
func typeUnclear(p Profile) bool {
	return len(p.Types) > 0 && p.Types[0].Probability < analysis.LeastConfidence
}

// terse reports whether the text is short or in an unknown language.
func terse(p Profile) bool {
	return p.Words < enoughWords || p.Language == "" || p.Language == "und"
}

// typeClear reports whether the document clearly has one of the known types.
func typeClear(p Profile) bool {
	return len(p.Types) > 0 && p.Types[0].Type != analysis.OtherType && p.Types[0].Probability >= clearTypeFrom
}
