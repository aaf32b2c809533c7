package exchange

import (
	"errors"
	"net/url"
	"strconv"
	"strings"

	"presswork/storage"
)

// ErrUnsatisfiable is returned for a range that begins after the end of the object.
var ErrUnsatisfiable = errors.New("range not satisfiable")

// ParseRange returns the part of size bytes that a Range header asks for. ok is false for a header that must be
// ignored: its syntax is unknown, or it asks for several ranges. The error is ErrUnsatisfiable.
func ParseRange(header string, size int64) (rng storage.Range, ok bool, err error) {
	unit, spec, _ := strings.Cut(header, "=")

	from, to, dash := strings.Cut(strings.TrimSpace(spec), "-")
	if strings.TrimSpace(unit) != "bytes" || !dash {
		return rng, false, nil
	}

	last := size - 1
	if to != "" {
		if last, ok = parseOffset(to); !ok {
			return rng, false, nil
		}
	}

	if from == "" {
		// The last bytes: "-500".
		if to == "" {
			return rng, false, nil
		}

		if last == 0 || size == 0 {
			return rng, false, ErrUnsatisfiable
		}
		n := min(last, size)

		return storage.Range{Offset: size - n, Length: n}, true, nil
	}

	first, ok := parseOffset(from)
	if !ok || (to != "" && last < first) {
		return rng, false, nil
	}

	if first >= size {
		return rng, false, ErrUnsatisfiable
	}
	last = min(last, size-1)

	return storage.Range{Offset: first, Length: last - first + 1}, true, nil
}

// parseOffset parses a byte position without a sign. ok is false for other text.
func parseOffset(s string) (offset int64, ok bool) {
	n, err := strconv.ParseUint(s, 10, 63)
	return int64(n), err == nil
}

// Disposition returns a Content-Disposition header with the file name in ASCII for old clients, and in UTF-8 (RFC
// 6266).
func Disposition(name string, inline bool) string {
	kind := "attachment"
	if inline {
		kind = "inline"
	}
	plain := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`"\%`, r) {
			return '_'
		}

		return r
	}, name)

	return kind + `; filename="` + plain + `"; filename*=UTF-8''` +
		strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
}
