package input

import (
	"bytes"
	"encoding/json"
)

// Repeated returns the name of the first repeated member of a JSON object, or "". Go's decoder silently keeps the
// last one. object must be valid JSON. members is the number of different names in it: if it equals the number of
// members, the costly search is skipped.
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
			return "" // the JSON is invalid
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

// countMembers returns the number of members of a valid JSON object, without those of nested objects.
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

// stringEnd returns the offset of the quote that ends the string at start, or len(data) if there is none.
func stringEnd(data []byte, start int) int {
	for i := start + 1; ; i++ {
		next := bytes.IndexByte(data[i:], '"')
		if next < 0 {
			return len(data)
		}
		i += next
		// A quote after an odd number of backslashes belongs to the string.
		before := i
		for before > start+1 && data[before-1] == '\\' {
			before--
		}

		if (i-before)%2 == 0 {
			return i
		}
	}
}
