package analysis

import (
	"strings"
)

// sentences are those of the sample's prose.
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

// countWords counts the words of headings and of the sample.
func (r *reading) countWords() wordCounts {
	counts := wordCounts{}

	for _, t := range r.tokens {
		if t != "" {
			counts[t]++
		}
	}

	return counts
}

func (r *reading) cues() documentCues {
	c := documentCues{Words: r.amount(), Salutation: r.salutation, Closing: r.closing}
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
