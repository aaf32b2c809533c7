package evaluate

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"presswork/internal/analysis"
	"presswork/internal/analysis/recommend"
	"presswork/themes"
	"presswork/tools/train"
)

// suits returns the themes that a document of a type may have and those that it must not have. It was written
// before recommend/data/themes.txt and is not read by the program. "@dark" means every dark theme.
func suits() map[string]struct{ accept, never string } {
	const dark, loud = "@dark ", "cyberpunk acid valentine halloween "
	paper := struct{ accept, never string }{
		"light corporate winter nord lofi silk emerald autumn",
		"cyberpunk acid synthwave halloween valentine cupcake",
	}
	personal := struct{ accept, never string }{
		"corporate light silk lofi winter nord emerald",
		dark + "cyberpunk acid valentine retro pastel halloween",
	}
	rules := struct{ accept, never string }{
		"light corporate lofi silk winter nord",
		dark + "cupcake bumblebee cyberpunk acid valentine lemonade",
	}
	work := struct{ accept, never string }{"light corporate nord winter emerald silk wireframe", loud}
	software := struct{ accept, never string }{
		"nord light winter dim night dracula dark emerald corporate lofi black",
		"valentine halloween cupcake cyberpunk",
	}
	blog := struct{ accept, never string }{
		"silk light nord emerald lemonade winter autumn caramellatte retro garden fantasy",
		"",
	}
	literature := struct{ accept, never string }{
		"silk caramellatte retro autumn fantasy luxury coffee night lofi sunset",
		"corporate business wireframe cmyk acid",
	}

	return map[string]struct{ accept, never string }{
		"resume":        personal,
		"letter":        personal,
		"invoice":       personal,
		"legal":         rules,
		"governance":    rules,
		"paper":         paper,
		"report":        paper,
		"rfc":           work,
		"meeting_notes": work,
		"contributing":  work,
		"proposal":      work,
		"readme":        software,
		"changelog":     software,
		"api_reference": software,
		"tutorial":      software,
		"blog_post":     blog,
		"newsletter":    blog,
		"story":         literature,
		"poem":          literature,
		"essay":         literature,
		"recipe": {
			"caramellatte autumn retro lemonade cupcake garden coffee silk bumblebee",
			"business cyberpunk synthwave black abyss",
		},
		"bio": {"silk light emerald nord winter lofi corporate autumn", loud},
	}
}

// themeChoice is the recommendation for a document whose type was predicted by a model that was not trained on it.
type themeChoice struct {
	group        string
	own          bool
	confidence   float64
	capped       bool // the text is too short to choose by, so the recommender limits the confidence
	first, anyOf bool
	// expected reports whether the theme is the expected one, and leading whether that is among the first three.
	// offending reports whether the theme or an alternative is forbidden.
	expected, leading, offending, never, example bool
}

// themeChoices returns the recommendation for every predicted document whose type is in suits.
func themeChoices(predictions []prediction) ([]themeChoice, error) {
	catalogue := themes.Open(themes.Options{})
	var list []recommend.ThemeInfo
	schemes := map[string]string{}

	for _, t := range catalogue.List() {
		list = append(list, recommend.ThemeInfo{Name: t.Name, Scheme: t.Scheme, Colors: t.Colors, Tags: t.Tags})
		schemes[t.Name] = t.Scheme
	}
	recommender := recommend.NewRules()
	var choices []themeChoice

	for _, p := range predictions {
		suit, ok := suits()[p.document.Type]
		if !ok {
			continue
		}
		found := analysis.Examine(p.document.Markdown)

		found.Types = found.Types[:0:0]
		for i, name := range analysis.DocumentTypes() {
			found.Types = append(found.Types, analysis.TypeProbability{Type: name, Probability: p.probabilities[i]})
		}
		slices.SortStableFunc(
			found.Types,
			func(a, b analysis.TypeProbability) int { return cmp.Compare(b.Probability, a.Probability) },
		)
		found.DocumentType = found.Types[0].Type
		profile := recommender.Profile(found)
		rec := recommender.Recommend(profile, list, recommend.Preference{})
		accept, never := strings.Fields(suit.accept), strings.Fields(suit.never)
		refused := func(name string) bool {
			return slices.Contains(never, name) || schemes[name] == "dark" && slices.Contains(never, "@dark")
		}
		sure := func(f analysis.Findings) bool { return f.Types[0].Type == p.document.Type }

		c := themeChoice{
			group:      p.document.Group,
			own:        p.document.Own,
			confidence: rec.Confidence,
			capped:     recommend.Cautious(profile, recommend.Preference{}),
			first:      slices.Contains(accept, rec.Primary),
			expected:   accept[0] == rec.Primary,
			leading:    slices.Contains(accept[:3], rec.Primary),
			example:    slices.Contains(accept, themes.Default),
		}
		for _, name := range append([]string{rec.Primary}, rec.Alternatives...) {
			c.anyOf = c.anyOf || slices.Contains(accept, name)
			c.offending = c.offending || refused(name) && sure(found)
		}
		c.never = refused(rec.Primary)
		choices = append(choices, c)
	}

	return choices, nil
}

