package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"presswork/internal/analysis/plaintext"
)

const (
	// maxQuotedTerms limits the quoted headings, and also the quoted words.
	maxQuotedTerms = 3
	// minQuotedWeight is the least weight of a quoted word. A term in a heading must weigh more.
	minQuotedWeight = 1.0
	// minContribution is the smallest contribution to a type's logit with which a structural feature is named.
	minContribution = 0.6
	// maxQuoteLength limits a quoted heading, in characters.
	maxQuoteLength = 40
)

// structurePhrases describes structural features in words. "%d" stands for their number.
var structurePhrases = map[string]string{
	"head_clause":  "%d numbered clauses",
	"head_version": "%d headings of versions",
	"citations":    "%d citations",
	"badges":       "badges",
	"head_code":    "headings that are code",
	"head_step":    "numbered steps",
	"quantities":   "lists of quantities",
	"salutation":   "a salutation",
	"closing":      "a closing",
	"verse":        "lines of verse",
	"ragged":       "lines that end early",
	"stanzas":      "stanzas",
	"dialogue":     "direct speech",
	"narrative":    "narration",
	"money_table":  "tables of amounts",
	"money":        "amounts of money",
	"spans":        "spans of years",
	"contact":      "contact details",
	"math":         "formulas",
	"shall":        "words of obligation",
	"speakers":     "who said what",
	"imperative":   "instructions",
}

// evidence returns phrases that support a type: structure, headings and words. The strongest of each group come
// first.
func (r *reading) evidence(docType string, x []float64) []string {
	kind := slices.Index(DocumentTypes(), docType)
	var found []string

	for _, group := range []struct {
		many, one string
		terms     []string
	}{
		{"headings such as ", "the heading ", r.tellingHeadings(kind)},
		{"words such as ", "the words ", r.tellingWords(kind)},
	} {
		switch n := len(group.terms); {
		case n == 1:
			found = append(found, group.one+group.terms[0])
		case n > 1:
			found = append(found, group.many+strings.Join(group.terms, ", "))
		}
	}

	return append(r.tellingStructure(kind, x), found...)
}

// tellingStructure returns at most two structural features, those that contribute most to a type, in words.
func (r *reading) tellingStructure(kind int, x []float64) []string {
	row, from := typeModel().Rows[kind], len(x)-len(structureNames)
	type share struct {
		phrase string
		value  float64
	}
	var all []share

	for i, name := range structureNames {
		phrase, value := structurePhrases[name], row[from+i]*x[from+i]
		if phrase == "" || value < minContribution {
			continue
		}

		if strings.Contains(phrase, "%d") {
			n := r.occurrences(name)
			if n < 2 {
				continue
			}
			phrase = fmt.Sprintf(phrase, n)
		}
		all = append(all, share{phrase, value})
	}
	slices.SortStableFunc(all, func(a, b share) int { return cmp.Compare(b.value, a.value) })

	var phrases []string
	for _, s := range all[:min(len(all), 2)] {
		phrases = append(phrases, s.phrase)
	}

	return phrases
}

// occurrences returns the number for the "%d" in the phrase of a structural feature. The feature must be one whose
// phrase in structurePhrases has it.
func (r *reading) occurrences(feature string) (n int) {
	like := clauseLike

	switch feature {
	case "citations":
		return r.ev.citations
	case "head_version":
		like = versionLike
	}

	for _, h := range r.headings {
		n += count(like().MatchString(h.text))
	}

	return n
}

// tellingHeadings returns at most maxQuotedTerms of the first 100 headings, in quotes. A term of the type makes up at
// least half of the words of each.
func (r *reading) tellingHeadings(kind int) (quoted []string) {
	l := typeTerms()
	for i, h := range r.headings[:min(len(r.headings), 100)] {
		index, tokens, tells := l.head, plaintext.AppendTokens(nil, h.text), false
		if i == 0 {
			index = l.title
		}

		for j, first := range tokens {
			index.starting(first, func(id int32) {
				t := l.terms[id]
				// A strong term tells the type if it makes up at least half of the words.
				tells = tells ||
					t.kind == kind && t.weight > minQuotedWeight && 2*len(t.words) >= len(tokens) &&
						t.begins(tokens[j:])
			})
		}

		q := "“" + h.text + "”"
		if tells && utf8.RuneCountInString(h.text) <= maxQuoteLength && !slices.Contains(quoted, q) &&
			len(quoted) < maxQuotedTerms {
			quoted = append(quoted, q)
		}
	}

	return quoted
}

// tellingWords returns quoted words of the text that are terms of a type.
func (r *reading) tellingWords(kind int) (quoted []string) {
	l := typeTerms()
	weights := map[string]float64{}

	for i, first := range r.tokens {
		l.text.starting(first, func(id int32) {
			t := l.terms[id]
			if t.kind != kind || t.weight < minQuotedWeight || !t.begins(r.tokens[i:]) {
				return
			}
			weights[joinTokens(r.tokens[i:i+len(t.words)])] += t.weight
		})
	}

	words := make([]string, 0, len(weights))
	for w := range weights {
		words = append(words, w)
	}
	slices.SortFunc(
		words,
		func(a, b string) int { return cmp.Or(cmp.Compare(weights[b], weights[a]), strings.Compare(a, b)) },
	)

	for _, w := range words[:min(len(words), maxQuotedTerms)] {
		quoted = append(quoted, "“"+w+"”")
	}

	return quoted
}

// joinTokens returns tokens as they are written in text: without spaces in scripts that use none.
func joinTokens(tokens []string) string {
	var out strings.Builder

	for i, t := range tokens {
		if i > 0 && glyphWords(t) == 0 && glyphWords(tokens[i-1]) == 0 {
			out.WriteByte(' ')
		}
		out.WriteString(t)
	}

	return out.String()
}
