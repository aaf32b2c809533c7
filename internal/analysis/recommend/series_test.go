package recommend

import (
	"slices"
	"testing"

	"presswork/internal/analysis"
)

// undecided returns the profile of a document of one of two types, the first a little more probable.
func undecided(first, second string) Profile {
	p := sure(first)
	p.Types = []analysis.TypeProbability{
		{Type: first, Probability: 0.5},
		{Type: second, Probability: 0.45},
		{Type: "other", Probability: 0.05},
	}

	return p
}

func TestDocumentsOfASeriesKeepTheirType(t *testing.T) {
	t.Parallel()

	for _, row := range []struct {
		name     string
		document Profile
		others   []Profile
		want     string
	}{
		{"an unclear post among posts", undecided("tutorial", "blog_post"), []Profile{sure("blog_post"), sure("blog_post")}, "blog_post"},
		{"a clear README among posts", sure("readme"), []Profile{sure("blog_post"), sure("blog_post")}, "readme"},
		{"two documents are no series", undecided("tutorial", "blog_post"), []Profile{sure("blog_post")}, "tutorial"},
	} {
		t.Run(row.name, func(t *testing.T) {
			profiles := append([]Profile{row.document}, row.others...)
			NewRules().series(profiles, catalogue(t), Preference{})

			p := profiles[0]
			if p.DocumentType != row.want {
				t.Errorf("got %s with %v, want %s", p.DocumentType, p.Types, row.want)
			}

			if p.Types[0].Probability > maxConfidence {
				t.Errorf("got a probability of %.3f, want at most %.2f", p.Types[0].Probability, maxConfidence)
			}
		})
	}
}

func TestDocumentsOfASeriesShareATheme(t *testing.T) {
	t.Parallel()
	warm := sure("blog_post")
	warm.EmotionalTone, warm.ToneStrength = "nostalgic", 0.9
	r := NewRules()

	if alone := r.Recommend(warm, catalogue(t), Preference{}); alone.Primary == "silk" {
		t.Fatalf("got %+v for a nostalgic post alone, want another theme than silk", alone)
	}
	advice := r.series([]Profile{sure("blog_post"), warm, sure("blog_post"), sure("legal")}, catalogue(t), Preference{})

	for i, want := range []string{"silk", "silk", "silk", "light"} {
		if rec := advice[i]; rec.Primary != want || slices.Contains(rec.Alternatives, want) {
			t.Errorf("document %d: got %+v, want %s", i, rec, want)
		}
	}

	const reason = "the documents of this type in its folder share a theme"
	if !slices.Contains(advice[1].Reasons, reason) || slices.Contains(advice[0].Reasons, reason) {
		t.Errorf("got reasons %q and %q, want %q for the second only", advice[0].Reasons, advice[1].Reasons, reason)
	}
}
