package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"presswork/internal/analysis/plaintext"
	"presswork/internal/markdown"
)

// proseSample is the number of bytes that isProse needs to tell text from code.
const proseSample = 8 << 10

// isProse reports whether s is text rather than code: letters and spaces, few brackets.
func isProse(s string) bool {
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

// sample selects the blocks to read and splits them into words.
func (r *reading) sample() {
	total := 0

	for _, b := range r.Blocks {
		if hasText(b) {
			total += len(b.Text)
		}
	}
	const head = sampleBytes / 4
	seen, taken := 0, 0

	for _, b := range r.Blocks {
		if !hasText(b) {
			continue
		}

		for rest := b.Text; rest != "" || b.Text == ""; {
			b.Text, rest = cutBlock(rest)

			// due is the number of bytes to take before this piece.
			due := seen
			if total > sampleBytes && seen > head {
				due = head + int(int64(seen-head)*(sampleBytes-head)/int64(total-head))
			}

			seen += len(b.Text)
			if taken <= due {
				taken += len(b.Text)
				r.addBlock(b)
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
			r.tokens = append(plaintext.AppendTokens(r.tokens, h.text), "")
		}
	}
}

// hasText reports whether a block has text that may be sampled. Headings are always read.
func hasText(b markdown.Block) bool {
	return b.Kind != markdown.HeadingBlock && b.Kind != markdown.CodeBlock
}

// maxBlock limits the piece of a block that is sampled at once, in bytes. Without it, a document of one line would
// not be sampled.
const maxBlock = 8 << 10

// cutBlock splits off the first maxBlock bytes of a text, between words if it has spaces.
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
