package convert

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"presswork"
	"presswork/internal/local"
)

// On a terminal, each file of a batch leaves a line, and a long step shows its time.
func TestABatchOnATerminal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		r := &reporter{err: &out, live: true}
		r.begin(3)
		stop := r.watch()
		r.stage("a.md", presswork.StagePrinting)
		time.Sleep(5500 * time.Millisecond)

		for _, name := range []string{"a", "b"} {
			err := r.done(local.Output{Input: name + ".md", Path: name + ".pdf", Theme: "nord", Pages: 2}, nil)
			if err != nil {
				t.Fatal(err)
			}
		}

		if err := r.done(local.Output{Input: "c.md"}, errors.New("c.md: no")); err != nil {
			t.Fatal(err)
		}
		stop()
		r.end(1)
		lines := regexp.MustCompile(`\r\x1b\[K[^\r\n]*`).ReplaceAllStringFunc(out.String(), func(s string) string {
			if strings.HasPrefix(s[4:], "[") {
				return "" // the line was rewritten
			}

			return s[4:]
		})

		want := "a.md: a.pdf (nord, 2 pages, 0 bytes, 0 ms)\nb.md: b.pdf (nord, 2 pages, 0 bytes, 0 ms)\nc.md: no\n2 files, 4 pages, 5.5s\n"
		if lines != want || !strings.Contains(out.String(), "[1/3] a.md: printing, 5 s") {
			t.Errorf("got %q in %q, want %q", lines, out.String(), want)
		}
	})
}
