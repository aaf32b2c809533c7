package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// fullDisk fails each write, as a full disk does.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestOutputThatCannotBeWrittenIsAFailure(t *testing.T) {
	t.Parallel()

	for _, args := range [][]string{{}, {"help"}, {"--help"}, {"help", "export"}, {"md2pdf", "--help"}, {"cache"}, {"completion"}, {"version"}, {"--version"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			var stderr bytes.Buffer

			code := run(t.Context(), args, func(string) string { return "" }, fullDisk{}, &stderr)
			if code != exitFailed || strings.Count(stderr.String(), "no space left") != 1 {
				t.Errorf("%v: exit status %d, %s", args, code, stderr.String())
			}
		})
	}
}
