// Package pdfa names the levels of PDF/A, the standard for archived documents.
package pdfa

import (
	"encoding/json"
	"strings"
)

// Level is a level of PDF/A: "2b", "2u" or "3b". "" means no PDF/A.
type Level string

// Default is the level for a request of PDF/A without a level.
const Default Level = "2b"

// Levels returns all supported levels.
func Levels() []string { return []string{"2b", "2u", "3b"} }

// UnmarshalJSON reads a level in any case, with or without the prefix "PDF/A-". It reads true as Default and false
// as "". It does not check that the level exists: compare with Levels. Errors: JSON that is neither a boolean nor a
// string.
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
