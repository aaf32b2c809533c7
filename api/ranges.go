package api

import (
	"errors"
	"strconv"
	"strings"

	"presswork/storage"
)

var errUnsatisfiable = errors.New("range not satisfiable")

// parseRange reads a Range header about size bytes. A header that is not
// understood, or asks for several ranges, is to be ignored: ok is false.
func parseRange(header string, size int64) (rng storage.Range, ok bool, err error) {
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
			return rng, false, errUnsatisfiable
		}
		n := min(last, size)

		return storage.Range{Offset: size - n, Length: n}, true, nil
	}

	first, ok := parseOffset(from)
	if !ok || (to != "" && last < first) {
		return rng, false, nil
	}

	if first >= size {
		return rng, false, errUnsatisfiable
	}
	last = min(last, size-1)

	return storage.Range{Offset: first, Length: last - first + 1}, true, nil
}

func parseOffset(s string) (int64, bool) {
	n, err := strconv.ParseUint(s, 10, 63)
	return int64(n), err == nil
}
