package responses_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"presswork/api/responses"
	"presswork/internal/inference"
	"presswork/internal/inference/seal"
)

// owner is the holder of the key in these tests.
const owner = "ann"

func sealer(t testing.TB, secret string) *seal.Sealer {
	t.Helper()

	s, err := seal.New([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}

	return s
}

// parse reads a request. The format gets the fields that the API sets.
func parse(t testing.TB, body string) (*inference.Request, *responses.Format, error) {
	t.Helper()

	r, f, err := responses.Parse([]byte(body), responses.Options{
		CheckModel: func(string) error { return nil }, Owner: owner, Sealer: sealer(t, "0123456789abcdef"),
	})
	if err == nil {
		f.Model, f.Created = r.Model, time.Unix(1770770815, 0)
	}

	return r, f, err
}

// readable hides the fields that repeat the request, which are the same in every event.
func readable(events string) string {
	lines := strings.Split(events, "\n")
	for i, line := range lines {
		before, rest, found := strings.Cut(line, `"background":false,`)
		if !found {
			continue
		}

		if _, after, ok := strings.Cut(rest, `"model":`); ok {
			lines[i] = before + `…,"model":` + after
		}
	}

	text := completedAt.ReplaceAllString(strings.Join(lines, "\n"), `"completed_at":0`)

	return requestID.ReplaceAllString(text, `"id":"mcpr_…"`)
}

// requestID is the random id of an approval request.
var requestID = regexp.MustCompile(`"id":"mcpr_[A-Z0-9]+"`)

// completedAt is a time that depends on the speed of the machine.
var completedAt = regexp.MustCompile(`"completed_at":\d+`)
