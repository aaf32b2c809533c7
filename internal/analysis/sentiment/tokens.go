package sentiment

import (
	_ "embed"
	"maps"
	"strings"
	"sync"
	"unicode/utf8"

	"presswork/internal/analysis/plaintext"
	"presswork/internal/analysis/wordlist"
)

var (
	//go:embed data/more.tsv
	moreValenceData string
	//go:embed data/phrases.tsv
	phraseData string
)

// token is a word of a sentence and its properties.
type token struct {
	lower    string
	valence  float64
	known    bool // has a valence
	upper    bool // has capitals and no small letters
	ends     bool // a clause ends after it
	starts   bool // a clause starts with it
	inPhrase bool // is part of a phrase, whose valence the first word has
	negated  bool // is inside the scope of a negation
	grammar  grammar
}

// is reports whether the word is in any of the groups g.
func (t *token) is(g grammar) bool { return t.grammar&g != 0 }

// lexicon is VADER's valence lexicon extended by the project's own words.
var lexicon = sync.OnceValue(func() map[string]float64 {
	table := make(map[string]float64, 8192)
	maps.Copy(table, valences())

	for fields := range wordlist.Rows(moreValenceData) {
		v := wordlist.Number(fields[0])
		for word := range strings.FieldsSeq(fields[1]) {
			table[word] = v
		}
	}

	return table
})

// phrase is a sequence of words with a valence of its own.
type phrase struct {
	words   []string
	valence float64
}

// phrases maps a first word to the phrases that begin with it, longest first.
var phrases = sync.OnceValue(func() map[string][]phrase {
	table := map[string][]phrase{}

	for fields := range wordlist.Rows(phraseData) {
		words := strings.Fields(fields[0])
		list := table[words[0]]

		at := 0
		for at < len(list) && len(list[at].words) >= len(words) {
			at++
		}
		list = append(list, phrase{})
		copy(list[at+1:], list[at:])
		list[at] = phrase{words, wordlist.Number(fields[1])}
		table[words[0]] = list
	}

	return table
})

// tokenize splits a sentence into words, marks the ends of clauses, and sets the valence of phrases.
func tokenize(sentence string) []token {
	table := lexicon()

	tokens := make([]token, 0, 24)
	for field := range strings.FieldsSeq(plainMarks(sentence)) {
		if len(tokens) >= plaintext.MaxWords {
			break
		}

		if len(field) > 64 {
			continue // not a word
		}
		tokens = appendField(tokens, field, table)
	}

	for i := range tokens {
		tokens[i].grammar = grammarOf(tokens[i].lower)
	}
	markPhrases(tokens)

	return tokens
}

// plainMarks replaces apostrophes by their ASCII form, and separates emoji from words. An emoji with a name is
// replaced by it.
func plainMarks(s string) string {
	if plaintext.IsASCII(s) {
		return s
	}
	names := emojiNames()
	var b strings.Builder

	for _, r := range s {
		name, named := names[r]
		switch {
		case named:
			b.WriteString(" " + name + " ")
		case plaintext.IsEmoji(r):
			b.WriteString(" " + string(r) + " ")
		case r == '’':
			b.WriteByte('\'')
		case r != '\ufe0f': // asks for the coloured form
			b.WriteRune(r)
		}
	}

	return b.String()
}

// appendField appends the word of a field, the text between two white spaces. It appends the parts of a compound
// such as "well-loved" or "good/bad" if only they are in the lexicon.
func appendField(tokens []token, field string, table map[string]float64) []token {
	word := plaintext.TrimWord(field)
	if utf8.RuneCountInString(word) <= 2 {
		lower := strings.ToLower(field)
		if v, ok := table[lower]; ok {
			if word == "" && len(tokens) > 0 { // an emoticon stands by itself
				tokens[len(tokens)-1].ends = true
			}

			return append(
				tokens,
				token{lower: lower, valence: v, known: true, upper: plaintext.IsUpper(field), ends: word == ""},
			)
		}

		if word == "" { // a dash, a bullet, an ellipsis
			if len(tokens) > 0 {
				tokens[len(tokens)-1].ends = true
			}

			return tokens
		}
	}
	at := strings.Index(field, word)
	first := token{starts: strings.ContainsAny(field[:at], "(—–")}
	ends := strings.ContainsAny(field[at+len(word):], ",;:.!?)—–…")
	lower := strings.ToLower(word)

	v, known := table[lower]
	if !known && strings.ContainsAny(lower, "-/—–…") && !strings.Contains(lower, "://") {
		from, polar := len(tokens), false

		for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return strings.ContainsRune("-/—–….", r) }) {
			p := token{lower: strings.ToLower(part), upper: plaintext.IsUpper(part)}
			p.valence, p.known = table[p.lower]
			polar = polar || p.known
			tokens = append(tokens, p)
		}

		if polar {
			tokens[from].starts = first.starts
			tokens[len(tokens)-1].ends = ends
			reverseFreeCompound(tokens[from:])

			return tokens
		}
		tokens = tokens[:from]
	}
	first.lower, first.valence, first.known, first.upper, first.ends = lower, v, known, plaintext.IsUpper(word), ends

	return append(tokens, first)
}

