package input

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"presswork/internal/fault"
)

// Short returns s for a message, cut after 60 characters.
func Short(s string) string {
	const limit = 60
	if utf8.RuneCountInString(s) > limit {
		return string([]rune(s)[:limit]) + "…"
	}

	return s
}

// Quote returns a part of a request in double quotes, for a message. It cuts s after 100 bytes and escapes bytes
// that cannot be printed.
func Quote(s string) string {
	const limit = 100
	if len(s) > limit {
		s = s[:limit] + "…"
	}

	return fmt.Sprintf("%q", s)
}

// Clip returns a field name for the param of an error, cut after 80 bytes, so that a hostile name cannot fill the error
// body. The result is valid UTF-8.
func Clip(name string) string {
	const limit = 80

	rest := ""
	if len(name) > limit {
		name, rest = strings.ToValidUTF8(name[:limit], ""), "…"
	}

	return strings.ToValidUTF8(name, "\ufffd") + rest
}

// UnknownField returns the error UnknownField for a field that is not in allowed. The message suggests the nearest
// allowed name.
func UnknownField(name string, allowed []string) *fault.Error {
	return fault.Errorf(fault.UnknownField, "unknown field %s%s; allowed: %s",
		Quote(name), DidYouMean(name, allowed), strings.Join(allowed, ", ")).WithParam(Clip(name))
}

// Cut cuts s after at most n bytes, between two characters, and appends "…" if it cut.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}

	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}

	return s[:n] + "…"
}
