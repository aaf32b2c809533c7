package jsonbody

import (
	"encoding/json"
	"unicode/utf8"
)

// hexDigits are the digits of \u escapes.
const hexDigits = "0123456789abcdef"

// AppendString appends a JSON string. Invalid UTF-8 becomes U+FFFD. The line separators of JavaScript are escaped,
// because some clients split lines there.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0

	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' && c != 0x7f {
				i++
				continue
			}
			dst = append(dst, s[from:i]...)

			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\r':
				dst = append(dst, '\\', 'r')
			case '\t':
				dst = append(dst, '\\', 't')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			}
			i++
			from = i
			continue
		}

		r, size := utf8.DecodeRuneInString(s[i:])
		// Escape invalid UTF-8, and characters at which some clients end a line.
		if (r == utf8.RuneError && size == 1) || r == '\u2028' || r == '\u2029' || r == '\u0085' {
			dst = append(dst, s[from:i]...)
			dst = append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
			from = i + size
		}
		i += size
	}

	return append(append(dst, s[from:]...), '"')
}

// AppendStringOrNull appends a JSON string, or null for "".
func AppendStringOrNull(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}

	return AppendString(dst, s)
}

// AppendList appends a list of JSON values.
func AppendList(dst []byte, list []json.RawMessage) []byte {
	dst = append(dst, '[')

	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, v...)
	}

	return append(dst, ']')
}
