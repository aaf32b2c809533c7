package analysis

import (
	_ "embed"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

var (
	//go:embed data/doctype/lexicon.txt
	typeLexiconData string
	//go:embed data/doctype/languages.txt
	typeLanguageData string
)

// spot is a place in a document where a term of the lexicon counts.
type spot uint8

const (
	inTitle spot = iota
	inHeading
	inText
	inFront
	spots
)

// spotNames holds the lexicon's names of the spots, in their order.
var spotNames = [spots]string{"title", "head", "text", "front"}

// term is a phrase that suggests a document type. A word that ends in "*" matches every word with that beginning.
type term struct {
	words  []string
	kind   int // index into DocumentTypes
	weight float64
}

// typeLexicon indexes the terms by their first word or its stem.
type typeLexicon struct {
	title, head, text termIndex
	terms             []term
	// front maps a key, or "key=value", to its terms.
	front map[string][]int32
}

// termIndex maps first words to terms, and the first stemBytes bytes of a stem to the terms that begin with it.
type termIndex struct{ words, stems map[string][]int32 }

const stemBytes = 3

// starting calls use for each term that may start with the word.
func (p termIndex) starting(word string, use func(id int32)) {
	for _, id := range p.words[word] {
		use(id)
	}

	if len(word) >= stemBytes {
		for _, id := range p.stems[word[:stemBytes]] {
			use(id)
		}
	}
}

// begins reports whether a text begins with the term.
func (t term) begins(tokens []string) bool {
	if len(tokens) < len(t.words) {
		return false
	}

	for i, w := range t.words {
		stem, open := strings.CutSuffix(w, "*")
		if tokens[i] != w && !(open && strings.HasPrefix(tokens[i], stem)) {
			return false
		}
	}

	return true
}

var typeTerms = sync.OnceValue(func() *typeLexicon {
	l, err := parseTypeLexicon(typeLexiconData + "\n" + typeLanguageData)
	if err != "" {
		panic("analysis: lexicon of document types: " + err)
	}

	return l
})

// parseTypeLexicon parses sections "[type]" of lines "place: term^weight, …". The second result lists the errors
// in the data.
func parseTypeLexicon(data string) (*typeLexicon, string) {
	index := func() termIndex { return termIndex{map[string][]int32{}, map[string][]int32{}} }
	l := &typeLexicon{title: index(), head: index(), text: index(), front: map[string][]int32{}}
	types := DocumentTypes()
	kind := -1

	for line := range strings.Lines(data) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
			continue
		case line[0] == '[':
			if kind = slices.Index(types, strings.Trim(line, "[]")); kind < 0 {
				return nil, line + " is no document type"
			}
			continue
		}
		name, list, _ := strings.Cut(line, ":")

		where := spot(slices.Index(spotNames[:], name))
		if where >= spots || kind < 0 {
			return nil, name + " is no place"
		}

		for entry := range strings.SplitSeq(list, ",") {
			if entry = strings.TrimSpace(entry); entry != "" && !l.add(where, kind, entry) {
				return nil, entry + " is no term^weight"
			}
		}
	}

	return l, ""
}

func (l *typeLexicon) add(where spot, kind int, entry string) bool {
	phrase, number, weighted := strings.Cut(entry, "^")
	t := term{kind: kind, weight: 1}

	if weighted {
		w, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return false
		}
		t.weight = w
	}

	id := int32(len(l.terms))
	if where == inFront {
		l.front[phrase] = append(l.front[phrase], id)
		l.terms = append(l.terms, t)

		return true
	}

	for field := range strings.FieldsSeq(phrase) {
		stem, open := strings.CutSuffix(field, "*")

		t.words = appendTokens(t.words, stem)
		if open && len(t.words) > 0 {
			t.words[len(t.words)-1] += "*"
		}
	}

	if len(t.words) == 0 {
		return false
	}

	index := [spots]termIndex{inTitle: l.title, inHeading: l.head, inText: l.text}[where]
	if first, open := strings.CutSuffix(t.words[0], "*"); !open {
		index.words[first] = append(index.words[first], id)
	} else if len(first) >= stemBytes {
		index.stems[first[:stemBytes]] = append(index.stems[first[:stemBytes]], id)
	} else {
		return false
	}
	l.terms = append(l.terms, t)

	return true
}

