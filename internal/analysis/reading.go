package analysis

import (
	"bytes"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"presswork/internal/markdown"
)

// sampleBytes bounds the text that is read word by word. Longer documents are
// sampled: their head, and blocks spread evenly over the rest.
const sampleBytes = 160 << 10

// passage is a block of text that is no heading.
type passage struct {
	markdown.Block
	// lines are those of the source; text has them joined, but for those that
	// stand by themselves.
	lines []string
	text  string
}

// prose distinguishes sentences from cells.
func (p passage) prose() bool { return p.Kind != markdown.RowBlock }

// heading is a heading without its markup. after counts the blocks before it.
type heading struct {
	level int
	text  string
	code  bool // is for the most part code, or a call: `fetch(url)`
	after int
}

// maxHeading bounds a heading's text, in bytes.
const maxHeading = 300

// reading is a document taken apart: structure of the whole, words of a sample.
type reading struct {
	markdown.Outline
	front    frontMatter
	headings []heading
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

// read takes a document apart. One that is too complex to be printed is read as
// far as its front matter.
func read(source []byte) *reading {
	src := normalise(source)
	r := outlined(src)
	r.front = readFrontMatter(r.FrontMatter)
	r.sample()

	if r.amount() < 60 {
		r.reread(src)
	}

	return r
}

func outlined(src []byte) *reading {
	outline, _ := markdown.ReadOutline(src)

	r := &reading{Outline: outline}
	for i, b := range r.Blocks {
		if b.Kind != markdown.HeadingBlock || b.Text == "" {
			continue
		}
		text := strings.Join(strings.FieldsFunc(clip(b.Text, maxHeading), lineEnd), " ")
		r.headings = append(
			r.headings,
			heading{
				level: b.Level,
				text:  text,
				code:  2*b.CodeBytes > len(b.Text) || looksLikeCall(text),
				after: i - len(r.headings),
			},
		)
	}

	return r
}

func lineEnd(c rune) bool { return c == '\n' || string(c) == markdown.LineSeparator }

// reread takes up a document whose text stands in a code fence or is indented
// like code, which people do with résumés, letters and poems.
func (r *reading) reread(src []byte) {
	var inner []byte

	switch {
	case r.Fences > 0:
		inner = r.fenced()
	case r.CodeLines > 3:
		inner = dedent(src)
	}

	if len(inner) == 0 || !wordy(string(inner[:min(len(inner), wordySample)])) {
		return
	}
	again := outlined(inner)
	again.front = r.front
	again.headings = append(append([]heading(nil), r.headings...), again.headings...)
	again.sample()

	if again.amount() > r.amount() {
		*r = *again
	}
}

// fenced are the bodies of fences without a language, which may hold text, in a
// document that has no code beside them.
func (r *reading) fenced() (inner []byte) {
	for _, b := range r.Blocks {
		if b.Kind != markdown.CodeBlock {
			continue
		}

		switch b.Fence {
		case "", "text", "txt", "plain", "plaintext", "markdown", "md":
			inner = append(append(inner, clip(b.Text, 64<<10)...), "\n\n"...)
		default:
			return nil
		}
	}

	return inner
}

func dedent(src []byte) (out []byte) {
	for line := range bytes.Lines(src) {
		out = append(out, bytes.TrimLeft(line, " \t")...)
	}

	return out
}

// wordySample is how many bytes show whether something is text.
const wordySample = 8 << 10

// wordy distinguishes text from code: letters and spaces, few brackets.
func wordy(s string) bool {
	letters, brackets := 0, 0

	for _, c := range s {
		switch {
		case unicode.IsLetter(c) || c == ' ':
			letters++
		case strings.ContainsRune("{}[]()<>;=\\$_/", c):
			brackets++
		}
	}

	return letters > 120 && letters > 12*brackets
}

// sample takes the blocks that are read, and cuts them into words.
func (r *reading) sample() {
	total := 0

	for _, b := range r.Blocks {
		if running(b) {
			total += len(b.Text)
		}
	}
	const head = sampleBytes / 4
	seen, taken := 0, 0

	for _, b := range r.Blocks {
		if !running(b) {
			continue
		}

		for rest := b.Text; rest != "" || b.Text == ""; {
			b.Text, rest = cutBlock(rest)

			due := seen
			if total > sampleBytes && seen > head {
				due = head + int(int64(seen-head)*(sampleBytes-head)/int64(total-head))
			}

			seen += len(b.Text)
			if taken <= due {
				taken += len(b.Text)
				r.take(b)
			}

			if b.Text == "" {
				break
			}
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

func running(b markdown.Block) bool {
	return b.Kind != markdown.HeadingBlock && b.Kind != markdown.CodeBlock
}

// maxBlock bounds what is taken of a block at once, so that a document of one line can be sampled.
const maxBlock = 8 << 10

// cutBlock cuts a long text between words, if it has any.
func cutBlock(text string) (head, rest string) {
	if len(text) <= maxBlock {
		return text, ""
	}

	cut := strings.LastIndexAny(text[:maxBlock], " \n")
	if cut <= 0 {
		for cut = maxBlock; cut > 0 && !utf8.RuneStart(text[cut]); {
			cut--
		}
	}

	return text[:cut], text[cut:]
}

func (r *reading) take(b markdown.Block) {
	r.ev.count(b)

	words := strings.TrimSpace(r.ev.words(b.Text))
	if words == "" {
		return
	}
	p := passage{Block: b, lines: strings.FieldsFunc(words, lineEnd), text: joinLines.Replace(words)}

	r.passages = append(r.passages, p)
	if len(r.captions) < 400 && (b.Kind == markdown.ParagraphBlock || b.Kind == markdown.ItemBlock) {
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

// joinLines joins the lines of a block that do not stand by themselves.
var joinLines = strings.NewReplacer("\n", " ", markdown.LineSeparator, "\n")

// caption returns the short first line of a block when it stands out: bold, in
// capitals, ending in a colon, or alone without a full stop.
func caption(p passage) string {
	line := strings.TrimSpace(p.lines[0])
	if colon := strings.Index(line, ":"); colon > 0 && p.Lead {
		line = line[:colon+1]
	}

	if line == "" || len(line) > 60 || strings.Count(line, " ") > 5 || strings.HasSuffix(line, ".") {
		return ""
	}

	loud := p.Lead || strings.HasSuffix(line, ":") || allCapitals(line)
	if alone := len(p.lines) == 1 && p.Kind == markdown.ParagraphBlock; loud || alone {
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
	return r == soundMark ||
		unicode.In(
			r,
			unicode.Han,
			unicode.Hiragana,
			unicode.Katakana,
			unicode.Thai,
			unicode.Lao,
			unicode.Khmer,
			unicode.Myanmar,
		)
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

	return max(int(math.Ceil(prose/r.scale+float64(r.CodeLines)/25-rounding)), min(r.Lines, 1))
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
