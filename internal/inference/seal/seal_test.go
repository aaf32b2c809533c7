package seal_test

import (
	"testing"

	"presswork/internal/inference/seal"
)

// newSealer returns a Sealer with that secret.
func newSealer(t *testing.T, secret string) *seal.Sealer {
	t.Helper()

	s, err := seal.New([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}

	return s
}

func TestOnlyTheOwnerOpensAnUnchangedText(t *testing.T) {
	t.Parallel()
	const text = "Which city? 🍎"
	s := newSealer(t, "0123456789abcdef")
	sealed := s.Seal("ann", text)

	if got, err := s.Open("ann", sealed); err != nil || got != text {
		t.Errorf("got %q, %v; want %q", got, err, text)
	}

	if s.Seal("ann", text) != sealed {
		t.Errorf("sealing again: got %s, want %s", s.Seal("ann", text), sealed)
	}

	for name, open := range map[string]func() (string, error){
		"another owner":  func() (string, error) { return s.Open("bob", sealed) },
		"another secret": func() (string, error) { return newSealer(t, "another secret").Open("ann", sealed) },
		"a changed text": func() (string, error) { return s.Open("ann", "A"+sealed[1:]+"A") },
		"a short text":   func() (string, error) { return s.Open("ann", "AAAA") },
		"not base64":     func() (string, error) { return s.Open("ann", "%") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got, err := open(); err == nil {
				t.Errorf("got %q, want an error", got)
			}
		})
	}
}
