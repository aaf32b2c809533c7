package markdown

import (
	"bytes"
	"strings"
)

// withoutCode is the source with spaces in place of code.
func withoutCode(src []byte) []byte {
	out := bytes.Clone(src)
	fence, listed, blank := "", false, true // blank: before the line

	for at := 0; at < len(out); {
		end := lineEnd(out, at)
		line := out[at:end]
		text := bytes.TrimLeft(line, " \t>")
		indent := len(line) - len(bytes.TrimLeft(line, " \t"))

		mark := ""
		if bytes.HasPrefix(text, []byte("```")) || bytes.HasPrefix(text, []byte("~~~")) {
			mark = string(text[:len(text)-len(bytes.TrimLeft(text, string(text[:1])))])
		}

		isBlank := len(bytes.TrimSpace(text)) == 0
		switch {
		case fence != "":
			if strings.HasPrefix(mark, fence) && len(bytes.TrimSpace(text[len(mark):])) == 0 {
				fence = ""
			}
			hide(line)
		case mark != "":
			fence = mark
			hide(line)
		case isBlank:
		case itemMarker().Match(text) && (indent < 4 || listed):
			listed = true
		case indent == 0:
			listed = false
		case indent >= 4 && blank && !listed:
			hide(line)
			isBlank = true // the code goes on
		}
		blank = isBlank
		at = end
	}
	end := 0 // of the line

	for at := 0; at < len(out); { // spans within a line
		if out[at] != '`' {
			at++
			continue
		}

		if at >= end {
			end = lineEnd(out, at)
		}

		n := 1
		for at+n < len(out) && out[at+n] == '`' {
			n++
		}

		shut := bytes.Index(out[at+n:end], out[at:at+n])
		if shut < 0 {
			at += n
			continue
		}
		hide(out[at : at+2*n+shut])
		at += 2*n + shut
	}

	return out
}

// hide puts spaces over a text, but not over the ends of its lines.
func hide(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}
