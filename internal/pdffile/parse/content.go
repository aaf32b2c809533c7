package parse

import "bytes"

// Operation is one step of a content stream (ISO 32000-2, 7.8.2).
type Operation struct {
	Operator string
	// Operands are in the form of package pdffile. They are valid until the next operation.
	Operands [][]byte
	// Start and End are the offsets of the operation in the content, operands included.
	Start, End int
}

// maxOperands limits the operands of one operation; further ones are dropped. The longest operation of the standard
// has 33.
const maxOperands = 64

// EachOperation calls visit for each operation of an unpacked content stream of any program. It skips what is
// malformed and pictures within the content. It stops at the first error of visit and returns it. Package pdffile
// has a faster function of the same name for the streams of Chromium.
func EachOperation(content []byte, visit func(Operation) error) error {
	l := lexer{in: content}
	op := Operation{Start: -1}
	// All operands of an operation share one buffer, so that a stream of a million operations allocates little.
	// held has their bytes without gaps; ends[i] is where operand i ends.
	var held []byte
	var ends []int

	for {
		l.skip()

		if l.at >= len(content) {
			return nil
		}
		at := l.at

		if op.Start < 0 {
			op.Start = at
		}

		if word := l.operator(); word != nil {
			op.Operator, op.End = string(word), l.at
			op.Operands = op.Operands[:0]
			start := 0

			for _, end := range ends {
				op.Operands = append(op.Operands, held[start:end])
				start = end
			}

			if op.Operator == "ID" { // the data of an inline picture follows
				l.skipPicture()
			}

			if err := visit(op); err != nil {
				return err
			}
			held, ends, op.Start = held[:0], ends[:0], -1
			continue
		}

		more, err := l.value(held, 0)
		if err != nil { // continue with the next operation, at least one byte further
			l.at = max(l.at, at+1)
			held, ends, op.Start = held[:0], ends[:0], -1
			continue
		}

		if held = more; len(ends) < maxOperands {
			ends = append(ends, len(held))
		}
	}
}

// operator reads an operator, which consists of letters or is one of two quotes. If a value follows instead, it reads
// nothing and returns nil.
func (l *lexer) operator() []byte {
	at := l.at
	if c := l.in[at]; (c < 'A' || c > 'z' || c == '[' || c == ']' || c == '\\') && c != '\'' && c != '"' {
		return nil
	}

	word := l.token()
	if string(word) == "true" || string(word) == "false" || string(word) == "null" {
		l.at = at
		return nil
	}

	return word
}

// skipPicture moves past the data of an inline picture to its end mark. The data has no length, so the end is the
// first "EI" between white space, as other readers assume.
func (l *lexer) skipPicture() {
	for {
		next := bytes.Index(l.in[l.at:], []byte("EI"))
		if next < 0 {
			l.at = len(l.in)
			return
		}
		start := l.at + next
		l.at = start + len("EI")

		if start > 0 && isSpace(l.in[start-1]) && (l.at == len(l.in) || isSpace(l.in[l.at])) {
			return
		}
	}
}

// Untag returns content without links to tags, so that it can be drawn within an artifact.
func Untag(content []byte) []byte {
	var out bytes.Buffer
	copied := 0

	_ = EachOperation(content, func(op Operation) error { // fails only if this function does
		// The second operand of BDC links the content to a tag. BMC has only the first operand, and EMC ends both.
		if op.Operator == "BDC" && len(op.Operands) == 2 {
			out.Write(content[copied:op.Start])
			out.WriteString(string(op.Operands[0]) + " BMC")
			copied = op.End
		}

		return nil
	})
	out.Write(content[copied:])

	return out.Bytes()
}

// Values returns the values in data, such as those of a map of characters. It stops at the first malformed one. The
// values are copies in the form of package pdffile.
func Values(data []byte) (values [][]byte) {
	l := lexer{in: data}

	for {
		value, err := l.value(nil, 0)
		if err != nil {
			return values
		}
		values = append(values, value)
	}
}
