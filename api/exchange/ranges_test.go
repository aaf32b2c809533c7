package exchange_test

import (
	"testing"

	"presswork/api/exchange"
)

// FuzzRange checks that every accepted range lies within the object.
func FuzzRange(f *testing.F) {
	for _, header := range []string{"bytes=0-", "bytes=-5", "bytes=5-2", "bytes=0-0,2-3", " bytes = 1-9223372036854775807", "bytes=9223372036854775808-", "lines=1-2"} {
		f.Add(header, int64(10))
	}
	f.Fuzz(func(t *testing.T, header string, size int64) {
		if size < 0 {
			return
		}

		r, ok, err := exchange.ParseRange(header, size)
		if accepted := ok && err == nil; accepted && (r.Offset < 0 || r.Length < 1 || r.Length > size-r.Offset) {
			t.Errorf("ParseRange(%q, %d) = %+v, want a range within the object", header, size, r)
		}
	})
}
