package main

import (
	"testing"
)

func TestHealthNamesTheAddressThatDoesNotAnswer(t *testing.T) {
	t.Parallel()

	got := runCommand(t, "health", "--url", "http://127.0.0.1:1/readyz")
	got.check(t, exitFailed, "presswork: http://127.0.0.1:1/readyz does not answer: ")

	got = runCommand(t, "health", "--url", "localhost")
	got.check(t, exitUsage, "--url: ")
}
