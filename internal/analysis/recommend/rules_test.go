package recommend

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"presswork/internal/analysis"
	"presswork/internal/analysis/finding"
	"presswork/internal/fault"
)

// list is the built-in catalogue as far as a choice looks at it.
func catalogue(t *testing.T, custom ...ThemeInfo) []ThemeInfo {
	t.Helper()
	dark := []string{
		"dark",
		"synthwave",
		"halloween",
		"forest",
		"aqua",
		"black",
		"luxury",
		"dracula",
		"business",
		"night",
		"coffee",
		"dim",
		"sunset",
		"abyss",
	}
	var list []ThemeInfo

	for line := range strings.Lines(themeData) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != "theme" {
			continue
		}

		info := ThemeInfo{Name: words[1], Scheme: "light"}
		if slices.Contains(dark, info.Name) {
			info.Scheme = "dark"
		}
		list = append(list, info)
	}

	if len(list) != 35 {
		t.Fatalf("%d themes have a look, want 35", len(list))
	}

	return append(list, custom...)
}

// sure is the profile of a long English document of a type.
func sure(docType string) Profile {
	return Profile{Analysis: finding.Analysis{
		DocumentType: docType, Language: "en", EmotionalTone: "neutral",
		Formality: finding.Leaning{Label: "neutral", Score: 0.5},
	}, Words: 900, Types: []analysis.TypeProbability{{Type: docType, Probability: 0.95}, {Type: "other", Probability: 0.05}}}
}

func TestThemeRulesNameThemesThatExist(t *testing.T) {
	t.Parallel()

	rules, err := parseRules(themeData)
	if err != nil {
		t.Fatal(err)
	}

	check := func(of string, names []string) {
		for _, name := range names {
			if _, ok := rules.looks[name]; !ok {
				t.Errorf("%s: %q is no theme", of, name)
			}
		}
	}
	for _, docType := range rules.types {
		check(docType.name, slices.Concat(docType.accept, docType.never))

		for when, names := range docType.first {
			check(docType.name+" "+when, names)

			for _, name := range names {
				if slices.Contains(docType.never, name) {
					t.Errorf("%s %s: %s is put first and must never be", docType.name, when, name)
				}
			}
		}
	}

	for _, mood := range Moods() {
		if len(rules.tones[mood].accept) == 0 {
			t.Errorf("no theme carries %s", mood)
		}
		check(mood, rules.tones[mood].accept)
	}

	for _, topic := range rules.topics {
		check(topic.name, topic.accept)
	}

	for _, family := range analysis.DocumentFamilies() {
		for _, docType := range rules.families[family] {
			if !slices.Contains(analysis.DocumentTypes(), docType) {
				t.Errorf("%s: %q is no document type", family, docType)
			}
		}

		if len(rules.families[family]) == 0 {
			t.Errorf("%s has no types", family)
		}
	}
}

func TestThemeRulesSayWhichLineIsWrong(t *testing.T) {
	t.Parallel()

	for data, says := range map[string]string{
		"theme x 1 2 3":                "txt:1: want 6 attributes",
		"\ntheme x 1 2 3 4 5 11":       `txt:2: "11" is not a number`,
		"type memo print 1":            "type memo",
		"type legal print 1\n  glad x": `txt:2: "glad" is neither`,
		"tune x":                       `"tune" is not known`,
		"":                             "type readme is missing",
	} {
		t.Run(data, func(t *testing.T) {
			if _, err := parseRules(data); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%q: %v; want %q", data, err, says)
			}
		})
	}
}

func TestATypeGetsAThemeThatSuitsIt(t *testing.T) {
	t.Parallel()
	r := NewRules()

	list := catalogue(t)
	for _, rule := range r.types {
		rec := r.Recommend(sure(rule.name), list, Preference{})
		if rec.Primary != rule.accept[0] || rec.Confidence < 0.75 ||
			rec.Confidence < 0.9 && rule.name != analysis.OtherType || len(rec.Alternatives) != 2 ||
			len(rec.Reasons) == 0 {
			t.Errorf("%s: %+v, want %s", rule.name, rec, rule.accept[0])
		}
		var schemes []string

		for _, name := range append(rec.Alternatives, rec.Primary) {
			i := slices.IndexFunc(list, func(k ThemeInfo) bool { return k.Name == name })

			schemes = append(schemes, list[i].Scheme)
			if slices.Contains(rule.never, name) && name != "dark" || rule.neverDark && list[i].Scheme == "dark" {
				t.Errorf("%s: %s is offered and must never be", rule.name, name)
			}
		}

		if slices.Contains(schemes, "dark") == rule.print || !slices.Contains(schemes, "light") {
			t.Errorf("%s: schemes %v, print %v", rule.name, schemes, rule.print)
		}
	}
}

