package pagetext

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"presswork/internal/pdffile"
)

// read returns the text of a page with this font, as object 1, and content. more are the objects from number 4.
func read(font, content string, more ...string) (string, error) {
	stream := func(s string) string { return fmt.Sprintf("<</Length %d>> stream\n%s\nendstream", len(s), s) }
	objects := [][]byte{
		nil, []byte(font), []byte("<</Contents 3 0 R\n/Resources <</Font <</F 1 0 R>>\n/XObject <</X 4 0 R>>>>>>"),
		[]byte(stream(content)),
	}

	for _, o := range more {
		objects = append(objects, []byte(o))
	}

	return NewReader(&pdffile.File{Objects: objects}).Page(2)
}

func TestTextComesFromEncodingsAndNames(t *testing.T) {
	t.Parallel()
	font := "<</Type /Font\n/Subtype /Type1\n/Encoding <</Differences [1 /f_x /fi /eacute /uni4E2D /alpha.alt /.notdef 65 /B]>>>>"

	text, err := read(font, "BT /F 10 Tf (\x01\x02\x03\x04\x05\x06A\x43) Tj ET")
	if err != nil || text != "fié中αBC\n" {
		t.Errorf("got %q, %v; want fié中αBC", text, err)
	}
}

// Without a limit, each of these files would need hours or all memory.
func TestHostilePagesAreReadInLimitedTime(t *testing.T) {
	t.Parallel()
	wide := func(w string) string {
		return "<</Subtype /Type0\n/DescendantFonts [<</W [" + w + "]>>]\n/ToUnicode 4 0 R>>"
	}
	stream := func(s string) string { return fmt.Sprintf("<</Length %d>> stream\n%s\nendstream", len(s), s) }
	zeros := "<</Subtype /Form\n/Filter [/RunLengthDecode /RunLengthDecode /RunLengthDecode]\n/Length 1>> stream\n"
	run := strings.Repeat("\x81\x81", 128*64) + "\nendstream"

	for name, c := range map[string]struct {
		font, content string
		object        string
		want          error
	}{
		"ranges of widths": {wide(strings.Repeat("0 65535 500 ", 100_000)), "BT /F 9 Tf <0041> Tj ET", "null", nil},
		"ranges of a map": {
			wide(""), "BT /F 9 Tf <0041> Tj ET",
			stream("beginbfrange " + strings.Repeat("<0000> <fffe> <0041> ", 100_000) + "endbfrange"), nil,
		},
		"a form that unpacks to much": {wide(""), strings.Repeat("/X Do ", 1_000_000), zeros + run, ErrTooMuch},
		"a form in itself": {
			wide(""), "/X Do", strings.Replace(stream(strings.Repeat("/X Do ", 100)), "<<", "<</Subtype /Form\n", 1),
			ErrTooMuch,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			started := time.Now()

			if _, err := read(c.font, c.content, c.object); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			const limit = 2 * time.Minute // an idle machine needs seconds

			if took := time.Since(started); took > limit {
				t.Errorf("reading took %s, want at most %s", took, limit)
			}
		})
	}
}
