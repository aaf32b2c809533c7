package analysis

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"presswork/internal/analysis/finding"
	"presswork/internal/analysis/lang"
	"presswork/internal/analysis/plaintext"
	"presswork/internal/markdown"
)

const (
	maxKeywords = 10
	// maxPhrase limits a term, in words.
	maxPhrase = 4
)

// Weights of evidence outside running text, in occurrences. They are set by hand: the corpus has no labelled
// keywords.
const (
	titleWeight   = 3.0
	headingWeight = 1.2
	boldWeight    = 0.8
	linkWeight    = 0.5
)

// candidate is a possible keyword: a run of words without function words.
type candidate struct {
	shown    map[string]int // spellings by how often they occur
	words    int
	count    float64
	evidence float64
	first    int // number of words before the first occurrence
	// before and after are its neighbours within their runs. variedBefore and variedAfter report whether other
	// occurrences have other neighbours.
	before, after             string
	variedBefore, variedAfter bool
	// headed reports whether the candidate occurs in a heading.
	headed bool
}

// isFragment reports whether the phrase is part of a longer one: it always has the same neighbour.
func (p *candidate) isFragment() bool {
	return p.before != "" && !p.variedBefore || p.after != "" && !p.variedAfter
}

// addNeighbours records the neighbours of an occurrence. first reports whether it is the first one.
func (p *candidate) addNeighbours(before, after string, first bool) {
	if first {
		p.before, p.after = before, after
		return
	}
	p.variedBefore = p.variedBefore || before != p.before
	p.variedAfter = p.variedAfter || after != p.after
}

// keywords returns the document's terms, the most important first: those in the front matter, then phrases of the
// text.
func keywords(r *reading, language string) []finding.Keyword {
	c := collector{language: language, phrases: map[string]*candidate{}}
	// Terms of the title count even if the text does not repeat them.
	c.heading = true
	c.add(r.title(), titleWeight, 0)

	for i, h := range r.headings[:min(len(r.headings), 300)] {
		if !genericHeading(h.text) {
			c.add(h.text, headingWeight/math.Sqrt(1+float64(i)/8), i)
		}
	}
	c.heading = false
	at := 0

	for _, p := range r.passages {
		weight := 1.0
		if p.Kind == markdown.RowBlock {
			weight = 0.3
		}
		c.add(p.text, weight, at)
		at += 1 + strings.Count(p.text, " ")
	}

	for _, b := range r.ev.bold {
		c.support(b, boldWeight)
	}

	for _, l := range r.ev.linked {
		c.support(l, linkWeight)
	}

	out := frontKeywords(r.front)
	if r.glyphs > float64(r.words) {
		out = glyphKeywords(r, language, out)
	}

	return c.ranked(at, out)
}

// frontKeywords returns the keywords and tags in the front matter.
func frontKeywords(front frontMatter) []finding.Keyword {
	out := []finding.Keyword{}

	for _, key := range []string{"keywords", "tags"} {
		for _, t := range front.list(key) {
			known := func(k finding.Keyword) bool { return strings.EqualFold(k.Term, t) }
			if len(out) == maxKeywords || utf8.RuneCountInString(t) > 60 || slices.ContainsFunc(out, known) {
				continue
			}
			out = append(out, finding.Keyword{Term: t, Score: 1})
		}
	}

	return out
}

// collector counts the phrases of a document. phrases is indexed by the phrase in lower case, in the singular.
type collector struct {
	language string
	heading  bool // the text being added is a heading
	phrases  map[string]*candidate
}

// add counts the phrases of a text and their parts. at is the number of words before the text.
func (c *collector) add(text string, weight float64, at int) {
	for _, run := range c.runs(text) {
		for size := 1; size <= min(maxPhrase, len(run)); size++ {
			for i := 0; i+size <= len(run); i++ {
				w := weight
				if size < len(run) {
					w *= 0.7 // a part of a longer phrase
				}

				before, after := "", ""
				if i > 0 {
					before = strings.ToLower(run[i-1])
				}

				if i+size < len(run) {
					after = strings.ToLower(run[i+size])
				}
				c.count(run[i:i+size], before, after, w, at)
			}
		}
	}
}

// count records an occurrence of a phrase between two neighbours.
func (c *collector) count(words []string, before, after string, weight float64, at int) {
	if len(words) == 1 && utf8.RuneCountInString(words[0]) < 3 && !allCapitals(words[0]) {
		return
	}
	key := stem(strings.ToLower(strings.Join(words, " ")))

	p := c.phrases[key]
	if p == nil {
		p = &candidate{shown: map[string]int{}, words: len(words), first: at}
		c.phrases[key] = p
		p.addNeighbours(before, after, true)
	} else {
		p.addNeighbours(before, after, false)
	}
	p.headed = p.headed || c.heading
	p.count += weight
	p.shown[strings.Join(words, " ")]++
}