func TestCustomThemesTakePartByTheirColoursAndTags(t *testing.T) {
	t.Parallel()
	r := NewRules()
	house := ThemeInfo{
		Name:   "house",
		Scheme: "light",
		Custom: true,
		Colors: map[string]string{
			"base_100":  "#ffffff",
			"primary":   "#0a6ea8",
			"secondary": "#5b6b7b",
			"accent":    "#3f7f9f",
		},
	}

	wild := ThemeInfo{
		Name:   "wild",
		Scheme: "light",
		Custom: true,
		Colors: map[string]string{
			"base_100":  "#fff000",
			"primary":   "#ff00aa",
			"secondary": "#00ffcc",
			"accent":    "#ff5500",
		},
	}

	rec := r.Recommend(sure("report"), catalogue(t, house, wild), Preference{})
	if !slices.Contains(append(rec.Alternatives, rec.Primary), "house") {
		t.Errorf("a sober blue theme is not among %+v", rec)
	}

	for _, docType := range []string{"report", "legal", "resume"} {
		t.Run(docType, func(t *testing.T) {
			rec := r.Recommend(sure(docType), catalogue(t, wild), Preference{})
			if slices.Contains(append(rec.Alternatives, rec.Primary), "wild") {
				t.Errorf("%s: a shouting theme is among %+v", docType, rec)
			}
		})
	}
	house.Tags = []string{"report"}

	rec = r.Recommend(sure("report"), catalogue(t, house), Preference{})
	if rec.Primary != "house" || !strings.Contains(strings.Join(rec.Reasons, "; "), "custom theme") {
		t.Errorf("a theme tagged for reports is not chosen: %+v", rec)
	}
}

func TestAPreferenceIsCheckedAndForgiving(t *testing.T) {
	t.Parallel()

	s, err := ParsePreference(" Creative", "API-Reference")
	if err != nil || s != (Preference{"creative", "api_reference"}) {
		t.Errorf("%+v, %v", s, err)
	}

	for i, c := range []struct{ mood, docType, param, says string }{
		{"creativ", "", "mood", `did you mean "creative"?`},
		{"", "resumee", "doc_type", `did you mean "resume"?`},
		{"", "zzz", "doc_type", "or a family: software"},
		{strings.Repeat("x", 500), "", "mood", "…"},
	} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			_, err := ParsePreference(c.mood, c.docType)

			e := fault.AsError(err)
			if e == nil || e.Code != fault.InvalidOption || e.Param != c.param ||
				!strings.Contains(e.Message, c.says) || len(e.Message) > 500 {
				t.Errorf("%+v: %v", c, err)
			}
		})
	}
}

func TestColoursTellALook(t *testing.T) {
	t.Parallel()

	c, ok := parseOKLCH("#ff0000")
	if !ok || math.Abs(c.lightness-0.628) > 0.002 || math.Abs(c.chroma-0.258) > 0.002 || math.Abs(c.hue-29.2) > 0.2 {
		t.Errorf("red is %+v", c)
	}

	for i, bad := range []string{"", "#fff", "red", "#gggggg", "#1234567"} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			if _, ok := parseOKLCH(bad); ok {
				t.Errorf("%q is read as a colour", bad)
			}
		})
	}
	calm := lookOf(ThemeInfo{Colors: map[string]string{"base_100": "#eceff4", "primary": "#5e81ac"}})
	loud := lookOf(ThemeInfo{Colors: map[string]string{"base_100": "#fff25e", "primary": "#ff7a9b"}})

	night := lookOf(ThemeInfo{Colors: map[string]string{"base_100": "#0f172a", "primary": "#3abdf7"}})
	if calm[lookEnergy] >= loud[lookEnergy] || calm[lookFormality] <= loud[lookFormality] ||
		night[lookDarkness] < 0.8 || calm[lookWarmth] >= loud[lookWarmth] {
		t.Errorf("calm %v, loud %v, night %v", calm, loud, night)
	}
}

