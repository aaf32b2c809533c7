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
			rec.Confidence < 0.9 && rule.name != analysis.OtherType ||
			len(rec.Alternatives) != 2 ||
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

func TestToneTopicAndFormalityMoveTheChoice(t *testing.T) {
	t.Parallel()
	r := NewRules()
	with := func(docType string, change func(*Profile)) Profile {
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
		"ghost story":       {with("story", tone("dark")), "night"},
		"love poem":         {with("poem", func(p *Profile) { tone("romantic")(p); p.Topics = []Topic{{"love", 1}} }), "sunset"},
		"halloween party":   {with("other", func(p *Profile) { tone("playful")(p); p.Topics = []Topic{{"halloween", 1}} }), "halloween"},
		"formal letter":     {with("letter", func(p *Profile) { p.Formality = finding.Leaning{Label: "formal", Score: 0.9} }), "corporate"},
		"solemn essay":      {with("essay", tone("solemn")), "autumn"},
		"children's recipe": {with("recipe", func(p *Profile) { tone("playful")(p); p.Topics = []Topic{{"children", 1}} }), "cupcake"},
		"playful contract":  {with("legal", tone("playful")), "light"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := r.Recommend(c.p, catalogue(t), Preference{}); got.Primary != c.want {
				t.Errorf("%s: %+v, want %s", name, got, c.want)
			}
		})
	}
}

func TestWhatTheCallerSaysReplacesWhatWasFound(t *testing.T) {
	t.Parallel()
	r := NewRules()
	list := catalogue(t)

	resume := sure("resume")
	for _, mood := range Moods() {
		rec := r.Recommend(resume, list, Preference{Mood: mood})
		if !slices.Contains(r.tones[mood].accept, rec.Primary) {
			t.Errorf("--mood=%s chose %s", mood, rec.Primary)
		}
	}

	if rec := r.Recommend(resume, list, Preference{Mood: "dark"}); rec.Primary != "night" && rec.Primary != "business" {
		t.Errorf("a dark résumé is %s", rec.Primary)
	}

	if rec := r.Recommend(
		resume,
		list,
		Preference{Mood: "romantic"},
	); rec.Primary == "valentine" ||
		rec.Primary == "sunset" {
		t.Errorf("a romantic résumé is %s", rec.Primary)
	}

	short := Profile{Analysis: finding.Analysis{DocumentType: "readme", Language: "und"}, Words: 3}
	for _, name := range slices.Concat(analysis.DocumentTypes(), analysis.DocumentFamilies()) {
		rec := r.Recommend(short, list, Preference{Type: name})

		members := r.typesOf(name)
		if !slices.ContainsFunc(r.types, func(rule typeRule) bool {
			return slices.Contains(members, rule.name) && slices.Contains(rule.accept, rec.Primary)
		}) {
			t.Errorf("--doc-type=%s chose %s", name, rec.Primary)
		}
	}
	// A caller who has no document at all.
	if rec := r.Recommend(Profile{}, list, Preference{Mood: "creative"}); rec.Primary != "cmyk" {
		t.Errorf("creative is %+v", rec)
	}
}

func TestTooLittleTextGetsTheThemeThatSuitsMost(t *testing.T) {
	t.Parallel()
	r := NewRules()
	few, strange := sure(analysis.OtherType), sure(analysis.OtherType)

	few.Words, strange.Language = 40, "und"
	for says, p := range map[string]Profile{"40 words": few, "the language is not known": strange} {
		rec := r.Recommend(p, catalogue(t), Preference{})
		if rec.Primary != "light" || rec.Confidence > 0.5 || !strings.Contains(rec.Reasons[0], says) {
			t.Errorf("%+v", rec)
		}
	}
}

func TestAShortTextOfAPlainTypeGetsItsTheme(t *testing.T) {
	t.Parallel()
	r := NewRules()
	last := 0.5

	for _, words := range []int{14, 40, 70} {
		t.Run(fmt.Sprint(words), func(t *testing.T) {
			haiku := sure("poem")
			haiku.Words = words

			rec := r.Recommend(haiku, catalogue(t), Preference{})
			if rec.Primary != "silk" || rec.Confidence <= last || rec.Confidence > 0.97 {
				t.Errorf("%d words: %+v; want silk, surer than %.2f", words, rec, last)
			}
			last = rec.Confidence
		})
	}
	strange := sure("poem")

	strange.Language = "und"
	if rec := r.Recommend(strange, catalogue(t), Preference{}); rec.Primary != "silk" || rec.Confidence > 0.5 {
		t.Errorf("in an unknown language: %+v", rec)
	}
}

