package analysis

import (
	_ "embed"
	"strings"
	"sync"
)

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

// grammars maps a word to what it does.
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

// grammarOf is what a lower-case word does.
func grammarOf(word string) grammar {
	g := grammars()[word]
	if strings.HasSuffix(word, "n't") {
		g |= negator
	}

	return g
}