func BenchmarkRecommend(b *testing.B) {
	r := NewRules()

	var list []ThemeInfo
	for name := range r.looks {
		list = append(list, ThemeInfo{Name: name, Scheme: "light"})
	}
	p := sure("report")
	b.ReportAllocs()

	for b.Loop() {
		r.Recommend(p, list, Preference{})
	}
}

func TestReasonsSayHowProbableATypeIs(t *testing.T) {
	t.Parallel()
	r := NewRules()
	between := func(first, second float64) Profile {
		p := sure("report")
		p.Types = []analysis.TypeProbability{
			{Type: "report", Probability: first},
			{Type: "proposal", Probability: second},
			{Type: "other", Probability: 1 - first - second},
		}
		p.Evidence = []string{"12 numbered clauses"}

		return p
	}
	last := 1.0

	for _, c := range []struct {
		first, second float64
		says          string
	}{
		{0.95, 0.02, "it reads as a report (95 %)"},
		{0.80, 0.10, "it is probably a report (80 %)"},
		{0.60, 0.20, "it may be a report (60 %)"},
		{0.45, 0.30, "unsure between a report (45 %) and a proposal (30 %)"},
	} {
		t.Run(c.says, func(t *testing.T) {
			rec := r.Recommend(between(c.first, c.second), catalogue(t), Preference{})

			said := strings.Join(rec.Reasons, "\n")
			if !strings.HasPrefix(said, c.says) || !strings.Contains(said, "evidence: 12 numbered clauses") {
				t.Errorf("%v: %s", c, said)
			}

			if rec.Confidence >= last || rec.Confidence > maxConfidence {
				t.Errorf("%v: confidence %.2f after %.2f", c, rec.Confidence, last)
			}
			last = rec.Confidence
		})
	}

	sure, unsure := r.Recommend(between(0.96, 0.04), catalogue(t), Preference{}), r.Recommend(
		between(0.55, 0.45),
		catalogue(t),
		Preference{},
	)
	if unsure.Confidence >= sure.Confidence {
		t.Errorf("confidence %.2f with two equally probable types, %.2f with one", unsure.Confidence,
			sure.Confidence)
	}
	p := between(0.25, 0.20)
	p.DocumentType = analysis.OtherType

	rec := r.Recommend(p, catalogue(t), Preference{})
	if rec.Primary != fallbackTheme || rec.Confidence > cautiousLimit ||
		!strings.Contains(rec.Reasons[0], "type is unclear") {
		t.Errorf("without a clear type: %+v", rec)
	}
}

// Whatever a model answers, it is refused, or what becomes of it is an analysis.
func FuzzAModelsReading(f *testing.F) {
	const reading = `{"document_type":"newsletter","emotional_tone":"festive","sentiment":{"label":"positive","score":0.8},"formality":{"label":"informal","score":0.2},"keywords":["a\u001b b","` + "\ufffd" + `",""],"language":"en"}`
	for _, seed := range []string{
		reading, "```json\n" + reading + "\n```", "{" + reading + "}", strings.Replace(reading, "0.8", "1e999", 1), strings.Replace(reading, "0.8", "-1.1", 1),
		strings.Replace(reading, `"en"`, `"\"><script>"`, 1), strings.Replace(reading, "newsletter", "Newsletter", 1), "}{", "{}", `{"keywords":{}}`, `{"sentiment":null}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		r, err := parseReading(answer)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n{") {
				t.Errorf("%q: %v", answer, err)
			}

			return
		}

		for _, local := range []string{"other", r.DocumentType} {
			p := sure(local)
			p.Language = "und"
			p = r.mergeInto(p)

			sum := 0.0
			for _, k := range p.Types {
				sum += k.Probability
			}

			if p.Types[0].Type != r.DocumentType || math.Abs(sum-1) > 1e-9 || !plausibleTag(p.Language) ||
				len(p.Keywords) > 10 {
				t.Errorf("%q: %+v", answer, p)
			}
		}
	})
}
