package pdffile

import "bytes"

// Chromium gives structure elements ids such as (node00000007). A file has as many as it has table cells, so this file
// finds them without regular expressions.
var (
	nodeMark    = []byte("(node")
	idEntry     = []byte("/ID (node")
	headerEntry = []byte("/Headers [")
)

// NodeID returns the id of a structure element without its parentheses, such as node00000007, or nil if it has none.
func NodeID(element []byte) []byte {
	_, value, _ := bytes.Cut(element, []byte("/ID "))
	value = value[:bytes.IndexByte(value, ')')+1]

	if id, at := nextNode(value); at == 1 {
		return id
	}

	return nil
}

// RenameNode returns a structure element with its id, and the ids of the header cells that it names, changed by rename.
// Other text of the element that looks like an id stays. If there is no id, the result is element itself.
func RenameNode(element []byte, rename func(id []byte) []byte) []byte {
	if !bytes.Contains(element, nodeMark) {
		return element
	}
	out := make([]byte, 0, len(element)+len(nodeMark)*4)

	for rest := element; ; {
		at, end := bytes.Index(rest, idEntry), byte(')')
		if headers := bytes.Index(rest, headerEntry); headers >= 0 && (at < 0 || headers < at) {
			at, end = headers, ']'
		}

		if at < 0 {
			return append(out, rest...)
		}

		length := bytes.IndexByte(rest[at:], end) + 1
		if length == 0 {
			return append(out, rest...)
		}
		out = append(out, rest[:at]...)
		out = append(out, RenameNodes(rest[at:at+length], rename)...)
		rest = rest[at+length:]
	}
}

// RenameNodes returns a copy of text with all ids changed by rename. It is for text without other strings, such as the
// tree of ids; RenameNode is for structure elements.
func RenameNodes(text []byte, rename func(id []byte) []byte) []byte {
	out := make([]byte, 0, len(text)+len(nodeMark)*4)

	for {
		id, at := nextNode(text)
		if id == nil {
			return append(out, text...)
		}
		out = append(append(out, text[:at]...), rename(id)...)
		text = text[at+len(id):]
	}
}

// nextNode returns the first id in text and its offset, or nil.
func nextNode(text []byte) (id []byte, at int) {
	for {
		next := bytes.Index(text[at:], nodeMark)
		if next < 0 {
			return nil, 0
		}
		at += next + 1
		end := at + len(nodeMark) - 1

		for end < len(text) && text[end] >= '0' && text[end] <= '9' {
			end++
		}

		if end > at+len(nodeMark)-1 && end < len(text) && text[end] == ')' {
			return text[at:end], at
		}
	}
}
