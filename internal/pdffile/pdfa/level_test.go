package pdfa_test

import (
	"encoding/json"
	"testing"

	"presswork/internal/pdffile/pdfa"
)

func TestLevelReadsItsShortForms(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]pdfa.Level{
		`true`:       pdfa.Default,
		`false`:      "",
		`""`:         "",
		`"3b"`:       "3b",
		`"PDF/A-2u"`: "2u",
		`"pdfa-3b"`:  "3b",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()

			var level pdfa.Level
			if err := json.Unmarshal([]byte(text), &level); err != nil || level != want {
				t.Errorf("got %q, %v; want %q", level, err, want)
			}
		})
	}

	if err := json.Unmarshal([]byte(`2`), new(pdfa.Level)); err == nil {
		t.Error("Unmarshal of the number 2: got nil, want an error")
	}
}