// themeGoals measures the choice of a theme.
func themeGoals(corpus string) ([]Row, error) {
	documents, err := Documents(corpus)
	if err != nil {
		return nil, err
	}

	all, err := themeChoices(crossCalibrated(heldOut(documents, train.FitTypes)))
	if err != nil {
		return nil, err
	}
	given := slices.DeleteFunc(slices.Clone(all), func(c themeChoice) bool { return c.own })
	own := slices.DeleteFunc(slices.Clone(all), func(c themeChoice) bool { return !c.own })
	first := func(c themeChoice) bool { return c.first }

	return []Row{
		AtLeast("theme, in the acceptable set", shareOf(given, first), 0.90),
		AtLeast(
			"theme, better than always "+themes.Default+" by",
			shareOf(given, first)-shareOf(given, func(c themeChoice) bool { return c.example }),
			0.05,
		),
		AtLeast("theme, any of three acceptable", shareOf(given, func(c themeChoice) bool { return c.anyOf }), 0.98),
		AtLeast("theme, the expected one", shareOf(given, func(c themeChoice) bool { return c.expected }), 0.75),
		AtMost(
			"theme or alternative, in the never set of a type that was found",
			shareOf(all, func(c themeChoice) bool { return c.offending }),
			0,
		),
		AtMost("theme, in the never set", shareOf(given, func(c themeChoice) bool { return c.never }), 0.01),
		AtLeast("theme, in the acceptable set, own samples", shareOf(own, first), 0.90),
		AtLeast(
			"theme, among the first three of its set",
			shareOf(given, func(c themeChoice) bool { return c.leading }),
			0.85,
		),
		AtMost(
			"theme, expected calibration error where the text says enough",
			themeCalibrationError(uncapped(given)),
			0.05,
		),
	}, nil
}

// uncapped removes choices for texts that are too short to choose by. Their confidence is limited, so it does not
// measure calibration.
func uncapped(choices []themeChoice) []themeChoice {
	return slices.DeleteFunc(slices.Clone(choices), func(c themeChoice) bool { return c.capped })
}

// shareOf returns the share of choices for which the condition is true.
func shareOf(choices []themeChoice, is func(themeChoice) bool) float64 {
	n := 0.0

	for _, c := range choices {
		if is(c) {
			n++
		}
	}

	return n / float64(max(len(choices), 1))
}

// themeCalibrationError returns the expected calibration error of the choices in ten bins.
func themeCalibrationError(choices []themeChoice) float64 {
	var confidence, right [10]float64

	for _, c := range choices {
		bin := min(9, int(c.confidence*10))

		confidence[bin] += c.confidence
		if c.first {
			right[bin]++
		}
	}

	sum := 0.0
	for bin := range confidence {
		sum += math.Abs(confidence[bin] - right[bin])
	}

	return sum / float64(max(len(choices), 1))
}
