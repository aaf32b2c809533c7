package analysis

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed data/keyword_words.txt
var keywordWordData string

// keywordWords holds the words that are no keywords, the particles and the endings of verbs of each language.
type keywordWords struct {
	weak             map[string]map[string]bool
	particles, verbs map[string][]string
}

var languageWords = sync.OnceValue(func() keywordWords { return parseKeywordWords(keywordWordData) })

// parseKeywordWords reads lines "TAG: word word …", "TAG particles: ending ending …" and "TAG verbs: ending ending …".
func parseKeywordWords(data string) keywordWords {
	k := keywordWords{
		weak:      map[string]map[string]bool{},
		particles: map[string][]string{},
		verbs:     map[string][]string{},
	}

	for line := range strings.Lines(data) {
		head, list, found := strings.Cut(line, ":")
		if !found || strings.HasPrefix(line, "#") {
			continue
		}

		if tag, ok := strings.CutSuffix(head, " particles"); ok {
			k.particles[tag] = strings.Fields(list)
			slices.SortStableFunc(k.particles[tag], func(a, b string) int { return len(b) - len(a) })
			continue
		}

		if tag, ok := strings.CutSuffix(head, " verbs"); ok {
			k.verbs[tag] = strings.Fields(list)
			continue
		}

		k.weak[head] = map[string]bool{}
		for word := range strings.FieldsSeq(list) {
			k.weak[head][word] = true
		}
	}

	return k
}

// weakIn reports whether a word in lower case carries no topic in a language.
func weakIn(word, language string) bool {
	words := languageWords()

	return weakWords[word] || words.weak[language][word] ||
		slices.ContainsFunc(words.verbs[language], func(ending string) bool { return strings.HasSuffix(word, ending) })
}

// leastRoot is the least length of a word without its particle, in characters.
const leastRoot = 2

// withoutParticle cuts the longest particle of the language from a word, and in Turkish the ending after an apostrophe.
func withoutParticle(word, language string) string {
	if language == "tr" {
		if root, _, found := strings.Cut(strings.ReplaceAll(word, "’", "'"), "'"); found {
			return root
		}
	}

	for _, particle := range languageWords().particles[language] {
		if root, found := strings.CutSuffix(word, particle); found && utf8.RuneCountInString(root) >= leastRoot {
			return root
		}
	}

	return word
}