func TestAnOccasionIsSeenInAShortInvitation(t *testing.T) {
	t.Parallel()
	r := NewRules()
	invitation := []byte(
		"# Spooky night\n\nGhosts, witches and vampires! On Halloween the haunted mill opens its graveyard. A pumpkin for every costume, candy for the little monsters. Happy Halloween!\n",
	)

	p := r.Profile(analysis.Examine(invitation))
	if rec := r.Recommend(p, catalogue(t), Preference{}); rec.Primary != "halloween" {
		t.Errorf("%+v of %s, %v", rec, p.DocumentType, p.Topics)
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
	if rec := r.Recommend(
		sure("report"),
		catalogue(t, house, wild),
		Preference{},
	); !slices.Contains(
		append(rec.Alternatives, rec.Primary),
		"house",
	) {
		t.Errorf("a sober blue theme is not among %+v", rec)
	}

	for _, docType := range []string{"report", "legal", "resume"} {
		t.Run(docType, func(t *testing.T) {
			if rec := r.Recommend(
				sure(docType),
				catalogue(t, wild),
				Preference{},
			); slices.Contains(
				append(rec.Alternatives, rec.Primary),
				"wild",
			) {
				t.Errorf("%s: a shouting theme is among %+v", docType, rec)
			}
		})
	}
	house.Tags = []string{"report"}

	rec := r.Recommend(sure("report"), catalogue(t, house), Preference{})
	if rec.Primary != "house" || !strings.Contains(strings.Join(rec.Reasons, "; "), "a theme of your own") {
		t.Errorf("a theme tagged for reports is not chosen: %+v", rec)
	}
}

func TestAPreferenceIsCheckedAndForgiving(t *testing.T) {
	t.Parallel()

	if s, err := ParsePreference(
		" Creative",
		"API-Reference",
	); err != nil ||
		s != (Preference{"creative", "api_reference"}) {
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
				!strings.Contains(e.Message, c.says) ||
				len(e.Message) > 500 {
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
		night[lookDarkness] < 0.8 ||
		calm[lookWarmth] >= loud[lookWarmth] {
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
		{0.60, 0.20, "it is perhaps a report (60 %)"},
		{0.45, 0.30, "unsure between a report (45 %) and a proposal (30 %)"},
	} {
		t.Run(c.says, func(t *testing.T) {
			rec := r.Recommend(between(c.first, c.second), catalogue(t), Preference{})

			said := strings.Join(rec.Reasons, "\n")
			if !strings.HasPrefix(said, c.says) || !strings.Contains(said, "what shows it: 12 numbered clauses") {
				t.Errorf("%v: %s", c, said)
			}

			if rec.Confidence >= last || rec.Confidence > surest {
				t.Errorf("%v: confidence %.2f after %.2f", c, rec.Confidence, last)
			}
			last = rec.Confidence
		})
	}

	if sure, unsure := r.Recommend(
		between(0.96, 0.04),
		catalogue(t),
		Preference{},
	), r.Recommend(
		between(0.55, 0.45),
		catalogue(t),
		Preference{},
	); unsure.Confidence >= sure.Confidence {
		t.Errorf(
			"confidence %.2f where two types are as probable, %.2f where one is",
			unsure.Confidence,
			sure.Confidence,
		)
	}
	p := between(0.25, 0.20)
	p.DocumentType = analysis.OtherType

	rec := r.Recommend(p, catalogue(t), Preference{})
	if rec.Primary != fallbackTheme || rec.Confidence > cautiousLimit ||
		!strings.Contains(rec.Reasons[0], "does not show") {
		t.Errorf("of no type: %+v", rec)
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
						t.Errorf("%s or %s: %s is offered", first.name, second.name, name)
					}
				}
			}
		}
	}
}

func TestAPageIsDarkOnlyWhenSomethingAsksForIt(t *testing.T) {
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
			if asked := tone == "dark" || tone == "luxurious"; dark(rec.Primary) && !asked {
				t.Errorf("a %s %s is %s", tone, rule.name, rec.Primary)
			}
		}
	}
	ghost := sure("story")

	ghost.EmotionalTone, ghost.ToneStrength = "dark", 0.9
	if rec := r.Recommend(ghost, list, Preference{}); !dark(rec.Primary) {
		t.Errorf("a ghost story is %s", rec.Primary)
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
			p = r.over(p)

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
