package input

import (
	"bytes"
	"encoding/json"
)

// Repeated returns the first member that a JSON object has more than once, of which
// decoding keeps the last one without a word; "" for none. object is valid JSON, and
// members is how many it has with different names. Where none is repeated it costs some
// per cent of what reading a request does.
func Repeated(object []byte, members int) string {
	if countMembers(object) == members {
		return ""
	}
	seen := map[string]bool{}
	dec := json.NewDecoder(bytes.NewReader(object))

	_, _ = dec.Token() // {
	for dec.More() {
		name, _ := dec.Token()

		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return "" // it is not valid
		}

		if name, ok := name.(string); ok {
			if seen[name] {
				return name
			}
			seen[name] = true
		}
	}

	return ""
}

// countMembers counts the members of a valid JSON object, not those of objects in it.
func countMembers(object []byte) (n int) {
	depth := 0

	for i := 0; i < len(object); i++ {
		switch object[i] {
		case '"':
			i = stringEnd(object, i)
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ':':
			if depth == 1 {
				n++
			}
		}
	}

	return n
}

// stringEnd returns where the string ends that begins at start.
func stringEnd(data []byte, start int) int {
	for i := start + 1; ; i++ {
		next := bytes.IndexByte(data[i:], '"')
		if next < 0 {
			return len(data)
		}
		i += next
		// A quote after an odd number of backslashes is one of the string.
		before := i
		for before > start+1 && data[before-1] == '\\' {
			before--
		}

		if (i-before)%2 == 0 {
			return i
		}
	}
}
