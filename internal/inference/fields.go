package inference

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// Unescaped reports whether a text can be put between the quotes of a JSON string without escaping.
func Unescaped[T string | []byte](text T) bool {
	ascii := true

	for i := range len(text) {
		c := text[i]
		if c < ' ' || c == '"' || c == '\\' {
			return false
		}
		ascii = ascii && c < utf8.RuneSelf
	}

	return ascii || utf8.ValidString(string(text))
}

// JoinFields merges JSON objects that arrived in several chunks and whose fields are unknown. It concatenates strings
// and lists, and keeps the last of other values. It ignores pieces that are not objects. Without pieces it returns
// nil.
func JoinFields(pieces ...json.RawMessage) json.RawMessage {
	pieces = slices.DeleteFunc(pieces, func(p json.RawMessage) bool { return len(p) == 0 })
	if len(pieces) < 2 {
		return slices.Concat(pieces...)
	}
	values := map[string][]json.RawMessage{}

	for _, piece := range pieces {
		var fields map[string]json.RawMessage
		if json.Unmarshal(piece, &fields) != nil {
			continue
		}

		for name, value := range fields {
			// Upstreams send null for a field that a piece does not extend.
			if string(value) != "null" || values[name] == nil {
				values[name] = append(values[name], value)
			}
		}
	}

	whole := map[string]json.RawMessage{}
	for name, list := range values {
		whole[name] = joinValues(list)
	}
	b, _ := json.Marshal(whole) // the values are valid JSON

	return b
}

// joinValues merges the values of one field: strings, lists, or other values of which it returns the last.
func joinValues(list []json.RawMessage) json.RawMessage {
	startsOtherwise := func(first byte) func(json.RawMessage) bool {
		return func(v json.RawMessage) bool { return v[0] != first }
	}

	if len(list) > 1 && string(list[0]) == "null" {
		list = list[1:] // the first piece had the field without a value
	}

	switch {
	case len(list) < 2:
	case !slices.ContainsFunc(list, startsOtherwise('"')):
		var text []byte

		for _, v := range list {
			var s string
			_ = json.Unmarshal(v, &s)
			text = append(text, s...)
		}
		joined, _ := json.Marshal(string(text))

		return joined
	case !slices.ContainsFunc(list, startsOtherwise('[')):
		var items [][]byte

		for _, v := range list {
			if inner := bytes.TrimSpace(v[1 : len(v)-1]); len(inner) > 0 {
				items = append(items, inner)
			}
		}

		return slices.Concat([]byte("["), bytes.Join(items, []byte(",")), []byte("]"))
	}

	return list[len(list)-1]
}
