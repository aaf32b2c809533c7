package audio

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"presswork/internal/inference"
)

// Piece is the transcript of one part of a recording.
type Piece struct {
	// Start and End are the times of the part in the recording, in seconds.
	Start, End float64
	inference.Transcript
}

// Join joins the transcripts of a recording's parts. Times count from the start of the recording, and segments are
// numbered consecutively. A part without times becomes one segment if another part has times or timed is set.
func Join(pieces []Piece, timed bool) inference.Transcript {
	var whole inference.Transcript
	for _, p := range pieces {
		if whole.Language == "" {
			whole.Language = p.Language
		}
		whole.Text = joinTexts(whole.Text, strings.TrimSpace(p.Text))
		whole.Untimed = whole.Untimed || p.Untimed
		whole.Duration = max(whole.Duration, p.End)

		segments := p.Segments
		if len(segments) == 0 && timed && strings.TrimSpace(p.Text) != "" {
			segments = []inference.Segment{{End: p.End - p.Start, Text: p.Text, Tokens: []int{}}}
		}

		for _, s := range segments {
			s.ID = len(whole.Segments)
			// Seek is in hundredths of a second.
			s.Seek += int(math.Round(p.Start * 100))
			s.Start, s.End = p.recordingTime(s.Start), p.recordingTime(s.End)
			whole.Segments = append(whole.Segments, s)
		}

		for _, w := range p.Words {
			w.Start, w.End = p.recordingTime(w.Start), p.recordingTime(w.End)
			whole.Words = append(whole.Words, w)
		}
	}

	return whole
}

// recordingTime converts a time in the part to the time in the recording. It limits the time to the end of the part,
// because engines return later ones. A part without End is the whole recording, of unknown length.
func (p Piece) recordingTime(t float64) float64 {
	t += p.Start
	if p.End > p.Start {
		t = min(t, p.End)
	}

	return math.Round(t*1000) / 1000
}

// joinTexts joins two texts, with a space if their scripts use spaces.
func joinTexts(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	last, _ := utf8.DecodeLastRuneInString(a)

	first, _ := utf8.DecodeRuneInString(b)
	if unspaced(last) && unspaced(first) {
		return a + b
	}

	return a + " " + b
}

// unspaced reports whether r belongs to a script without spaces between words, or to its punctuation.
func unspaced(r rune) bool {
	return unicode.In(
		r,
		unicode.Han,
		unicode.Hiragana,
		unicode.Katakana,
		unicode.Thai,
		unicode.Lao,
		unicode.Khmer,
		unicode.Myanmar,
	) ||
		r >= 0x3000 && r <= 0x303f ||
		r >= 0xff00 && r <= 0xffef
}

// promptBytes is the number of bytes of preceding text in a prompt: about as many tokens as Whisper reads.
const promptBytes = 600

// Prompt returns the prompt for a part: the caller's prompt and the end of the preceding text.
func Prompt(requested, before string) string {
	before = strings.TrimSpace(before)
	if len(before) > promptBytes {
		before = strings.ToValidUTF8(before[len(before)-promptBytes:], "")
		if _, rest, ok := strings.Cut(before, " "); ok {
			before = rest
		}
	}

	return joinTexts(strings.TrimSpace(requested), before)
}
