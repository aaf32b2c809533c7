package analysis

import (
	_ "embed"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed data/doctype/lexicon.txt
var typeLexiconData string

// spot is where in a document a term of the lexicon counts.
type spot uint8

const (
	inTitle spot = iota
	inHeading
	inText
	inFront
	spots
)

// spotNames are the lexicon's names of spots, in their order.
var spotNames = [spots]string{"title", "head", "text", "front"}

// term is a phrase that speaks for a document type.
type term struct {
	words  []string
	kind   int // index into DocumentTypes
	weight float64
}

// typeLexicon holds the terms by their first word.
type typeLexicon struct {
	title, head, text map[string][]int32
	terms             []term
	// front maps a key, or "key=value", to its terms.
	front map[string][]int32
}

var typeTerms = sync.OnceValue(func() *typeLexicon {
	l, err := parseTypeLexicon(typeLexiconData)
	if err != "" {
		panic("analysis: lexicon of document types: " + err)
	}
	return l
})

// parseTypeLexicon reads sections "[type]" of lines "place: term^weight, …"; a
// second result is what is wrong with the data.
func parseTypeLexicon(data string) (*typeLexicon, string) {
	l := &typeLexicon{title: map[string][]int32{}, head: map[string][]int32{}, text: map[string][]int32{}, front: map[string][]int32{}}
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
	t.words = appendTokens(nil, phrase)
	if len(t.words) == 0 {
		return false
	}
	index := map[spot]map[string][]int32{inTitle: l.title, inHeading: l.head, inText: l.text}[where]
	// Scripts without spaces are matched as a whole run, which a heading mostly is.
	index[t.words[0]] = append(index[t.words[0]], id)
	l.terms = append(l.terms, t)
	return true
}

// scores are what the lexicon finds per place and document type, not yet
// saturated.
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

// scoreHeadings counts each term once: in full where a heading is the term, else
// the less the more words the heading has besides.
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
	// A hundred headings hit terms by chance.
	for k := range s[inHeading] {
		s[inHeading][k] /= math.Max(1, math.Sqrt(float64(read)/14))
	}
}

func collect(l *typeLexicon, index map[string][]int32, tokens []string, found map[int32]float64) {
	for i, first := range tokens {
		for _, id := range index[first] {
			words := l.terms[id].words
			if len(tokens)-i < len(words) || !slices.Equal(words, tokens[i:i+len(words)]) {
				continue
			}
			share := float64(len(words)) / float64(len(tokens))
			if len(words) < len(tokens) {
				share = 0.25 + 0.6*share
				if i > 0 && i+len(words) < len(tokens) {
					share *= 0.6
				}
			}
			found[id] = max(found[id], share)
		}
	}
}

func (l *typeLexicon) credit(found map[int32]float64, to []float64) {
	for _, id := range sortedKeys(found) { // in order: sums of floats depend on it
		to[l.terms[id].kind] += l.terms[id].weight * found[id]
	}
}

// scoreText counts the terms of the text, each the less the oftener, against
// the length of the text.
func (l *typeLexicon) scoreText(r *reading, s *scores) {
	found := map[int32]float64{}
	for i, first := range r.tokens {
		for _, id := range l.text[first] {
			words := l.terms[id].words
			if len(words) == 1 || len(r.tokens)-i >= len(words) && slices.Equal(words[1:], r.tokens[i+1:i+len(words)]) {
				found[id]++
			}
		}
	}
	length := float64(len(r.tokens)) / 350
	for _, id := range sortedKeys(found) {
		t := l.terms[id]
		// What is expected once a page of chance weighs less in a long text.
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
