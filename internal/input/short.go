package input

import "unicode/utf8"

// Short returns a value for a message, cut off after 60 characters.
func Short(s string) string {
	const limit = 60
	if utf8.RuneCountInString(s) > limit {
		return string([]rune(s)[:limit]) + "…"
	}

	return s
}
