package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSentence limits a sentence, in bytes. Text without a full stop is cut at a space.
const maxSentence = 1500

// abbreviations maps a word to 1 if its full stop never ends a sentence, or to 2 if it does so before a capital letter.
var abbreviations = wordSigns(map[int]string{
	1: `mr mrs ms mx dr prof rev hon st gen col capt lt sgt gov sen rep pres
vs cf
fig figs eq eqs eqn sec ch chap vol vols no nos nr pp p ed eds al ibid viz approx ca dept est assn univ bros
jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri tel ext e.g i.e eg ie
z.b d.h u.a bzw usw ggf evtl hr fr dra art arts ave blvd rd mt ft min max resp incl excl`,
	// These end a sentence before a capital letter.
	2: `etc a.m p.m am pm u.s u.k inc ltd co corp jr sr`,
})

// splitSentences splits prose into sentences without surrounding white space. An empty line ends a sentence; a
// single line break is a space.
func splitSentences(text string) []string {
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
	if word == "" || (len(word) == 1 || isNumeral(word)) && startsText {
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

// sampleEvenly returns at most n sentences, spread evenly over the document.
func sampleEvenly(sentences []string, n int) []string {
	if len(sentences) <= n {
		return sentences
	}

	sample := make([]string, n)
	for i := range sample {
		sample[i] = sentences[i*len(sentences)/n]
	}

	return sample
}

// trimWord strips the punctuation around a word: ASCII marks, and typographic
// quotes, dashes and dots.
func trimWord(s string) string {
	for len(s) > 0 {
		size := 1

		if c := s[0]; c >= utf8.RuneSelf {
			var r rune
			if r, size = utf8.DecodeRuneInString(s); !isTypographic(r) {
				break
			}
		} else if !isASCIIPunct(c) {
			break
		}
		s = s[size:]
	}

	for len(s) > 0 {
		size := 1

		if c := s[len(s)-1]; c >= utf8.RuneSelf {
			var r rune
			if r, size = utf8.DecodeLastRuneInString(s); !isTypographic(r) {
				break
			}
		} else if !isASCIIPunct(c) {
			break
		}
		s = s[:len(s)-size]
	}

	return s
}

func isASCIIPunct(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}

// isTypographic reports whether r is one of the punctuation marks beyond ASCII that texts of many languages use.
func isTypographic(r rune) bool {
	switch r {
	case '“', '”', '‘', '’', '„', '…', '—', '–', '«', '»', '¿', '¡':
		return true
	}

	return false
}

// sentences returns the sentences of the sample's prose.
func (r *reading) sentences() (out []string) {
	for _, p := range r.passages {
		if p.prose() {
			for line := range strings.SplitSeq(p.text, "\n") {
				out = append(out, splitSentences(line)...)
			}
		}
	}

	return out
}

// countWords counts each word of the headings and of the sample.
func (r *reading) countWords() wordCounts {
	counts := wordCounts{}

	for _, t := range r.tokens {
		if t != "" {
			counts[t]++
		}
	}

	return counts
}

// cues returns the properties that can be read from the document itself. The caller sets the others.
func (r *reading) cues() documentCues {
	c := documentCues{Words: r.proseWords(), Salutation: r.salutation, Closing: r.closing}
	for _, h := range r.headings[:min(len(r.headings), 400)] {
		c.Headings = append(c.Headings, h.text)
	}

	for _, p := range r.passages {
		for _, char := range p.text {
			if isEmoji(char) {
				c.Emoji++
			}
		}
	}

	return c
}