// reverseFreeCompound reverses the valence in compounds such as "error-free": the absence of something bad is good.
func reverseFreeCompound(parts []token) {
	if len(parts) == 2 && parts[1].lower == "free" && parts[0].valence <= 0 {
		parts[1].valence = min(1.5, -parts[0].valence)
		parts[1].known = parts[1].valence > 0
		parts[0].known, parts[0].valence = false, 0
	}
}

// markPhrases sets the valence of a phrase on its first word and removes that of the others.
func markPhrases(tokens []token) {
	table := phrases()
	for i := 0; i < len(tokens); i++ {
		for _, p := range table[tokens[i].lower] {
			if !phraseAt(tokens[i:], p.words) {
				continue
			}

			for k := range p.words {
				tokens[i+k].valence, tokens[i+k].known, tokens[i+k].inPhrase = 0, false, true
			}
			tokens[i].valence, tokens[i].known = p.valence, p.valence != 0
			i += len(p.words) - 1
			break
		}
	}
}

// phraseAt reports whether tokens begin with the words and no clause ends inside them.
func phraseAt(tokens []token, words []string) bool {
	if len(tokens) < len(words) {
		return false
	}

	for k, w := range words {
		// "*" matches any word. A phrase neither overlaps another phrase nor continues after the end of a sentence.
		if t := tokens[k]; w != "*" && w != t.lower || t.inPhrase || k < len(words)-1 && t.ends {
			return false
		}
	}

	return true
}

//go:embed data/senses.tsv
var senseData string

// sense is a bit set of the hints that a word gives about the sense of its sentence: technical, legal or a request.
type sense uint8

const (
	technicalContext sense = 1 << iota
	technicalStrong
	technicalName
	legalContext
	legalStrong
	legalName
	genreName
	politeFollower
)

// has returns 1 if s has any of the hints, else 0.
func (s sense) has(hints sense) int {
	if s&hints != 0 {
		return 1
	}

	return 0
}

// senses maps a word to its sense.
var senses = sync.OnceValue(func() map[string]sense {
	kinds := map[string]sense{
		"technical context": technicalContext, "technical strong": technicalStrong, "technical names": technicalName,
		"legal context": legalContext, "legal strong": legalStrong, "legal names": legalName,
		"genre": genreName, "polite": politeFollower,
	}
	table := make(map[string]sense, 2048)

	for fields := range wordlist.Rows(senseData) {
		kind, ok := kinds[fields[0]]
		if !ok {
			panic("sentiment: senses: unknown kind " + fields[0])
		}

		for word := range strings.FieldsSeq(fields[1]) {
			table[word] |= kind
		}
	}

	return table
})

// senseEvidence is the number of technical or legal words that make a sentence technical or legal. Strong words
// count twice. A single "server" is not enough.
const senseEvidence = 3

// neutralizeSenses removes the valence of words that only name things: "fatal error" next to "process", "free" next
// to "copy", the "please" of a request. It removes more if factual reports that the document's type does not judge.
// The result reports whether the sentence states facts: it is technical, legal or a request.
func neutralizeSenses(tokens []token, factual bool) (statesFacts bool) {
	table := senses()
	var context sense
	technical, legal := 0, 0

	for _, t := range tokens {
		s := table[t.lower]
		if s == 0 {
			continue
		}
		context |= s
		technical += s.has(technicalContext) + 2*s.has(technicalStrong) + s.has(technicalName)
		legal += s.has(legalContext) + 2*s.has(legalStrong) + s.has(legalName)
	}

	var drop sense
	if technical >= senseEvidence && context&(technicalContext|technicalStrong) != 0 {
		drop |= technicalName
	}

	if legal >= senseEvidence && context&(legalContext|legalStrong) != 0 {
		drop |= legalName
	}

	if factual {
		drop = technicalName | legalName | genreName
	}
	statesFacts = drop != 0

	for i := range tokens {
		t := &tokens[i]

		request := t.lower == "please" && i+1 < len(tokens) && table[tokens[i+1].lower]&politeFollower != 0
		if t.known && (request || table[t.lower]&drop != 0 && !t.inPhrase) {
			t.valence, t.known = 0, false
			statesFacts = statesFacts || request
		}
	}

	return statesFacts
}
