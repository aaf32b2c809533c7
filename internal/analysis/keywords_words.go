package analysis

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"presswork/internal/analysis/finding"
	"presswork/internal/analysis/plaintext"
)

// stem maps the plural of a phrase's last word to the singular.
func stem(phrase string) string {
	ends := func(suffixes ...string) bool {
		return slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(phrase, s) })
	}
	switch {
	case len(phrase) < 4:
		return phrase
	case ends("children"):
		return strings.TrimSuffix(phrase, "ren")
	case ends("women", "men"):
		return phrase[:len(phrase)-2] + "an"
	case len(phrase) > 5 && ends("ies"):
		return phrase[:len(phrase)-3] + "y"
	case len(phrase) > 5 && ends("ie"): // of "cookies"
		return phrase[:len(phrase)-2] + "y"
	case len(phrase) > 5 && ends("sses", "xes", "ches", "shes"):
		return phrase[:len(phrase)-2]
	case ends("s") && !ends("ss", "us", "is"):
		return phrase[:len(phrase)-1]
	}

	return phrase
}

// participle reports whether a single word is a verb form such as "adjusted" or "running". A word that is in a
// heading is a name instead, and so is one in "-ing" that occurs often.
func participle(word string, p *candidate) bool {
	const named = 4

	return len(word) > 5 && !p.headed &&
		(strings.HasSuffix(word, "ed") || strings.HasSuffix(word, "ing") && p.count < named)
}

// endsInNoun reports whether the last word of a German phrase is spelled like a noun.
func endsInNoun(phrase string) bool {
	first, _ := utf8.DecodeRuneInString(phrase[strings.LastIndex(phrase, " ")+1:])

	return !unicode.IsLower(first)
}

// genericHeading reports whether a heading is one that any document may have, such as "Introduction".
func genericHeading(text string) bool {
	return genericHeadings[strings.ToLower(strings.Trim(text, " :.0123456789"))]
}

// genericHeadings are headings that say nothing about the topic.
var genericHeadings = wordSet(
	`introduction|overview|summary|conclusion|conclusions|background|installation|usage|license|licence|
contributing|references|acknowledgements|
acknowledgments|table of contents|contents|features|requirements|getting started|faq|appendix|notes|examples|
example|changelog|abstract|discussion|results|methods|
ingredients|directions|instructions|agenda|attendees|action items|next steps|experience|education|skills|
motivation|drawbacks|alternatives|unresolved questions|
einleitung|zusammenfassung|fazit|inhalt|résumé|introducción|resumen|conclusión`,
)

// weakWords are English words that carry no topic although they are not function words.
var weakWords = wordSet(
	`use|used|using|uses|make|makes|made|making|example|examples|thing|things|lot|lots|way|ways|people|person|
time|times|year|years|month|months|day|
days|week|weeks|today|first|second|third|last|next|new|old|good|better|best|great|big|small|large|long|short|
high|low|different|important|possible|available|able|sure|
really|actually|simply|currently|already|always|never|often|sometimes|usually|maybe|perhaps|please|thank|thanks|
dear|sincerely|regards|hello|hi|yes|okay|ok|need|needs|needed|
want|wants|wanted|know|known|think|thought|say|says|said|tell|told|go|goes|going|went|come|comes|came|take|
takes|took|taken|give|gives|given|gave|get|gets|getting|got|put|
keep|find|found|look|looking|looked|seem|seems|seemed|help|work|works|working|worked|run|runs|running|add|added|
adding|set|sets|setting|change|changed|changes|provide|provides|
provided|include|includes|including|included|allow|allows|follow|following|follows|based|called|call|calls|one|
two|three|four|five|six|seven|eight|nine|ten|part|parts|number|
section|see|show|shows|shown|read|write|written|start|started|end|note|case|cases|point|kind|type|something|
anything|nothing|everything|someone|anyone|everyone|
january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|
thursday|friday|saturday|sunday|
either|neither|myself|yourself|himself|herself|itself|oneself|ourselves|yourselves|themselves|thy|thee|thou|
thine|ye|hath|doth|unto|upon|whom|whose|within|without|toward|
towards|among|amongst|per|via|versus|vs|else|instead|rather|quite|yet|thus|hence|whether|though|although|unless|
until|while|since|because|across|along|around|behind|below|above|beside|besides|beyond|despite|
during|except|inside|outside|near|onto|throughout|underneath|another|anyway|several|various|certain|many|much|
few|enough|almost|already|alone|ever|far|later|soon|again|away|rest|half|side|kept|held|became|become|spoken|
chosen|fallen|forgotten|risen|shaken|sworn|thrown|begun|grown|drawn|brought|bought|caught|taught|fought|sought|
felt|heard|sent|spent|stood|
e.g|i.e|etc|mr|mrs|ms|dr|let|like|also|well|even|still|back|right|left|little|whole|full|own|able|must|shall|
would|could|might|author|title|inc|ltd|figure|table|page|step|steps|date|item|items|total|amount`,
)

