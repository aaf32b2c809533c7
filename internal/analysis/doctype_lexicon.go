package analysis

import (
	_ "embed"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"presswork/internal/analysis/plaintext"
	"presswork/internal/lazyregexp"
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
	spotCount
)

// spotNames holds the names of the spots in the lexicon file.
var spotNames = [spotCount]string{"title", "head", "text", "front"}

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

// termIndex finds terms by their first word. words maps a whole word to its terms. stems maps the first stemBytes
// bytes of a word that ends in "*" to its terms.
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

// begins reports whether the tokens begin with the term.
func (t term) begins(tokens []string) bool {
	if len(tokens) < len(t.words) {
		return false
	}

	for i, w := range t.words {
		stem, isStem := strings.CutSuffix(w, "*")
		if tokens[i] != w && !(isStem && strings.HasPrefix(tokens[i], stem)) {
			return false
		}
	}

	return true
}

// typeTerms returns the embedded lexicon of cues for document types.
var typeTerms = sync.OnceValue(func() *typeLexicon {
	l, err := parseTypeLexicon(typeLexiconData + "\n" + typeLanguageData)
	if err != "" {
		panic("analysis: lexicon of document types: " + err)
	}

	return l
})

// parseTypeLexicon parses sections "[type]" of lines "spot: term^weight, …". The second result describes
// the first error in the data, or is "".
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
				return nil, line + " is not a document type"
			}
			continue
		}
		name, list, _ := strings.Cut(line, ":")

		at := slices.Index(spotNames[:], name)
		if at < 0 || kind < 0 {
			return nil, name + " is not a spot inside a section"
		}

		for entry := range strings.SplitSeq(list, ",") {
			if entry = strings.TrimSpace(entry); entry != "" && !l.add(spot(at), kind, entry) {
				return nil, entry + " is not term^weight"
			}
		}
	}

	return l, ""
}

// add parses an entry "term^weight" and indexes it. It returns false if the entry is invalid.
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
		stem, isStem := strings.CutSuffix(field, "*")

		t.words = plaintext.AppendTokens(t.words, stem)
		if isStem && len(t.words) > 0 {
			t.words[len(t.words)-1] += "*"
		}
	}

	if len(t.words) == 0 {
		return false
	}

	index := [spotCount]termIndex{inTitle: l.title, inHeading: l.head, inText: l.text}[where]
	if first, isStem := strings.CutSuffix(t.words[0], "*"); !isStem {
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
type scores [spotCount][]float64

// score returns the scores of a document: those of its front matter, headings and text.
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
	l.scoreSubjects(r, s[inFront])
	l.scoreHeadings(r, &s)
	l.scoreText(r, &s)

	return s
}

// subjectKeys are the keys of front matter whose entries may name the kind of a document. Tags often name its topic.
var subjectKeys = []string{"category", "categories", "genre", "layout", "section", "type", "tag", "tags"}

// scoreSubjects scores the categories and tags that are titles of a type: "Poesía" names a poem.
func (l *typeLexicon) scoreSubjects(r *reading, to []float64) {
	named := map[int32]float64{}

	for _, key := range subjectKeys {
		for _, entry := range r.front.list(key) {
			found := map[int32]float64{}
			collect(l, l.title, plaintext.AppendTokens(nil, entry), found)

			for id, share := range found {
				if strings.HasPrefix(key, "tag") {
					share *= tagShare
				}

				if share >= tagShare {
					named[id] = max(named[id], share)
				}
			}
		}
	}
	l.credit(named, to)
}

// tagShare is the part of a title's weight that a tag has, and the least share of a term in an entry.
const tagShare = 0.5

// scoreHeadings scores the terms in the title, the headings and the captions. It counts each term once, in full if
// the heading equals the term. Other words in the heading reduce the score.
func (l *typeLexicon) scoreHeadings(r *reading, s *scores) {
	found := map[int32]float64{}
	collectHeading(l, l.title, r.title(), found)
	l.credit(found, s[inTitle])
	clear(found)

	if r.front.text("title") != "" || r.title() == "" {
		for i, h := range r.headings { // the first heading may be another title
			if i == 0 && h.level == 1 {
				collectHeading(l, l.title, h.text, found)
			}
		}
		l.credit(found, s[inTitle])
		clear(found)
	}

	if r.title() == "" && len(r.captions) > 0 {
		collectHeading(l, l.title, r.captions[0], found)
		l.credit(found, s[inTitle])
		clear(found)
	}

	read := min(len(r.headings), 400)
	for _, h := range r.headings[:read] {
		collectHeading(l, l.head, h.text, found)
	}

	for _, c := range r.captions {
		weak := map[int32]float64{}
		collectHeading(l, l.head, c, weak)

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

// maxParts limits the parts of a heading.
const maxParts = 3

// collectHeading records the terms in a heading, and also those in each of its parts: "Report: the first year" is a
// report, whatever follows.
func collectHeading(l *typeLexicon, index termIndex, text string, found map[int32]float64) {
	tokens := plaintext.AppendTokens(nil, text)
	for len(tokens) > 1 && (plaintext.IsNumeral(tokens[0]) || len(tokens[0]) == 1) { // "3. Methods", "A. Definitions"
		tokens = tokens[1:]
	}
	collect(l, index, tokens, found)

	parts := partEnds().Split(text, maxParts)
	if len(parts) == 1 {
		return
	}

	for _, part := range parts {
		collect(l, index, plaintext.AppendTokens(tokens[:0], part), found)
	}
}

// partEnds matches what separates the parts of a heading.
var partEnds = lazyregexp.New(`[:：|｜·(（]|\s[-–—]+\s|——`)

// collect records the terms in a heading, and for each the largest share of a heading that it makes up, 0 to 1.
// Numbers do not count: "Newsletter 9" is all newsletter.
func collect(l *typeLexicon, index termIndex, tokens []string, found map[int32]float64) {
	length := 0
	for _, t := range tokens {
		length += count(!plaintext.IsNumeral(t))
	}

	for i, first := range tokens {
		index.starting(first, func(id int32) {
			if !l.terms[id].begins(tokens[i:]) {
				return
			}
			words := len(l.terms[id].words)

			share := float64(words) / float64(max(length, words))
			if words < length {
				share = 0.25 + 0.6*share
				if i > 0 && i+words < length {
					share *= 0.6
				}
			}
			found[id] = max(found[id], share)
		})
	}
}

// credit adds the weights of the terms, multiplied by their shares, to the scores of their types.
func (l *typeLexicon) credit(found map[int32]float64, to []float64) {
	for _, id := range sortedKeys(found) { // a fixed order: it affects the rounding of the sum
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
	length := float64(r.proseWords()+r.cells) / 300

	for _, id := range sortedKeys(found) {
		t := l.terms[id]
		// A cue that occurs once in a page by chance counts less in a long text.
		rate := found[id] / (1 + length/2)
		s[inText][t.kind] += t.weight * math.Min(2, rate+math.Min(0.35, 0.35*found[id]))
	}
}

// sortedKeys returns the keys of m in ascending order, so that a sum over them is always rounded in the same way.
func sortedKeys(m map[int32]float64) []int32 {
	keys := make([]int32, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)

	return keys
}
