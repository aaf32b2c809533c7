package analysis

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed data/sentiment_senses.tsv
var senseData string

// sense is a set of what a word can mean for the senses of its sentence.
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

// has is 1 where s holds any of other, else 0.
func (s sense) has(other sense) int {
	if s&other != 0 {
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

	for fields := range dataLines(senseData) {
		kind, ok := kinds[fields[0]]
		if !ok {
			panic("analysis: senses: unknown kind " + fields[0])
		}

		for word := range strings.FieldsSeq(fields[1]) {
			table[word] |= kind
		}
	}

	return table
})

// senseEvidence is how many words of a sense, strong ones twice, make a sentence
// technical or legal. A single "server" does not.
const senseEvidence = 3

// neutralizeSenses reports whether a sentence is technical, legal or a request,
// and takes the valence from words that only name things: "fatal
// error" beside "process", "free" beside "copy", the "please" of a request. In a
// document whose genre judges nothing (factual), it takes more.
func neutralizeSenses(tokens []token, factual bool) (stating bool) {
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
	stating = drop != 0

	for i := range tokens {
		t := &tokens[i]

		request := t.lower == "please" && i+1 < len(tokens) && table[tokens[i+1].lower]&politeFollower != 0
		if t.known && (request || table[t.lower]&drop != 0 && !t.used) {
			t.valence, t.known = 0, false
			stating = stating || request
		}
	}

	return stating
}
