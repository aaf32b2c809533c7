package recommend

import (
	"math"
	"slices"
	"strings"
	"testing"

	"presswork/internal/analysis"
	"presswork/internal/analysis/finding"
	"presswork/internal/fault"
)

// catalogue returns the name and scheme of every built-in theme, and the custom themes after them.
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
		t.Fatalf("%d themes have attributes, want 35", len(list))
	}

	return append(list, custom...)
}

// sure returns the profile of a long English document that is of docType with a probability of 0.95.
func sure(docType string) Profile {
	return Profile{Analysis: finding.Analysis{
		DocumentType: docType, Language: "en", EmotionalTone: "neutral",
		Formality: finding.Leaning{Label: "neutral", Score: 0.5},
	}, Words: 900, Types: []analysis.TypeProbability{{Type: docType, Probability: 0.95}, {Type: "other", Probability: 0.05}}}
}

func TestThemeRulesNameExistingThemesAndTypes(t *testing.T) {
	t.Parallel()

	rules, err := parseRules(themeData)
	if err != nil {
		t.Fatal(err)
	}

	checkThemes := func(rule string, names []string) {
		for _, name := range names {
			if _, ok := rules.looks[name]; !ok {
				t.Errorf("%s: there is no theme %q", rule, name)
			}
		}
	}
	for _, docType := range rules.types {
		checkThemes(docType.name, slices.Concat(docType.accept, docType.never))

		for when, names := range docType.first {
			checkThemes(docType.name+" "+when, names)

			for _, name := range names {
				if slices.Contains(docType.never, name) {
					t.Errorf("%s %s: theme %s is both preferred and forbidden", docType.name, when, name)
				}
			}
		}
	}

	for _, mood := range Moods() {
		if len(rules.tones[mood].accept) == 0 {
			t.Errorf("no theme suits the mood %s", mood)
		}
		checkThemes(mood, rules.tones[mood].accept)
	}

	for _, topic := range rules.topics {
		checkThemes(topic.name, topic.accept)
	}

	for _, family := range analysis.DocumentFamilies() {
		for _, docType := range rules.families[family] {
			if !slices.Contains(analysis.DocumentTypes(), docType) {
				t.Errorf("%s: there is no document type %q", family, docType)
			}
		}

		if len(rules.families[family]) == 0 {
			t.Errorf("%s has no types", family)
		}
	}
}

func TestErrorsOfThemeRulesNameTheLine(t *testing.T) {
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
				t.Errorf("parseRules(%q): error %v, want one with %q", data, err, says)
			}
		})
	}
}

func TestEveryTypeGetsTheFirstThemeOfItsRule(t *testing.T) {
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
				t.Errorf("%s: recommended %s, which its rule forbids", rule.name, name)
			}
		}

		if slices.Contains(schemes, "dark") == rule.print || !slices.Contains(schemes, "light") {
			t.Errorf("%s: schemes %v; want light, and dark unless it is for print (%v)", rule.name, schemes, rule.print)
		}
	}
}

func TestCustomThemesAreRankedByTheirColoursAndTags(t *testing.T) {
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
		t.Errorf("got %+v, want the sober blue theme among them", rec)
	}

	for _, docType := range []string{"report", "legal", "resume"} {
		t.Run(docType, func(t *testing.T) {
			rec := r.Recommend(sure(docType), catalogue(t, wild), Preference{})
			if slices.Contains(append(rec.Alternatives, rec.Primary), "wild") {
				t.Errorf("%s: got %+v, want them without the garish theme", docType, rec)
			}
		})
	}
	house.Tags = []string{"report"}

	rec = r.Recommend(sure("report"), catalogue(t, house), Preference{})
	if rec.Primary != "house" || !strings.Contains(strings.Join(rec.Reasons, "; "), "custom theme") {
		t.Errorf("got %+v, want the theme that is tagged for reports", rec)
	}
}