// wordSet returns the words of a list separated by "|". Line breaks do not count.
func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.SplitSeq(strings.ReplaceAll(list, "\n", ""), "|") {
		set[w] = true
	}

	return set
}

const (
	// maxGlyphs limits the characters that are read for terms, longestTerm the characters of a term.
	maxGlyphs, longestTerm = 6000, 8
	// minOccurrences is how often a run of characters must occur to be a term. A text of less than shortText
	// characters needs fewer occurrences. An occurrence in a heading counts headCount times.
	minOccurrences, shortText, headCount = 3, 400, 2
)

// glyphKeywords appends terms of text in scripts without spaces: runs of characters that recur with different
// neighbours. It needs no dictionary.
func glyphKeywords(r *reading, language string, out []finding.Keyword) []finding.Keyword {
	type term struct {
		text          string
		glyphs, count int             // of a script without spaces
		before, after map[string]bool // words next to the term
		score         float64
	}
	found := map[string]*term{}

	tokens, often := syllables(r.tokens[:min(len(r.tokens), maxGlyphs)], language), minOccurrences
	if len(tokens) < shortText {
		often--
	}
	glyphAt := func(i int) string {
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
		for n := 1; n <= longestTerm && glyphAt(i+n-1) != ""; n++ {
			cutsStart := katakana(glyphAt(i)) && katakana(glyphAt(i-1))
			cutsEnd := katakana(glyphAt(i+n-1)) && katakana(glyphAt(i+n))

			if n == 1 || cutsStart || cutsEnd { // a run of Katakana is one word
				continue
			}
			text := strings.Join(tokens[i:i+n], "")

			t := found[text]
			if t == nil {
				t = &term{text: text, glyphs: n, before: map[string]bool{}, after: map[string]bool{}}
				found[text] = t
			}
			t.count++
			t.before[glyphAt(i-1)], t.after[glyphAt(i+n)] = true, true
		}
	}
	var all []*term

	for _, t := range found {
		if headings[t.text] {
			t.count += headCount
			t.before["^"], t.after["$"] = true, true
		}

		whole := freeEdge(t.before) && freeEdge(t.after)
		if t.count < often || !whole {
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

// freeEdge reports whether a term ends where a word may end: its neighbours vary, or there is none.
func freeEdge(neighbours map[string]bool) bool { return len(neighbours) > 1 || neighbours[""] }

func katakana(token string) bool {
	first, _ := utf8.DecodeRuneInString(token)
	return first == plaintext.SoundMark || unicode.Is(unicode.Katakana, first)
}

// termGlyph reports whether a character can be part of a term. Particles and Hiragana cannot.
func termGlyph(token string) bool {
	first, _ := utf8.DecodeRuneInString(token)
	return glyphWords(token) > 0 && !unicode.Is(unicode.Hiragana, first) && !strings.ContainsRune(bindingGlyphs, first)
}

// bindingGlyphs holds the most frequent one-character function words of Chinese.
const bindingGlyphs = "的了是在和有我你他她它们們这這那不也都就与與及或而且但以为為于於对對把被让讓从從到将將会會可要如果因所使其之更最很个個些中上下里裡后後前时時地得着著过過说說等吗呢吧啊"
