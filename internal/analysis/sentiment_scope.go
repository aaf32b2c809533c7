package analysis

import (
	_ "embed"
	"strings"
	"sync"
)

// How far and how strongly a negation reaches.
const (
	reachPositive = 5 // words that matter, unless the clause ends before
	reachNegative = 4
	flipPositive  = -0.74 // "not good"
	flipNegative  = -0.5  // "not bad" is weaker than "good"
)

// scope is the open negation at a point of the sentence.
type scope struct {
	on    bool
	left  int     // remaining words in its reach
	polar float64 // the last valence inside it
	noun  bool    // opened by a word that negates a noun phrase
	soft  int     // 1 turns evils around, −1 goods, 0 both
}

// markNegations marks the words that are inside a negation, from left to right.
func markNegations(tokens []token) {
	var s scope

	for i := range tokens {
		t := &tokens[i]
		if t.starts || i > 0 && tokens[i-1].ends && !continuesNegation(tokens, i) {
			s = scope{}
		}

		if t.used {
			t.negated = s.covers(t.valence)
			continue
		}

		if endsScope(tokens, i, s) {
			s = scope{}
		}

		if opened, ok := opensScope(tokens, i, s); ok {
			if !t.is(negator) { // "never fails to"
				t.negated = s.covers(t.valence)
			}
			s = opened
			continue
		}

		if !t.is(filler) {
			s.left--
		}

		if s.left < 0 {
			s = scope{}
		}

		if t.known {
			t.negated = s.covers(t.valence)
			s.polar = t.valence
		}
	}
}

func (s scope) covers(valence float64) bool {
	return s.on && (s.soft == 0 || s.soft > 0 && valence < 0 || s.soft < 0 && valence > 0) &&
		(valence > 0 || s.left >= reachPositive-reachNegative)
}

// continuesNegation reports whether the clause at i goes on with the negation
// before its comma: "not good, nor cheap", "not smart, funny or kind".
func continuesNegation(tokens []token, i int) bool {
	t := tokens[i]
	if t.lower == "nor" || t.lower == "or" {
		return true
	}

	return t.known && tokens[i-1].known && tokens[i-1].negated && !t.starts && i+1 < len(tokens) &&
		(t.ends || tokens[i+1].lower == "or" || tokens[i+1].lower == "nor")
}

// endsScope reports whether the i-th word begins a new clause, which a negation does not reach.
func endsScope(tokens []token, i int, s scope) bool {
	t := tokens[i]
	switch {
	case !s.on:
		return false
	case t.lower == "as": // "not as good as"
		return s.polar != 0
	case t.lower == "but" && (tokens[i-1].lower == "anything" || tokens[i-1].lower == "nothing"):
		return false
	case t.lower == "how": // "never liked how", but "don't know how"
		return s.polar == 0
	case t.is(clauseStart):
		return true
	case (t.lower == "and" || t.lower == "or" || t.lower == "so") && i+1 < len(tokens):
		return tokens[i+1].is(subject) || s.noun && t.lower == "and" && s.polar*nextValence(tokens[i+1:]) < 0
	case s.noun && s.polar != 0 && t.is(copula):
		return true
	}

	return false
}

// nextValence returns the valence of the first of the next three words that has one, or 0.
func nextValence(tokens []token) float64 {
	for _, t := range tokens[:min(3, len(tokens))] {
		if t.known {
			return t.valence
		}
	}

	return 0
}

// opensScope returns the scope that the i-th word opens.
func opensScope(tokens []token, i int, s scope) (scope, bool) {
	t := tokens[i]

	next := ""
	if i+1 < len(tokens) && !t.ends {
		next = tokens[i+1].lower
	}

	opened := scope{on: true, left: reachPositive}
	switch {
	case t.lower == "far" && next == "from", t.lower == "anything" && next == "but":
		return opened, true
	case t.is(negator):
		return negatorScope(tokens, i, next, s, opened)
	case t.lower == "if" && next == "only", isWish(tokens, i):
		tokens[i].known = false
		return opened, true
	case t.lower == "yet" && next == "to":
		return opened, !comparativeAhead(tokens[i+2:])
	case (t.lower == "could" || t.lower == "should") && (next == "be" || next == "have") && comparativeAhead(tokens[i+2:]):
		return opened, true // "could have been nicer"
	case t.is(loser), t.is(quitter) && (next == "to" || strings.HasSuffix(next, "ing")):
		opened.soft = -1

		if s.on { // "never fails to impress"
			return scope{}, true
		}

		return opened, true
	case t.is(preventer) && !s.on:
		opened.soft, opened.noun, opened.left = 1, true, 4
		return opened, true
	}

	return scope{}, false
}

// isWish reports a wish for what is not: "wish it were", "wish they had".
func isWish(tokens []token, i int) bool {
	if tokens[i].lower != "wish" {
		return false
	}

	for _, t := range tokens[i:min(i+5, len(tokens))] {
		switch t.lower {
		case "were", "was", "had", "could", "would", "did":
			return true
		}

		if t.ends {
			break
		}
	}

	return false
}