func TestParsePreference(t *testing.T) {
	t.Parallel()

	s, err := ParsePreference(" Creative", "API-Reference")
	if err != nil || s != (Preference{"creative", "api_reference"}) {
		t.Errorf("got %+v, %v; want creative and api_reference", s, err)
	}

	for name, c := range map[string]struct{ mood, docType, param, says string }{
		"misspelled mood": {"creativ", "", "mood", `did you mean "creative"?`},
		"misspelled type": {"", "resumee", "doc_type", `did you mean "resume"?`},
		"unknown type":    {"", "zzz", "doc_type", "or a family: software"},
		"long mood":       {strings.Repeat("x", 500), "", "mood", "…"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParsePreference(c.mood, c.docType)

			e := fault.AsError(err)
			if e == nil || e.Code != fault.InvalidOption || e.Param != c.param ||
				!strings.Contains(e.Message, c.says) || len(e.Message) > 500 {
				t.Errorf("ParsePreference(%.20q, %q): error %v, want %s: %s", c.mood, c.docType, err, c.param, c.says)
			}
		})
	}
}

func TestLookIsDerivedFromTheColours(t *testing.T) {
	t.Parallel()

	c, ok := parseOKLCH("#ff0000")
	if !ok || math.Abs(c.lightness-0.628) > 0.002 || math.Abs(c.chroma-0.258) > 0.002 || math.Abs(c.hue-29.2) > 0.2 {
		t.Errorf("parseOKLCH of red = %+v, %v; want 0.628, 0.258, 29.2", c, ok)
	}

	for _, invalid := range []string{"", "#fff", "red", "#gggggg", "#1234567"} {
		t.Run(invalid, func(t *testing.T) {
			if _, ok := parseOKLCH(invalid); ok {
				t.Errorf("parseOKLCH(%q) succeeds, want a failure", invalid)
			}
		})
	}
	calm := lookOf(ThemeInfo{Colors: map[string]string{"base_100": "#eceff4", "primary": "#5e81ac"}})
	loud := lookOf(ThemeInfo{Colors: map[string]string{"base_100": "#fff25e", "primary": "#ff7a9b"}})

	night := lookOf(ThemeInfo{Colors: map[string]string{"base_100": "#0f172a", "primary": "#3abdf7"}})
	if calm[lookEnergy] >= loud[lookEnergy] || calm[lookFormality] <= loud[lookFormality] ||
		night[lookDarkness] < 0.8 || calm[lookWarmth] >= loud[lookWarmth] {
		t.Errorf(
			"calm %v, loud %v, dark %v; want loud with more energy and warmth and less formality, and dark darker than 0.8",
			calm,
			loud,
			night,
		)
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
				t.Errorf("reasons:\n%s\nwant %q and the evidence", said, c.says)
			}

			if rec.Confidence >= last || rec.Confidence > maxConfidence {
				t.Errorf("confidence %.2f, want less than %.2f and at most %.2f", rec.Confidence, last, maxConfidence)
			}
			last = rec.Confidence
		})
	}

	clear := r.Recommend(between(0.96, 0.04), catalogue(t), Preference{})
	unclear := r.Recommend(between(0.55, 0.45), catalogue(t), Preference{})

	if unclear.Confidence >= clear.Confidence {
		t.Errorf(
			"confidence %.2f with two probable types, want less than with one, %.2f",
			unclear.Confidence,
			clear.Confidence,
		)
	}
	p := between(0.25, 0.20)
	p.DocumentType = analysis.OtherType

	rec := r.Recommend(p, catalogue(t), Preference{})
	if rec.Primary != fallbackTheme || rec.Confidence > cautiousLimit ||
		!strings.Contains(rec.Reasons[0], "type is unclear") {
		t.Errorf(
			"without a clear type: got %+v, want %s with a confidence of at most %.2f",
			rec,
			fallbackTheme,
			cautiousLimit,
		)
	}
}

// An answer of a model is either rejected or becomes a valid analysis.
func FuzzModelAnswer(f *testing.F) {
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
				t.Errorf("%q: error %q repeats the answer", answer, err)
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
				t.Errorf("%q: invalid profile %+v", answer, p)
			}
		}
	})
}