// support adds weight to phrases that the text already contains.
func (c *collector) support(text string, weight float64) {
	for _, run := range c.runs(text) {
		if p := c.phrases[stem(strings.ToLower(strings.Join(run, " ")))]; p != nil {
			p.evidence = min(p.evidence+weight, 4)
		}
	}
}

// runs splits a text into runs of words between function words, numbers and punctuation. Identifiers of code end a
// run and are left out.
func (c *collector) runs(text string) (out [][]string) {
	var run []string
	end := func() {
		if len(run) > 0 {
			out = append(out, run)
			run = nil
		}
	}

	for word := range strings.FieldsSeq(strings.ReplaceAll(text, "\n", " \x00 ")) { // a line end is punctuation
		core := strings.TrimFunc(
			word,
			func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) },
		)

		before, after, _ := strings.Cut(word, core)
		if core == "" || before != "" {
			end()
		}

		if core == "" {
			continue
		}

		core = strings.TrimSuffix(strings.TrimSuffix(core, "'s"), "’s")

		weak, marked := weakIn(strings.ToLower(core), c.language), core
		if !weak {
			core = withoutParticle(core, c.language)
		}

		switch {
		case weak,
			unspacedWord(core),
			!termWord(core),
			lang.StopWord(strings.ToLower(core), c.language),
			weakIn(strings.ToLower(core), c.language):
			end()
		default:
			run = append(run, core)
		}

		if after != "" || core != marked { // a particle ends a noun phrase
			end()
		}
	}
	end()

	return out
}

// termWord reports whether w is a word rather than a number, an identifier or a path.
func termWord(w string) bool {
	letters, inner := 0, 0

	for i, r := range w {
		switch {
		case unicode.IsLetter(r) || unicode.IsMark(r):
			letters++

			if i > 0 && unicode.IsUpper(r) {
				inner++
			}
		case strings.ContainsRune(`_/.:(=@\'’`, r):
			return false
		}
	}

	if letters < 2 || letters*2 < utf8.RuneCountInString(w) || len(w) > 40 {
		return false
	}
	mixed := inner > 0 && inner < letters-1
	camelCase := mixed && unicode.IsLower(rune(w[0]))

	return !camelCase
}

// unspacedWord reports whether a word contains characters of a script without spaces.
func unspacedWord(w string) bool {
	return strings.ContainsFunc(w, plaintext.Unspaced)
}

// ranked appends the best phrases of a document to the known terms, up to maxKeywords. length is the document's
// length in words.
func (c *collector) ranked(length int, out []finding.Keyword) []finding.Keyword {
	type scored struct {
		key   string
		p     *candidate
		score float64
	}
	var all []scored

	for key, p := range c.phrases {
		n := p.count + p.evidence
		rare := n < 1.9 && length > 120
		chance := p.words > 1 && (p.count < 1.5 && length > 60 || p.isFragment())

		verb := c.language == "en" && p.words == 1 && participle(key, p) ||
			c.language == "de" && !p.headed && !endsInNoun(p.spelling())
		if rare || chance || verb {
			continue
		}
		// Frequency has diminishing weight; longer phrases and early ones score higher.
		early := 1 + 0.6/(1+8*float64(p.first)/float64(max(length, 50)))

		score := math.Log2(1+n) * (1 + 0.45*float64(min(p.words, 3)-1)) * early
		if p.words == 1 && len(key) < 5 {
			score *= 0.8
		}
		all = append(all, scored{key, p, score})
	}
	slices.SortFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.p.first, b.p.first), strings.Compare(a.key, b.key))
	})

	var taken []string
	for _, k := range out {
		taken = append(taken, stem(strings.ToLower(k.Term)))
	}

	for _, s := range all {
		if len(out) == maxKeywords {
			break
		}

		if overlaps(taken, s.key) {
			continue
		}
		taken = append(taken, s.key)
		out = append(out, finding.Keyword{Term: s.p.spelling(), Score: hundredths(s.score / all[0].score)})
	}

	return out
}

// overlaps reports whether a term shares at least half of its words with a term already taken.
func overlaps(taken []string, key string) bool {
	words := strings.Fields(key)

	for _, t := range taken {
		shared := 0

		for _, w := range words {
			if strings.Contains(" "+t+" ", " "+w+" ") || strings.Contains(" "+t+" ", " "+stem(w)+" ") {
				shared++
			}
		}

		if shared > 0 && shared*2 >= min(len(words), 1+strings.Count(t, " ")) {
			return true
		}
	}

	return false
}

// spelling returns the most frequent spelling of a phrase, in lower case if it occurs that way: only names always
// have capitals.
func (p *candidate) spelling() string {
	best, most := "", 0
	for s, n := range p.shown {
		if n > most || n == most && s > best {
			best, most = s, n
		}
	}

	if lower := strings.ToLower(best); p.shown[lower] > 0 || allCapitals(best) && p.words > 1 {
		return lower
	}

	return best
}
