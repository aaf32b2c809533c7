package inference_test

import (
	"encoding/json"
	"testing"

	"presswork/internal/inference"
)

func TestTextPartsAreSeparatedByWhiteSpace(t *testing.T) {
	t.Parallel()

	for want, texts := range map[string][]string{
		"Summarise:\nText": {"Summarise:", "Text"},
		"a b":              {"a ", "b"},
		"a\n\nb":           {"a", "\n\nb"},
		"a\nb":             {"", "a", "", "b", ""},
		"a":                {"a"},
	} {
		t.Run(want, func(t *testing.T) {
			var m inference.Message
			for _, text := range texts {
				m.Parts = append(m.Parts, inference.Part{Text: text})
			}

			if got := m.Text(); got != want {
				t.Errorf("text of the parts %q is %q, want %q", texts, got, want)
			}
		})
	}
}

func TestJoinFieldsAppendsListsAndTexts(t *testing.T) {
	t.Parallel()

	for want, pieces := range map[string][]string{
		"":         {},
		`{"a": 1}`: {"", `{"a": 1}`},
		// Lists and texts are appended. The last value of the other types wins.
		`{"a":[1,2,3],"b":"xy","c":null,"d":2,"e":[4]}`: {
			`{"a":[1],"b":"x","c":null,"d":1,"e":null}`,
			`{"a":[],"b":"y","c":null}`,
			`{"a":[2, 3],"d":2,"e":[4]}`,
		},
	} {
		t.Run(want, func(t *testing.T) {
			var raw []json.RawMessage
			for _, p := range pieces {
				raw = append(raw, json.RawMessage(p))
			}

			if got := inference.JoinFields(raw...); string(got) != want {
				t.Errorf("JoinFields(%q) = %s, want %s", pieces, got, want)
			}
		})
	}
}
