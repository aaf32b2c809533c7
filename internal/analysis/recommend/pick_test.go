package recommend

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"presswork/internal/analysis"
	"presswork/internal/analysis/finding"
	"presswork/themes"
)

func TestToneTopicAndFormalityChangeTheTheme(t *testing.T) {
	t.Parallel()
	r := NewRules()
	profile := func(docType string, change func(*Profile)) Profile {
		p := sure(docType)
		change(&p)

		return p
	}

	tone := func(name string) func(*Profile) {
		return func(p *Profile) { p.EmotionalTone, p.ToneStrength = name, 0.9 }
	}
	for name, c := range map[string]struct {
		p    Profile
		want string
	}{
		"ghost story":       {profile("story", tone("dark")), "night"},
		"love poem":         {profile("poem", func(p *Profile) { tone("romantic")(p); p.Topics = []Topic{{"love", 1}} }), "sunset"},
		"halloween party":   {profile("other", func(p *Profile) { tone("playful")(p); p.Topics = []Topic{{"halloween", 1}} }), "halloween"},
		"formal letter":     {profile("letter", func(p *Profile) { p.Formality = finding.Leaning{Label: "formal", Score: 0.9} }), "corporate"},
		"solemn essay":      {profile("essay", tone("solemn")), "autumn"},
		"children's recipe": {profile("recipe", func(p *Profile) { tone("playful")(p); p.Topics = []Topic{{"children", 1}} }), "cupcake"},
		"playful contract":  {profile("legal", tone("playful")), "light"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := r.Recommend(c.p, catalogue(t), Preference{}); got.Primary != c.want {
				t.Errorf("got %+v, want %s", got, c.want)
			}
		})
	}
}

func TestPreferencesReplaceTheAnalysis(t *testing.T) {
	t.Parallel()
	r := NewRules()
	list := catalogue(t)

	resume := sure("resume")
	for _, mood := range Moods() {
		rec := r.Recommend(resume, list, Preference{Mood: mood})
		if !slices.Contains(r.tones[mood].accept, rec.Primary) {
			t.Errorf("mood %s: theme %s, want one of %v", mood, rec.Primary, r.tones[mood].accept)
		}
	}

	if rec := r.Recommend(resume, list, Preference{Mood: "dark"}); rec.Primary != "night" && rec.Primary != "business" {
		t.Errorf("a dark résumé gets %s, want night or business", rec.Primary)
	}

	rec := r.Recommend(resume, list, Preference{Mood: "romantic"})
	if rec.Primary == "valentine" || rec.Primary == "sunset" {
		t.Errorf("a romantic résumé gets %s, want neither valentine nor sunset", rec.Primary)
	}

	short := Profile{Analysis: finding.Analysis{DocumentType: "readme", Language: "und"}, Words: 3}
	for _, name := range slices.Concat(analysis.DocumentTypes(), analysis.DocumentFamilies()) {
		rec := r.Recommend(short, list, Preference{Type: name})

		members := r.typesOf(name)
		if !slices.ContainsFunc(r.types, func(rule typeRule) bool {
			return slices.Contains(members, rule.name) && slices.Contains(rule.accept, rec.Primary)
		}) {
			t.Errorf("type %s: theme %s, want one that its rules accept", name, rec.Primary)
		}
	}
	// Without a document.
	if rec := r.Recommend(Profile{}, list, Preference{Mood: "creative"}); rec.Primary != "cmyk" {
		t.Errorf("mood creative: got %+v, want cmyk", rec)
	}
}

func TestUnknownTypeGetsTheDefaultTheme(t *testing.T) {
	t.Parallel()
	r := NewRules()
	short, foreign := sure(analysis.OtherType), sure(analysis.OtherType)

	short.Words, foreign.Language = 40, "und"
	for reason, p := range map[string]Profile{"40 words": short, "the language is unknown": foreign} {
		rec := r.Recommend(p, catalogue(t), Preference{})
		if rec.Primary != "light" || rec.Confidence > 0.5 || !strings.Contains(rec.Reasons[0], reason) {
			t.Errorf("got %+v, want light with a confidence of at most 0.5 and the reason %q", rec, reason)
		}
	}
}

func TestShortTextOfAClearTypeGetsItsTheme(t *testing.T) {
	t.Parallel()
	r := NewRules()
	last := 0.5

	for _, words := range []int{14, 40, 70} {
		t.Run(fmt.Sprint(words), func(t *testing.T) {
			haiku := sure("poem")
			haiku.Words = words

			rec := r.Recommend(haiku, catalogue(t), Preference{})
			if rec.Primary != "silk" || rec.Confidence <= last || rec.Confidence > 0.97 {
				t.Errorf("%d words: got %+v, want silk with a confidence above %.2f", words, rec, last)
			}
			last = rec.Confidence
		})
	}
	foreign := sure("poem")

	foreign.Language = "und"
	if rec := r.Recommend(foreign, catalogue(t), Preference{}); rec.Primary != "silk" || rec.Confidence > 0.5 {
		t.Errorf("in an unknown language: got %+v, want silk with a confidence of at most 0.5", rec)
	}
}

