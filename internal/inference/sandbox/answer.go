package sandbox

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image/png"
	"strings"
	"unicode/utf8"

	"presswork/internal/inference"
)

// Limits on the output of a cell. The harness obeys them as well, but code can replace it.
const (
	maxPictures     = 4       // pictures of a cell
	maxPictureBytes = 1 << 20 // of one picture, decoded
	// maxPixels limits the memory of a viewer to 64 MB for a picture.
	maxPixels = 4096 * 4096
	// maxText bounds the text of a cell for the model (inference.ToolResult.Output).
	maxText = 16 << 10
)

// answer is the result of a cell, a piece of code that one call runs. None of it can be trusted: the code may have
// written it in place of the harness.
type answer struct {
	Failed   bool     `json:"failed"`
	Text     string   `json:"text"`     // the value of the last expression
	Pictures []string `json:"pictures"` // PNG in base64
	LeftOut  int      `json:"left_out"` // how many pictures the harness did not send

	output []byte // stdout and stderr as they came
	// interrupted is the reason of an interruption, or "". ended reports that the interpreter has ended, and endReason
	// is the reason.
	interrupted, endReason string
	ended                  bool
}

// result returns the answer for the model and the caller. Its Output begins with note and has at most maxText bytes.
func (a answer) result(note string) inference.ToolResult {
	r := inference.ToolResult{Failed: a.Failed || a.interrupted != "" || a.ended}

	text := clean(a.Text)
	if text != "" {
		text = shorten(text, maxText/2)
		r.Code = append(r.Code, inference.CodeResult{Text: text})
	}

	shown, leftOut := 0, max(0, a.LeftOut)
	for _, p := range a.Pictures {
		if shown < maxPictures && isPicture(p) {
			r.Code = append(r.Code, inference.CodeResult{PNG: p})
			shown++
		} else {
			leftOut++
		}
	}

	var notes strings.Builder
	if shown > 0 {
		fmt.Fprintf(&notes, "[Pictures shown to the user: %d.]\n", shown)
	}

	if leftOut > 0 {
		fmt.Fprintf(
			&notes,
			"[Pictures left out: %d. Each call may show %d of at most %s and %d pixels.]\n",
			leftOut,
			maxPictures,
			size(maxPictureBytes),
			maxPixels,
		)
	}

	if a.interrupted != "" {
		fmt.Fprintf(&notes, "[The code was interrupted: %s.]\n", a.interrupted)
	}

	if a.ended {
		fmt.Fprintf(&notes, "[The interpreter ended: %s. Its variables and files are gone.]\n", a.endReason)
	}

	tail := notes.String()
	if text != "" {
		tail = text + "\n" + tail
	}

	// The output gets the bytes that the notes and the value of the last expression leave.
	out := shorten(clean(string(a.output)), maxText-len(note)-len(tail)-1)
	if out != "" && tail != "" && !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	r.Output = strings.TrimSuffix(note+out+tail, "\n")

	return r
}

// isPicture reports whether s is a PNG in base64 within the limits.
func isPicture(s string) bool {
	if base64.StdEncoding.DecodedLen(len(s)) > maxPictureBytes+2 {
		return false
	}

	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil || len(b) > maxPictureBytes {
		return false
	}
	c, err := png.DecodeConfig(bytes.NewReader(b))

	return err == nil && c.Width > 0 && c.Height > 0 && int64(c.Width)*int64(c.Height) <= maxPixels
}

// clean returns a program's output as text for a model: UTF-8 without control characters except line ends and
// tabs.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case r < ' ', r == 0x7f, r >= 0x80 && r < 0xa0:
			return -1
		}

		return r
	}, strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "\uFFFD"))
}

// shorten removes the middle of a text that has more than limit bytes.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const room = 48 // bytes for the note in place of the middle

	head, tail := (limit-room)*3/4, len(s)-(limit-room)/4
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}

	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}

	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", s[:head], tail-head, s[tail:])
}
