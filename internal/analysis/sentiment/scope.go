package sentiment

import (
	_ "embed"
	"strings"
	"sync"

	"presswork/internal/analysis/wordlist"
)

// Reach and factors of a negation. The reach is a number of words; it ends earlier with the clause.
const (
	reachPositive = 5     // to a positive word
	reachNegative = 4     // to a negative word
	flipPositive  = -0.74 // "not good"
	flipNegative  = -0.5  // "not bad" is weaker than "good"
)

// scope is the open negation at a point of the sentence.
type scope struct {
	open        bool
	wordsLeft   int     // remaining words in its reach
	lastValence float64 // the last valence inside it, or 0
	noun        bool    // opened by a word that negates a noun phrase
	oneSided    int     // 1 reverses only negative words, −1 only positive words, 0 both
}

// markNegations marks the words that are inside a negation, from left to right.
func markNegations(tokens []token) {
	var s scope

	for i := range tokens {
		t := &tokens[i]
		if t.starts || i > 0 && tokens[i-1].ends && !continuesNegation(tokens, i) {
			s = scope{}
		}

		if t.inPhrase {
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
			s.wordsLeft--
		}

		if s.wordsLeft < 0 {
			s = scope{}
		}

		if t.known {
			t.negated = s.covers(t.valence)
			s.lastValence = t.valence
		}
	}
}

// covers reports whether the scope negates a word with this valence at the current position.
func (s scope) covers(valence float64) bool {
	reversible := s.oneSided == 0 || s.oneSided > 0 && valence < 0 || s.oneSided < 0 && valence > 0
	inReach := valence > 0 || s.wordsLeft >= reachPositive-reachNegative

	return s.open && reversible && inReach
}

// continuesNegation reports whether the clause at i continues the negation before its comma: "not good, nor cheap",
// "not smart, funny or kind".
func continuesNegation(tokens []token, i int) bool {
	t := tokens[i]
	if t.lower == "nor" || t.lower == "or" {
		return true
	}

	// In "not good, bad or ugly" the negation also covers "bad".
	return t.known && tokens[i-1].known && tokens[i-1].negated && !t.starts && i+1 < len(tokens) &&
		(t.ends || tokens[i+1].lower == "or" || tokens[i+1].lower == "nor")
}

// endsScope reports whether the i-th word begins a new clause, which a negation does not reach.
func endsScope(tokens []token, i int, s scope) bool {
	t := tokens[i]
	switch {
	case !s.open:
		return false
	case t.lower == "as": // "not as good as"
		return s.lastValence != 0
	case t.lower == "but" && (tokens[i-1].lower == "anything" || tokens[i-1].lower == "nothing"):
		return false
	case t.lower == "how": // "never liked how", but "don't know how"
		return s.lastValence == 0
	case t.is(clauseStart):
		return true
	case (t.lower == "and" || t.lower == "or" || t.lower == "so") && i+1 < len(tokens):
		return tokens[i+1].is(subject) || s.noun && t.lower == "and" && s.lastValence*nextValence(tokens[i+1:]) < 0
	case s.noun && s.lastValence != 0 && t.is(copula):
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

// opensScope returns the scope that the i-th word opens, and false if it opens none. An empty scope with true means
// that the word ends the scope s.
func opensScope(tokens []token, i int, s scope) (scope, bool) {
	t := tokens[i]

	next := ""
	if i+1 < len(tokens) && !t.ends {
		next = tokens[i+1].lower
	}

	opened := scope{open: true, wordsLeft: reachPositive}
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
		opened.oneSided = -1

		if s.open { // "never fails to impress"
			return scope{}, true
		}

		return opened, true
	case t.is(preventer) && !s.open:
		opened.oneSided, opened.noun, opened.wordsLeft = 1, true, 4
		return opened, true
	}

	return scope{}, false
}

// isWish reports whether the i-th word begins a wish about something unreal: "wish it were", "wish they had".
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

// negatorScope returns the scope that a negating word opens, as opensScope does. The scope is empty if the word does
// not negate ("not only") or takes back the negation s.
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
	// "Can't praise it enough" praises, although it has a negation.
	if strings.HasPrefix(t.lower, "can") || strings.HasPrefix(t.lower, "couldn") ||
		i > 0 && (tokens[i-1].lower == "can" || tokens[i-1].lower == "could") {
		praises := next != "" && tokens[i+1].is(enoughVerb) && laterInClause(tokens[i:], "enough")
		if praises || comparativeAhead(tokens[i+1:]) { // "can't praise it enough", "couldn't be nicer"
			return scope{}, true
		}
	}
	// A second negation of the same thing takes the first back: "not without", "never not". A list continues the
	// negation: "neither … nor", "never, never".
	if s.open && s.oneSided == 0 && s.lastValence == 0 && !t.is(listNegator) {
		inList := tokens[i-1].lower == "and" || tokens[i-1].lower == "or" || tokens[i-1].ends
		if !inList {
			return scope{}, true
		}
	}

	return opened, true
}

// comparesLater reports whether a comparing word comes before the next word with a valence.
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
			return er && (strings.HasSuffix(stem, "i") || lexicon()[stem] > 0 || lexicon()[stem+"e"] > 0)
		case t.ends:
			return false
		}
	}

	return false
}

// laterInClause reports whether a word occurs before the clause ends.
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

//go:embed data/grammar.tsv
var grammarData string

// grammar is a bit set of the effects of a word on the sentiment of others. The header of the data file explains each.
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

	for fields := range wordlist.Rows(grammarData) {
		kind, ok := kinds[fields[0]]
		if !ok {
			panic("sentiment: grammar: unknown kind " + fields[0])
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
