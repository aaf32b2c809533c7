package messages_test

import (
	"testing"

	"presswork/api/messages"
	"presswork/internal/inference"
	"presswork/internal/inference/seal"
)

// owner is the holder of the key in these tests.
const owner = "ann"

func sealer(t *testing.T, secret string) *seal.Sealer {
	t.Helper()

	s, err := seal.New([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}

	return s
}

// parse reads a request. The format gets the fields that the API sets.
func parse(t *testing.T, body string) (*inference.Request, *messages.Format, error) {
	t.Helper()

	r, f, err := messages.Parse([]byte(body), messages.Options{
		CheckModel: func(string) error { return nil }, Owner: owner, Sealer: sealer(t, "0123456789abcdef"),
		PDFText: func(pdf []byte) (string, error) { return messages.PDFText(t.Context(), pdf) },
	})
	if err == nil {
		f.Model, f.RequestID, f.Tokens = r.Model, "req_1", 7
	}

	return r, f, err
}