// scores holds the lexicon score of each spot and document type, before saturation.
type scores [spots][]float64

func (l *typeLexicon) score(r *reading) scores {
	var s scores

	types := len(DocumentTypes())
	for p := range s {
		s[p] = make([]float64, types)
	}

	for _, key := range r.front.keys() {
		for _, name := range []string{key, key + "=" + strings.ToLower(r.front.text(key))} {
			for _, id := range l.front[name] {
				s[inFront][l.terms[id].kind] += l.terms[id].weight
			}
		}
	}
	l.scoreHeadings(r, &s)
	l.scoreText(r, &s)

	return s
}

// scoreHeadings counts each term once. A heading that equals the term counts in full; more other words in the
// heading reduce the score.
func (l *typeLexicon) scoreHeadings(r *reading, s *scores) {
	title := appendTokens(nil, r.title())
	found := map[int32]float64{}
	collect(l, l.title, title, found)
	l.credit(found, s[inTitle])
	clear(found)

	if r.front.text("title") != "" || r.title() == "" {
		for i, h := range r.headings { // the first heading may be another title
			if i == 0 && h.level == 1 {
				collect(l, l.title, appendTokens(nil, h.text), found)
			}
		}
		l.credit(found, s[inTitle])
		clear(found)
	}

	if r.title() == "" && len(r.captions) > 0 {
		collect(l, l.title, appendTokens(nil, r.captions[0]), found)
		l.credit(found, s[inTitle])
		clear(found)
	}
	var tokens []string

	read := min(len(r.headings), 400)
	for _, h := range r.headings[:read] {
		tokens = appendTokens(tokens[:0], h.text)
		for len(tokens) > 1 && (numeral(tokens[0]) || len(tokens[0]) == 1) { // "3. Methods", "A. Definitions"
			tokens = tokens[1:]
		}
		collect(l, l.head, tokens, found)
	}

	for _, c := range r.captions {
		tokens = appendTokens(tokens[:0], c)
		weak := map[int32]float64{}
		collect(l, l.head, tokens, weak)

		for id, share := range weak {
			found[id] = max(found[id], 0.6*share)
		}
	}
	read += len(r.captions) / 2
	l.credit(found, s[inHeading])
	// Many headings match terms by chance.
	for k := range s[inHeading] {
		s[inHeading][k] /= math.Max(1, math.Sqrt(float64(read)/14))
	}
}

func collect(l *typeLexicon, index termIndex, tokens []string, found map[int32]float64) {
	for i, first := range tokens {
		index.starting(first, func(id int32) {
			if !l.terms[id].begins(tokens[i:]) {
				return
			}
			words := len(l.terms[id].words)

			share := float64(words) / float64(len(tokens))
			if words < len(tokens) {
				share = 0.25 + 0.6*share
				if i > 0 && i+words < len(tokens) {
					share *= 0.6
				}
			}
			found[id] = max(found[id], share)
		})
	}
}

func (l *typeLexicon) credit(found map[int32]float64, to []float64) {
	for _, id := range sortedKeys(found) { // in order: sums of floats depend on it
		to[l.terms[id].kind] += l.terms[id].weight * found[id]
	}
}

// scoreText counts the terms of the text relative to its length. Each repetition of a term counts less.
func (l *typeLexicon) scoreText(r *reading, s *scores) {
	found := map[int32]float64{}

	for i, first := range r.tokens {
		l.text.starting(first, func(id int32) {
			if l.terms[id].begins(r.tokens[i:]) {
				found[id]++
			}
		})
	}
	length := float64(r.amount()+r.cells) / 300

	for _, id := range sortedKeys(found) {
		t := l.terms[id]
		// A cue that occurs once in a page by chance counts less in a long text.
		rate := found[id] / (1 + length/2)
		s[inText][t.kind] += t.weight * math.Min(2, rate+math.Min(0.35, 0.35*found[id]))
	}
}

func sortedKeys(m map[int32]float64) []int32 {
	keys := make([]int32, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)

	return keys
}

func numeral(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}

	return s != ""
}
