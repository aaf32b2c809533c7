package main

import (
	"strings"
	"testing"
)

func TestHealthNamesTheAddressThatDoesNotAnswer(t *testing.T) {
	t.Parallel()

	if got := ask(t, "health", "--url", "http://127.0.0.1:1/readyz"); got.code != exitFailed ||
		!strings.HasPrefix(got.stderr, "presswork: http://127.0.0.1:1/readyz does not answer: ") {
		t.Errorf("%+v", got)
	}

	if got := ask(t, "health", "--url", "localhost"); got.code != exitUsage ||
		!strings.Contains(got.stderr, "--url: ") {
		t.Errorf("%+v", got)
	}
}
