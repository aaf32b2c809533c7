package analysis

import (
	"bytes"
	"cmp"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"presswork/internal/analysis/plaintext"
	"presswork/internal/markdown"
)

// sampleBytes limits the text that is read word by word. A longer document is sampled: its beginning and blocks
// spread evenly over the rest.
const sampleBytes = 160 << 10

// passage is a block of text other than a heading.
type passage struct {
	markdown.Block
	// lines are the lines of the source. text joins them with spaces, except at explicit line breaks.
	lines []string
	text  string
}

// prose reports whether the passage has sentences: a table row does not.
func (p passage) prose() bool { return p.Kind != markdown.RowBlock }

// heading is a heading without its markup. after is the number of blocks before it.
type heading struct {
	level int
	text  string
	code  bool // more than half code, or a call: `fetch(url)`
	after int  // the number of passages before it
}

// maxHeading bounds a heading's text, in bytes.
const maxHeading = 300

// reading is a parsed document: the structure of all of it and the words of a sample.
type reading struct {
	markdown.Outline
	front    frontMatter
	headings []heading
	ev       evidence
	passages []passage
	// captions are lines that look like headings without heading markup: "EXPERIENCE", "**Bill to:**".
	captions []string
	// tokens are the lower-case words of headings and passages, "" between them.
	tokens []string
	// words counts the words of the sample's prose, cells those of its tables. glyphs is the word equivalent of
	// its characters in scripts without spaces.
	words, cells int
	glyphs       float64
	// share is the share of the source that was parsed, scale that of the parsed text that was read: above 0 to 1.
	share, scale float64
	// salutation and closing report whether features found those of a letter. cues reads them, so features must
	// run first.
	salutation, closing bool
}

// read parses a document. Of a document too complex to print it reads only the front matter.
func read(source []byte) *reading {
	src, share := excerpt(source)
	src = normalise(src)
	r := parseOutline(src)
	r.share = share
	r.front = readFrontMatter(cmp.Or(r.FrontMatter, headerLines(src)))
	r.sample()

	if r.proseWords() < 60 {
		r.reread(src)
	}

	return r
}

// parseOutline returns the structure of a document with its headings. It reads no front matter and no words.
func parseOutline(src []byte) *reading {
	outline, _ := markdown.ReadOutline(src) // an error means too complex: the outline then has only front matter

	r := &reading{Outline: outline}
	for i, b := range r.Blocks {
		if b.Kind != markdown.HeadingBlock || b.Text == "" {
			continue
		}

		text := strings.TrimSpace(stripTags(strings.Join(strings.FieldsFunc(clip(b.Text, maxHeading), lineEnd), " ")))
		if text == "" {
			continue
		}
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

// reread reads the text inside code fences or indented code as Markdown if that gives more words. Authors paste
// résumés, letters and poems that way.
func (r *reading) reread(src []byte) {
	var inner []byte

	switch {
	case r.Fences > 0:
		inner = r.fenced()
	case r.CodeLines > 3:
		inner = dedent(src)
	}

	if len(inner) == 0 || !isProse(string(inner[:min(len(inner), proseSample)])) {
		return
	}
	again := parseOutline(inner)
	again.front, again.share = r.front, r.share
	again.headings = append(append([]heading(nil), r.headings...), again.headings...)
	again.sample()

	if again.proseWords() > r.proseWords() {
		*r = *again
	}
}

// fenced returns the text of all fences that have no programming language. It returns nil if another fence has
// one: the document then has real code.
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

// dedent removes the indentation of all lines.
func dedent(src []byte) (out []byte) {
	for line := range bytes.Lines(src) {
		out = append(out, bytes.TrimLeft(line, " \t")...)
	}

	return out
}

// addBlock adds a block of the sample: its elements, its text and its words.
func (r *reading) addBlock(b markdown.Block) {
	r.ev.count(b)

	words := strings.TrimSpace(r.ev.stripMarkers(b.Text))
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

	r.tokens = plaintext.AppendTokens(r.tokens, p.text)
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

// joinLines replaces line ends by spaces and keeps explicit line breaks.
var joinLines = strings.NewReplacer("\n", " ", markdown.LineSeparator, "\n")

// caption returns the short first line of a block if it stands out, otherwise "". It stands out if it is bold, in
// capitals, ends in a colon, or is alone without a full stop.
func caption(p passage) string {
	line := strings.TrimSpace(p.lines[0])
	if colon := strings.Index(line, ":"); colon > 0 && p.Lead {
		line = line[:colon+1]
	}

	if line == "" || len(line) > 60 || strings.Count(line, " ") > 5 || strings.HasSuffix(line, ".") {
		return ""
	}

	emphasized := p.Lead || strings.HasSuffix(line, ":") || allCapitals(line)
	if alone := len(p.lines) == 1 && p.Kind == markdown.ParagraphBlock; emphasized || alone {
		return strings.TrimRight(line, ":")
	}

	return ""
}

// glyphWords returns how many words of English a character of a script without spaces is worth to a reader, or 0
// for other tokens. The factors match measured reading speeds only roughly.
func glyphWords(token string) float64 {
	first, _ := utf8.DecodeRuneInString(token)
	switch {
	case !plaintext.Unspaced(first):
		return 0
	case first == plaintext.SoundMark || unicode.In(first, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return 0.55
	}

	return 0.22
}

// maxLanguageTokens limits the words from which the language is found.
const maxLanguageTokens = 6000

// proseTokens returns the words of running text. If there are fewer than 30, it includes headings and tables.
func (r *reading) proseTokens() []string {
	var tokens []string
	for _, p := range r.passages {
		if p.prose() && len(tokens) < maxLanguageTokens {
			tokens = plaintext.AppendTokens(tokens, p.text)
		}
	}

	if len(tokens) < 30 {
		return r.tokens[:min(len(r.tokens), maxLanguageTokens)]
	}

	return tokens
}

// proseWords returns the number of words in the sample's prose, with the word equivalent of scripts without spaces.
func (r *reading) proseWords() int { return r.words + int(r.glyphs+0.5) }

// minutes returns the reading time of the whole document, rounded up. A minute is 220 words of prose, 110 words of
// tables or 25 lines of code. The result is at least 1 unless the document is empty.
func (r *reading) minutes() int {
	prose := (float64(r.words)+r.glyphs)/220 + float64(r.cells)/110
	for _, h := range r.headings {
		prose += float64(1+strings.Count(h.text, " ")) / 220 * r.scale
	}
	const rounding = 1e-9 // more than the rounding error of the sum

	parsed := prose/r.scale + float64(r.CodeLines)/25

	return max(int(math.Ceil(parsed/r.share-rounding)), min(r.Lines, 1))
}

// title returns the title in the front matter, or else the first heading.
func (r *reading) title() string {
	if t := r.front.text("title"); t != "" {
		return clip(t, maxHeading)
	}

	if len(r.headings) > 0 && (r.headings[0].level == 1 || r.headings[0].after == 0) {
		return strings.TrimPrefix(r.headings[0].text, "Title: ")
	}

	return ""
}
