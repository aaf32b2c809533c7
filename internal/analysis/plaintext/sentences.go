// Package plaintext splits text without markup into sentences and words.
package plaintext

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"presswork/internal/analysis/wordlist"
)

// maxSentence limits a sentence, in bytes. Text without a full stop is cut at a space.
const maxSentence = 1500

// abbreviations maps a word to 1 if its full stop never ends a sentence, or to 2 if it does so before a capital letter.
var abbreviations = wordlist.Signs(map[int]string{
	1: `mr mrs ms mx dr prof rev hon st gen col capt lt sgt gov sen rep pres
vs cf
fig figs eq eqs eqn sec ch chap vol vols no nos nr pp p ed eds al ibid viz approx ca dept est assn univ bros
jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri tel ext e.g i.e eg ie
z.b d.h u.a bzw usw ggf evtl hr fr dra art arts ave blvd rd mt ft min max resp incl excl`,
	// These end a sentence before a capital letter.
	2: `etc a.m p.m am pm u.s u.k inc ltd co corp jr sr`,
})

// Sentences splits prose into sentences without surrounding white space. An empty line ends a sentence; a
// single line break is a space.
func Sentences(text string) []string {
	sentences := make([]string, 0, len(text)/90+1)
	start := 0
	cut := func(end int) {
		if s := strings.TrimSpace(text[start:end]); s != "" {
			sentences = append(sentences, s)
		}
		start = end
	}

	for i := 0; i < len(text); {
		if i-start >= maxSentence {
			if space := strings.LastIndexAny(text[start:i], " \t\n"); space > maxSentence/2 {
				cut(start + space)
			} else {
				cut(i)
			}
		}

		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}

		switch r {
		case '\n':
			if end := blankLine(text, i+1); end > 0 {
				cut(end)
				i = end
				continue
			}
		case '.', '!', '?', '…', '。', '！', '？', '｡', '؟', '।', '۔':
			end := skipClosingMarks(text, i+size)
			if endsSentence(text, start, i, end, r) {
				cut(end)
			}
			i = end
			continue
		}
		i += size
	}
	cut(len(text))

	return sentences
}

// blankLine returns the end of the empty line that starts at i, or 0 if there is none.
func blankLine(text string, i int) int {
	for i < len(text) {
		switch text[i] {
		case '\n':
			return i + 1
		case ' ', '\t', '\r':
			i++
		default:
			return 0
		}
	}

	return 0
}

// skipClosingMarks returns the end of the marks, quotes and brackets that start at i.
func skipClosingMarks(text string, i int) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !strings.ContainsRune(".!?…。！？\"'”’)]»」』", r) {
			break
		}
		i += size
	}

	return i
}

// endsSentence reports whether the mark at i ends the sentence that starts at start. end is the end of the marks
// that follow it.
func endsSentence(text string, start, i, end int, mark rune) bool {
	if mark >= 0x3000 || mark == '।' {
		return true
	}

	next, size := utf8.DecodeRuneInString(text[end:])
	if size == 0 {
		return true
	}

	if !unicode.IsSpace(next) {
		return false // 3.14, example.com, "?page=2"
	}
	follower, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[end:min(len(text), end+16)], " \t\r\n\"'“‘(["))

	lower := unicode.IsLower(follower)
	if mark != '.' || text[i:end] != "." {
		return !lower // "Stop!" he said. Well… maybe.
	}

	word := text[start:i]
	if space := strings.LastIndexAny(word, " \t\n(\"'“"); space >= 0 {
		word = word[space+1:]
	}

	startsText := strings.TrimSpace(text[start:i]) == word
	if word == "" || (len(word) == 1 || IsNumeral(word)) && startsText {
		return false // a list's "1." or "a."
	}

	if len(word) == 1 && unicode.IsUpper(rune(word[0])) && word != "I" {
		return false // an initial
	}

	if len(word) > 12 { // longer than any abbreviation
		return true
	}

	switch abbreviations[strings.ToLower(word)] {
	case 1:
		return false
	case 2:
		return !lower
	}

	return !(lower && strings.Contains(word, "."))
}

// Sample returns at most n sentences, spread evenly over the document.
func Sample(sentences []string, n int) []string {
	if len(sentences) <= n {
		return sentences
	}

	sample := make([]string, n)
	for i := range sample {
		sample[i] = sentences[i*len(sentences)/n]
	}

	return sample
}
