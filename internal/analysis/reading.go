package analysis

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sampleBytes bounds the text that is read word by word. Longer documents are
// sampled: their head, and blocks spread evenly over the rest.
const sampleBytes = 160 << 10

// passage is a block's text without markup.
type passage struct {
	block
	text string
}

// prose distinguishes sentences from cells.
func (p passage) prose() bool { return p.kind != tableRow && p.kind != codeBlock }

// reading is a document taken apart: structure of the whole, words of a sample.
type reading struct {
	outline
	ev       evidence
	passages []passage
	// captions are lines that stand as headings without being marked as such:
	// "EXPERIENCE", "**Bill to:**".
	captions []string
	// tokens are the lower-case words of headings and passages, "" between them.
	tokens []string
	// words counts the sample's words of prose, cells those in tables; glyphs is
	// what its characters of scripts without spaces amount to, in words.
	words, cells int
	glyphs       float64
	// scale is the share of the document's text that was read, above 0 to 1.
	scale float64
	// salutation and closing report whether features found those of a letter.
	salutation, closing bool
}

// read takes a document apart.
func read(markdown []byte) *reading {
	src := normalise(markdown)
	r := &reading{outline: scan(src)}
	r.sample()
	if r.amount() < 60 {
		r.reread(src)
	}
	return r
}

// reread takes up a document whose text stands in a code fence or is indented
// like code, which people do with résumés, letters and poems.
func (r *reading) reread(src string) {
	var inner string
	switch {
	case len(r.fenced) > 0:
		inner = strings.Join(r.fenced, "\n\n")
	case r.codeLines > 3 && r.fences == 0:
		inner = dedent(src)
	}
	if inner == "" || !wordy(inner) {
		return
	}
	again := &reading{outline: scan(inner)}
	again.front = r.front
	again.headings = append(append([]heading(nil), r.headings...), again.headings...)
	again.sample()
	if again.amount() > r.amount() {
		*r = *again
	}
}

func dedent(src string) string {
	var out strings.Builder
	for line := range strings.Lines(src) {
		out.WriteString(strings.TrimLeft(line, " \t"))
	}
	return out.String()
}

// wordy distinguishes text from code: letters and spaces, few brackets.
func wordy(s string) bool {
	letters, brackets := 0, 0
	for _, c := range s[:min(len(s), 8<<10)] {
		switch {
		case unicode.IsLetter(c) || c == ' ':
			letters++
		case strings.ContainsRune("{}[]()<>;=\\$_/", c):
			brackets++
		}
	}
	return letters > 120 && letters > 12*brackets
}

// sample cleans the blocks that are read, and cuts them into words.
func (r *reading) sample() {
	total := 0
	for _, b := range r.blocks {
		total += len(b.text)
	}
	const head = sampleBytes / 4
	seen, taken := 0, 0
	for _, b := range r.blocks {
		due := seen
		if total > sampleBytes && seen > head {
			due = head + int(int64(seen-head)*(sampleBytes-head)/int64(total-head))
		}
		seen += len(b.text)
		if taken <= due {
			taken += len(b.text)
			r.take(b)
		}
	}
	r.scale = 1
	if total > 0 {
		r.scale = max(float64(taken)/float64(total), 1e-6)
	}
	for i, h := range r.headings {
		if i < 2000 {
			r.tokens = append(appendTokens(r.tokens, h.text), "")
		}
	}
}

func (r *reading) take(b block) {
	if b.kind == codeBlock {
		return
	}
	p := passage{b, strings.TrimSpace(plain(b.text, &r.ev))}
	if p.text == "" {
		return
	}
	r.passages = append(r.passages, p)
	if len(r.captions) < 400 && (b.kind == paragraph || b.kind == item) {
		if c := caption(p); c != "" {
			r.captions = append(r.captions, c)
		}
	}
	from := len(r.tokens)
	r.tokens = appendTokens(r.tokens, p.text)
	if !p.prose() {
		r.cells += len(r.tokens) - from
	} else {
		for _, t := range r.tokens[from:] {
			if n := glyphWords(t); n > 0 {
				r.glyphs += n
			} else {
				r.words++
			}
		}
	}
	r.tokens = append(r.tokens, "")
}