func TestTopicOfAShortInvitationChoosesItsTheme(t *testing.T) {
	t.Parallel()
	r := NewRules()
	invitation := []byte(
		"# Spooky night\n\nGhosts, witches and vampires! On Halloween the haunted mill opens its graveyard. A pumpkin for every costume, candy for the little monsters. Happy Halloween!\n",
	)

	p := r.Profile(analysis.Examine(invitation))
	if rec := r.Recommend(p, catalogue(t), Preference{}); rec.Primary != "halloween" {
		t.Errorf("got %+v for type %s and topics %v, want halloween", rec, p.DocumentType, p.Topics)
	}
}

func TestTagsOfTheAuthorChooseTheTopic(t *testing.T) {
	t.Parallel()
	r := NewRules()
	text := strings.Repeat("We walked from the mill to the old bridge and then went home. ", 20)

	for _, row := range []struct {
		name, tags, docType, want string
	}{
		{"none", "[walks]", "blog_post", "silk"},
		{"a topic", "[walks, Autumn]", "blog_post", "autumn"},
		{"a topic that the type forbids", "[love]", "resume", "corporate"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := sure(row.docType)

			p.Topics = r.Profile(analysis.Examine([]byte("---\ntags: " + row.tags + "\n---\n\n" + text))).Topics
			if rec := r.Recommend(p, catalogue(t), Preference{}); rec.Primary != row.want {
				t.Errorf("got %+v for topics %v, want %s", rec, p.Topics, row.want)
			}
		})
	}
}

func TestNoAlternativeIsForbiddenByALikelyType(t *testing.T) {
	t.Parallel()
	r := NewRules()
	list := catalogue(t)

	for _, first := range r.types {
		for _, second := range r.types {
			p := sure(first.name)
			p.Types = []analysis.TypeProbability{
				{Type: first.name, Probability: 0.6},
				{Type: second.name, Probability: 0.3},
				{Type: "other", Probability: 0.1},
			}

			rec := r.Recommend(p, list, Preference{})
			for _, name := range append(rec.Alternatives, rec.Primary) {
				i := slices.IndexFunc(list, func(k ThemeInfo) bool { return k.Name == name })
				for _, rule := range []typeRule{first, second} {
					if slices.Contains(rule.never, name) && name != darkWord ||
						rule.neverDark && list[i].Scheme == "dark" {
						t.Errorf(
							"probably %s, perhaps %s: recommended %s, which %s forbids",
							first.name,
							second.name,
							name,
							rule.name,
						)
					}
				}
			}
		}
	}
}

func TestThemeIsDarkOnlyForAReason(t *testing.T) {
	t.Parallel()
	r := NewRules()
	list := catalogue(t)
	dark := func(name string) bool {
		return list[slices.IndexFunc(list, func(k ThemeInfo) bool { return k.Name == name })].Scheme == "dark"
	}

	for _, rule := range r.types {
		for _, tone := range analysis.Tones() {
			p := sure(rule.name)
			p.EmotionalTone, p.ToneStrength = tone, 0.95

			rec := r.Recommend(p, list, Preference{})
			if suitsDark := tone == "dark" || tone == "luxurious"; dark(rec.Primary) && !suitsDark {
				t.Errorf("a %s %s gets the dark theme %s", tone, rule.name, rec.Primary)
			}
		}
	}
	ghost := sure("story")

	ghost.EmotionalTone, ghost.ToneStrength = "dark", 0.9
	if rec := r.Recommend(ghost, list, Preference{}); !dark(rec.Primary) {
		t.Errorf("a ghost story gets %s, want a dark theme", rec.Primary)
	}
}

func TestThemeIsNotSurerThanTheTypesAllow(t *testing.T) {
	t.Parallel()
	rules := NewRules()
	list := themeInfos(themes.Open(themes.Options{}).List())

	for _, row := range []struct {
		name          string
		first, second float64
		limit         float64
	}{
		{"two types alike", 0.48, 0.45, 0.75},
		{"one type clear", 0.93, 0.04, 0.97},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			found := analysis.Examine([]byte(strings.Repeat("The quarter went well and the plant grew again. ", 40)))
			found.Types = []analysis.TypeProbability{
				{Type: "report", Probability: row.first}, {Type: "paper", Probability: row.second},
			}
			found.DocumentType = "report"

			rec := rules.Recommend(rules.Profile(found), list, Preference{})
			if rec.Confidence > row.limit {
				t.Errorf("confidence %.2f, want at most %.2f: %q", rec.Confidence, row.limit, rec.Reasons)
			}

			said := strings.Contains(strings.Join(rec.Reasons, "\n"), "unsure between")
			if said != (row.second > 0.4) {
				t.Errorf("unsure %v: %q", said, rec.Reasons)
			}
		})
	}
}

func TestThemesOfOneChoiceLookDifferent(t *testing.T) {
	t.Parallel()
	r := NewRules()
	list := catalogue(t)

	for _, rule := range r.types {
		t.Run(rule.name, func(t *testing.T) {
			t.Parallel()

			for _, tone := range analysis.Tones() {
				p := sure(rule.name)
				p.EmotionalTone, p.ToneStrength = tone, 0.9
				rec := r.Recommend(p, list, Preference{})

				names := append([]string{rec.Primary}, rec.Alternatives...)
				for i, a := range names {
					for _, b := range names[i+1:] {
						if d := distance(r.looks[a], r.looks[b]); d < leastDifference {
							t.Errorf("a %s %s gets %v: %s and %s differ by only %.2f", tone, rule.name, names, a, b, d)
						}
					}
				}
			}
		})
	}
}
