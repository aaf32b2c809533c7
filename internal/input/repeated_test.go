package input_test

import (
	"encoding/json"
	"strings"
	"testing"

	"presswork/internal/input"
)

func TestRepeatedMembersAreNamed(t *testing.T) {
	t.Parallel()

	for object, want := range map[string]string{
		`{}`:                                   "",
		`{"a":{"b":1,"c":[{"b":2,"b":3}]}}`:    "", // looked at when that object is read
		`{"a":"b\":","b":"\\","c":"\\\":{\""}`: "",
		`{"b":[],"a":"\\\\","c":{},"a":null}`:  "a",
		` {"é" : ":" , "\u00e9" : ":"} `:       "é",
		`{"":1,"":2}`:                          "",
	} {
		t.Run(object, func(t *testing.T) {
			var members map[string]json.RawMessage
			if err := json.Unmarshal([]byte(object), &members); err != nil {
				t.Fatal(err)
			}

			if got := input.Repeated([]byte(object), len(members)); got != want {
				t.Errorf("%s: got %q, want %q", object, got, want)
			}
		})
	}
}

// BenchmarkRepeated measures the check next to the decoding that precedes it.
func BenchmarkRepeated(b *testing.B) {
	text, err := json.Marshal(
		strings.Repeat("A line of \"text\" with `code`, \\ and {braces}: as documents have them.\n", 70_000),
	)
	if err != nil {
		b.Fatal(err)
	}

	numbers := "[" + strings.Repeat("12345,", 800_000) + "1]"
	for name, object := range map[string][]byte{"text": append(append([]byte(`{"content":`), text...), '}'), "numbers": []byte(`{"content":` + numbers + "}")} {
		b.Run(name+"/decode", func(b *testing.B) {
			b.SetBytes(int64(len(object)))

			for b.Loop() {
				var members map[string]json.RawMessage
				if err := json.Unmarshal(object, &members); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/repeated", func(b *testing.B) {
			b.SetBytes(int64(len(object)))

			for b.Loop() {
				input.Repeated(object, 1)
			}
		})
	}
}
