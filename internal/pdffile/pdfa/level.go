// Package pdfa names the levels of PDF/A, the standard for archived documents.
package pdfa

import (
	"encoding/json"
	"strings"
)

// Level is a level of PDF/A: "2b", "2u" or "3b". "" means no PDF/A.
type Level string

// Default is the level that a caller gets who asks for PDF/A without naming one.
const Default Level = "2b"

// Levels returns the levels that can be produced.
func Levels() []string { return []string{"2b", "2u", "3b"} }

// UnmarshalJSON reads a level in any case, with or without "PDF/A-" in front. true is
// Default and false is "". The level need not exist.
func (l *Level) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "true":
		*l = Default
		return nil
	case "false":
		*l = ""
		return nil
	}

	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}

	text = strings.ToLower(text)
	*l = Level(strings.TrimPrefix(strings.TrimPrefix(text, "pdf/a-"), "pdfa-"))

	return nil
}

// JSONForms describes the accepted JSON for error messages.
func (Level) JSONForms() string { return `true, false or a level ("2b", "2u", "3b")` }
