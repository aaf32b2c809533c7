package source

import (
	"bytes"
	"strings"

	"presswork/internal/lazyregexp"
)

// itemMarker begins a list item.
var itemMarker = lazyregexp.New(`^(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]|$)`)

// draftPart matches the line that begins a part of an Internet-Draft of kramdown-rfc.
var draftPart = lazyregexp.New(`^--- (?:abstract|middle|back|note_[^\n]{1,100})[ \t]*\r?\n?$`)

// IsDraftPart reports whether a line begins a part of an Internet-Draft in the syntax of kramdown-rfc, such as
// "--- middle". Such a line also ends the front matter.
func IsDraftPart(line []byte) bool { return draftPart().Match(line) }

// IsItem reports whether a line without its indentation begins a list item.
func IsItem(line []byte) bool { return itemMarker().Match(line) }

// Fence returns the code fence of backticks or tildes at the start of a line without indentation, "" for none.
func Fence(line string) string {
	if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
		return line[:len(line)-len(strings.TrimLeft(line, line[:1]))]
	}

	return ""
}

// WithoutCode returns a copy of a text with spaces in place of code: fenced code, indented code and code spans
// within a line. Length and line ends stay the same, so that offsets are valid in both texts.
func WithoutCode(text []byte) []byte { return hideCode(text, true) }

// WithoutFencedCode is WithoutCode for dialects that have no indented code.
func WithoutFencedCode(text []byte) []byte { return hideCode(text, false) }

// WithoutCodeBlocks is WithoutCode, but code spans stay.
func WithoutCodeBlocks(text []byte) []byte {
	out := bytes.Clone(text)
	hideBlocks(out, true)

	return out
}

// hideCode returns a copy of the text with spaces in place of fenced code, code spans and, if indented is set, indented
// code.
func hideCode(text []byte, indented bool) []byte {
	out := bytes.Clone(text)
	hideBlocks(out, indented)
	hideSpans(out)

	return out
}

// hideBlocks hides fenced code and, if indented is set, indented code. It needs no parser, so it is an estimate: a
// line is code by the fence, the list and the blank line before it.
func hideBlocks(out []byte, indented bool) {
	fence := ""     // the open fence
	listed := false // whether the lines belong to a list, where indentation is no code
	blank := true   // whether the line before is blank or indented code

	for at := 0; at < len(out); {
		end := LineEnd(out, at)
		line := out[at:end]
		text := bytes.TrimLeft(line, " \t>")
		indent := len(line) - len(bytes.TrimLeft(line, " \t"))
		mark := Fence(string(text))

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
		case IsItem(text) && (indent < 4 || listed):
			listed = true
		case indent == 0:
			listed = false
		case indented && indent >= 4 && blank && !listed:
			hide(line)
			isBlank = true // the next indented line is code as well
		}
		blank = isBlank
		at = end
	}
}

// hideSpans hides code spans within a line.
func hideSpans(out []byte) {
	end := 0 // of the line

	for at := 0; at < len(out); {
		if out[at] != '`' {
			at++
			continue
		}

		if at >= end {
			end = LineEnd(out, at)
		}

		n := 1
		for at+n < len(out) && out[at+n] == '`' {
			n++
		}

		closing := bytes.Index(out[at+n:end], out[at:at+n])
		if closing < 0 {
			at += n
			continue
		}
		hide(out[at : at+2*n+closing])
		at += 2*n + closing
	}
}

// hide overwrites a text with spaces, except the ends of its lines.
func hide(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}