// negatorScope returns the scope that a negating word opens. It returns none if the word does not negate ("not
// only"), and the end of an earlier scope if the word negates that.
func negatorScope(tokens []token, i int, next string, s, opened scope) (scope, bool) {
	t := tokens[i]
	switch t.lower {
	case "not", "cannot", "isn't", "wasn't", "aren't", "doesn't", "didn't", "don't":
		if next == "only" || next == "just" || next == "merely" || next == "simply" || next == "solely" {
			return scope{}, true
		}
	case "few":
		if i > 0 && (tokens[i-1].lower == "a" || tokens[i-1].lower == "the") {
			return scope{}, false
		}
	case "nothing":
		if next == "but" || next == "short" {
			return scope{}, true
		}
	case "hardly", "barely", "scarcely":
		if i > 0 && tokens[i-1].lower == "can" && next == "wait" {
			return scope{}, true
		}
	}

	if t.is(perfect) && comparesLater(tokens[i+1:]) {
		return scope{}, true
	}

	opened.noun = t.is(nounNegator)
	if strings.HasPrefix(t.lower, "can") || strings.HasPrefix(t.lower, "couldn") ||
		i > 0 && (tokens[i-1].lower == "can" || tokens[i-1].lower == "could") {
		praises := next != "" && tokens[i+1].is(enoughVerb) && laterInClause(tokens[i:], "enough")
		if praises || comparativeAhead(tokens[i+1:]) { // "can't praise it enough", "couldn't be nicer"
			return scope{}, true
		}
	}
	// A second negation of the same thing takes the first back: "not without",
	// "never not". A list goes on: "neither … nor", "never, never".
	if s.on && s.soft == 0 && s.polar == 0 && !t.is(listNegator) && tokens[i-1].lower != "and" &&
		tokens[i-1].lower != "or" && !tokens[i-1].ends {
		return scope{}, true
	}

	return opened, true
}

// comparesLater reports whether a comparing word stands before the next valence.
func comparesLater(tokens []token) bool {
	for _, t := range tokens[:min(5, len(tokens))] {
		if t.is(comparer) {
			return true
		}

		if t.known || t.ends {
			return false
		}
	}

	return false
}

// comparativeAhead reports whether the next word with a valence is a comparative:
// "nicer", "worse", "more pleased".
func comparativeAhead(tokens []token) bool {
	for i, t := range tokens[:min(7, len(tokens))] {
		switch {
		case t.lower == "more" && i+1 < len(tokens) && tokens[i+1].known, t.lower == "worse", t.lower == "better":
			return true
		case t.known:
			stem, er := strings.CutSuffix(t.lower, "er")
			return er && (strings.HasSuffix(stem, "i") || sentimentWords()[stem] > 0 || sentimentWords()[stem+"e"] > 0)
		case t.ends:
			return false
		}
	}

	return false
}

// laterInClause reports whether word stands in the rest of a clause.
func laterInClause(tokens []token, word string) bool {
	for _, t := range tokens {
		if t.lower == word {
			return true
		}

		if t.ends {
			return false
		}
	}

	return false
}

//go:embed data/sentiment_grammar.tsv
var grammarData string

// grammar is a set of what a word does to the sentiment of others; the data file
// explains each.
type grammar uint32

const (
	negator grammar = 1 << iota
	nounNegator
	listNegator
	preventer
	quitter
	loser
	comparer
	perfect
	clauseStart
	subject
	filler
	contrast
	concession
	enoughVerb
	copula
	social
	stronger
	weaker
)

// grammars maps a word to its grammatical effects.
var grammars = sync.OnceValue(func() map[string]grammar {
	kinds := map[string]grammar{
		"negator": negator, "noun negator": nounNegator, "list negator": listNegator, "preventer": preventer,
		"quitter": quitter, "loser": loser, "comparer": comparer, "perfect": perfect, "clause": clauseStart,
		"subject": subject, "filler": filler, "contrast": contrast, "concession": concession, "enough": enoughVerb,
		"copula": copula, "social": social,
	}
	table := make(map[string]grammar, 512)

	for fields := range dataLines(grammarData) {
		kind, ok := kinds[fields[0]]
		if !ok {
			panic("analysis: grammar: unknown kind " + fields[0])
		}

		for word := range strings.FieldsSeq(fields[1]) {
			table[word] |= kind
		}
	}

	for word, sign := range boosters {
		if sign > 0 {
			table[word] |= stronger
		} else {
			table[word] |= weaker
		}
	}

	return table
})

// grammarOf returns the grammatical effects of a lower-case word.
func grammarOf(word string) grammar {
	g := grammars()[word]
	if strings.HasSuffix(word, "n't") {
		g |= negator
	}

	return g
}
