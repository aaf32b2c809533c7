package analysis

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"presswork/internal/analysis/finding"
)

const (
	// maxGlyphs bounds the characters that are read for terms, and longestTerm the
	// characters of one.
	maxGlyphs, longestTerm = 6000, 8
	// oftenEnough is how often a run of characters must recur to be a word, fewer
	// where a text has less than shortText characters; a heading's counts headCount
	// times.
	oftenEnough, shortText, headCount = 3, 400, 2
)

// glyphKeywords appends terms of text in scripts without spaces: runs of
// characters that recur with different neighbours. There is no dictionary.
func glyphKeywords(r *reading, out []finding.Keyword) []finding.Keyword {
	type term struct {
		text          string
		glyphs, count int
		before, after map[string]bool
		score         float64
	}
	found := map[string]*term{}

	tokens, often := r.tokens[:min(len(r.tokens), maxGlyphs)], oftenEnough
	if len(tokens) < shortText {
		often--
	}
	at := func(i int) string {
		if i < 0 || i >= len(tokens) || !termGlyph(tokens[i]) {
			return ""
		}

		return tokens[i]
	}

	headings := map[string]bool{}
	for _, h := range append([]heading{{text: r.title()}}, r.headings[:min(len(r.headings), 50)]...) {
		if genericHeading(h.text) {
			continue
		}

		for _, run := range strings.FieldsFunc(h.text, func(c rune) bool { return !termGlyph(string(c)) }) {
			headings[run] = true
		}
	}

	for i := range tokens {
		for n := 1; n <= longestTerm && at(i+n-1) != ""; n++ {
			if n == 1 || katakana(at(i)) && katakana(at(i-1)) || katakana(at(i+n-1)) && katakana(at(i+n)) {
				continue // words of Katakana are not cut
			}
			text := strings.Join(tokens[i:i+n], "")

			t := found[text]
			if t == nil {
				t = &term{text: text, glyphs: n, before: map[string]bool{}, after: map[string]bool{}}
				found[text] = t
			}
			t.count++
			t.before[at(i-1)], t.after[at(i+n)] = true, true
		}
	}
	var all []*term

	for _, t := range found {
		if headings[t.text] {
			t.count += headCount
			t.before["^"], t.after["$"] = true, true
		}

		if t.count < often || len(t.before) < 2 || len(t.after) < 2 {
			continue
		}
		t.score = math.Log2(1+float64(t.count)) * (1 + 0.35*float64(min(t.glyphs, 4)-1))
		all = append(all, t)
	}
	slices.SortFunc(
		all,
		func(a, b *term) int { return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.text, b.text)) },
	)

	for _, t := range all {
		known := func(k finding.Keyword) bool {
			return strings.Contains(k.Term, t.text) || strings.Contains(t.text, k.Term)
		}
		if len(out) == maxKeywords || slices.ContainsFunc(out, known) {
			continue
		}
		out = append(out, finding.Keyword{Term: t.text, Score: hundredths(t.score / all[0].score)})
	}

	return out
}

func katakana(token string) bool {
	first, _ := utf8.DecodeRuneInString(token)
	return first == soundMark || unicode.Is(unicode.Katakana, first)
}

// termGlyph distinguishes characters that terms are made of from those that bind
// them: particles, and all of Hiragana.
func termGlyph(token string) bool {
	first, _ := utf8.DecodeRuneInString(token)
	return glyphWords(token) > 0 && !unicode.Is(unicode.Hiragana, first) && !strings.ContainsRune(bindingGlyphs, first)
}

// bindingGlyphs are the commonest function words of Chinese of one character.
const bindingGlyphs = "的了是在和有我你他她它们們这這那不也都就与與及或而且但以为為于於对對把被让讓从從到将將会會可要如果因所使其之更最很个個些中上下里裡后後前时時地得着著过過说說等吗呢吧啊"