// caption returns the short first line of a block when it stands out: bold, in
// capitals, ending in a colon, or alone without a full stop.
func caption(p passage) string {
	source, more, _ := strings.Cut(p.block.text, "\n")
	line, rest, _ := strings.Cut(p.text, "\n")
	if colon := strings.Index(line, ":"); colon > 0 && strings.HasPrefix(source, "**") {
		line, rest = line[:colon], line[colon:]
	} else if more != "" && len(line) > len(source) {
		line = strings.Trim(source, "*_ ")
	}
	if line == "" || len(line) > 60 || strings.Count(line, " ") > 5 || strings.HasSuffix(line, ".") {
		return ""
	}
	loud := strings.HasPrefix(source, "**") || strings.HasPrefix(source, "__") || strings.HasSuffix(line, ":") || allCapitals(line)
	if alone := rest == "" && more == "" && p.kind == paragraph; loud || alone {
		return strings.TrimRight(line, ":")
	}
	return ""
}

// glyphWords is what a character counts of a word in scripts without spaces:
// about what a reader takes in with one word of English.
func glyphWords(token string) float64 {
	first, _ := utf8.DecodeRuneInString(token)
	switch {
	case first < firstUnspaced || !unspaced(first):
		return 0
	case first == soundMark || unicode.In(first, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return 0.55
	}
	return 0.22
}

// firstUnspaced is the first character of a script without spaces, Thai's.
const firstUnspaced = 0x0e00

// unspaced reports whether r is of a script written without spaces between words.
func unspaced(r rune) bool {
	return r == soundMark || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// soundMark lengthens a vowel of Katakana and Hiragana, and is of neither.
const soundMark = 'ー'

// appendTokens cuts text into lower-case words and numbers; of scripts without
// spaces each character, with its marks, is one. "Don't" and "follow-up" are
// two words each.
func appendTokens(tokens []string, text string) []string {
	text = strings.ToLower(text)
	from := -1
	glyph := false // the open token is a character
	for i, c := range text {
		switch {
		case c >= firstUnspaced && unspaced(c) && !unicode.IsMark(c):
			if from >= 0 {
				tokens = append(tokens, text[from:i])
			}
			from, glyph = i, true
		case c < utf8.RuneSelf && isAlnum(byte(c)), c >= utf8.RuneSelf && (unicode.IsLetter(c) || unicode.IsDigit(c)):
			if glyph {
				tokens, from, glyph = append(tokens, text[from:i]), i, false
			} else if from < 0 {
				from = i
			}
		case from >= 0 && c >= utf8.RuneSelf && (unicode.IsMark(c) || joiner(c)):
		case from >= 0:
			tokens = append(tokens, text[from:i])
			from, glyph = -1, false
		}
	}
	if from >= 0 {
		tokens = append(tokens, text[from:])
	}
	return tokens
}

// joiner reports whether c shapes the letters around it and belongs to their word.
func joiner(c rune) bool { return c == 0x200c || c == 0x200d }

// amount is how much prose the sample holds, in words.
func (r *reading) amount() int { return r.words + int(r.glyphs+0.5) }

// minutes is how long the document takes to read: 220 words a minute, tables at half that speed, 25 lines of code a
// minute; at least one, unless there is nothing.
func (r *reading) minutes() int {
	prose := (float64(r.words)+r.glyphs)/220 + float64(r.cells)/110
	for _, h := range r.headings {
		prose += float64(1+strings.Count(h.text, " ")) / 220 * r.scale
	}
	const rounding = 1e-9 // of sums of glyphs
	return max(int(math.Ceil(prose/r.scale+float64(r.codeLines)/25-rounding)), min(r.lines, 1))
}

// title is the document's name: of its front matter, or its first heading.
func (r *reading) title() string {
	if t := r.front.text("title"); t != "" {
		return clip(t, maxHeading)
	}
	if len(r.headings) > 0 && (r.headings[0].level == 1 || r.headings[0].after == 0) {
		return strings.TrimPrefix(r.headings[0].text, "Title: ")
	}
	return ""
}
