package analysis

import (
	"strings"
	"unicode/utf8"
)

// longestFunctionWord limits a function word of a script without spaces, in syllables.
const longestFunctionWord = 4

// syllables joins the characters of Thai, Lao, Khmer and Burmese that do not stand alone, and replaces the function
// words of the language by "". Other characters stay as they are.
func syllables(tokens []string, language string) []string {
	joined := make([]string, 0, len(tokens))

	for _, t := range tokens {
		if last := len(joined) - 1; last >= 0 && joined[last] != "" && t != "" && attached(joined[last], t) {
			joined[last] += t
		} else {
			joined = append(joined, t)
		}
	}

	weak := languageWords().weak[language]
	out := joined[:0]

	for i := 0; i < len(joined); {
		size := min(longestFunctionWord, len(joined)-i)
		for size > 0 && !weak[strings.Join(joined[i:i+size], "")] {
			size--
		}

		if size > 0 {
			out, i = append(out, ""), i+size
		} else {
			out, i = append(out, joined[i]), i+1
		}
	}

	return out
}

// attached reports whether a character belongs to the syllable before it. That holds for a consonant below another or
// after a leading vowel, for a following vowel, and for a final consonant of Burmese.
func attached(syllable, token string) bool {
	const (
		stackers       = "\u17d2\u1039"
		leadingVowels  = "เแโใไເແໂໃໄ"
		trailingVowels = "ะาำๅະາຳ"
		killer, dot    = '\u103a', '\u1037' // of Burmese: a consonant without a vowel, a tone
	)

	end, _ := utf8.DecodeLastRuneInString(syllable)
	first, size := utf8.DecodeRuneInString(token)
	second, next := utf8.DecodeRuneInString(token[size:])
	third, _ := utf8.DecodeRuneInString(token[size+next:])

	return strings.ContainsRune(stackers, end) || strings.ContainsRune(leadingVowels, end) ||
		strings.ContainsRune(trailingVowels, first) || second == killer || second == dot && third == killer
}
