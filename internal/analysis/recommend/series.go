package recommend

import (
	"cmp"
	"math"
	"slices"

	"presswork/internal/analysis"
	"presswork/internal/analysis/finding"
)

// MinSeries is the number of documents from which those of a folder are a series.
const MinSeries = 3

// strangerShare is the weight of a type that no other document of a series has. A document keeps such a type if its
// text clearly shows it, as a README among posts does.
const strangerShare = 0.2

// series recommends themes for the documents of one folder and brings their types into line. From MinSeries documents
// on, those of one type get the theme that suits most of them.
func (r *Rules) series(profiles []Profile, list []ThemeInfo, s Preference) []finding.Recommendation {
	if len(profiles) >= MinSeries {
		alignTypes(profiles)
	}
	advice, votes := make([]finding.Recommendation, len(profiles)), map[string]map[string]float64{}

	for i, p := range profiles {
		advice[i] = r.Recommend(p, list, s)

		if votes[p.DocumentType] == nil {
			votes[p.DocumentType] = map[string]float64{}
		}
		votes[p.DocumentType][advice[i].Primary] += advice[i].Confidence
	}

	for i, p := range profiles {
		theme := favourite(votes[p.DocumentType])
		if len(profiles) < MinSeries || advice[i].Primary == theme || p.DocumentType == analysis.OtherType {
			continue
		}

		if shared := r.recommend(p, list, s, theme); shared.Primary == theme {
			advice[i] = shared
			advice[i].Reasons = append(advice[i].Reasons, "the documents of this type in its folder share a theme")
		}
	}

	return advice
}

// favourite returns the theme with the most votes, the first by name among equals.
func favourite(votes map[string]float64) (theme string) {
	for name, sum := range votes {
		if sum > votes[theme] || sum == votes[theme] && name < theme {
			theme = name
		}
	}

	return theme
}

// alignTypes multiplies the probability of each type by its mean over the other documents, and sets the types of the
// profiles accordingly.
func alignTypes(profiles []Profile) {
	sum := map[string]float64{}

	for _, p := range profiles {
		for _, t := range p.Types {
			sum[t.Type] += t.Probability
		}
	}

	for i := range profiles {
		p, total := &profiles[i], 0.0
		if len(p.Types) == 0 {
			continue
		}
		p.Types = slices.Clone(p.Types)

		for k, t := range p.Types {
			others := max(0, sum[t.Type]-t.Probability) / float64(len(profiles)-1)
			p.Types[k].Probability *= strangerShare + (1-strangerShare)*others
			total += p.Types[k].Probability
		}

		for k := range p.Types {
			p.Types[k].Probability = min(maxConfidence, p.Types[k].Probability/total)
		}
		slices.SortStableFunc(p.Types, func(a, b analysis.TypeProbability) int {
			return cmp.Compare(b.Probability, a.Probability)
		})
		p.retype(p.Types[0])
	}
}

// retype sets the document type. The evidence for another type does not support it.
func (p *Profile) retype(top analysis.TypeProbability) {
	if top.Probability < analysis.LeastConfidence || p.Words == 0 {
		return
	}

	if p.DocumentType != top.Type {
		p.DocumentType, p.Evidence = top.Type, nil
	}
	p.TypeConfidence = math.Round(100*top.Probability) / 100
}
