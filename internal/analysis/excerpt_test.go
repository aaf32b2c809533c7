package analysis

import (
	"bytes"
	"strings"
	"testing"
)

func TestLongSourceIsParsedInPart(t *testing.T) {
	t.Parallel()

	paragraph := strings.Repeat("The harbour master counted the boats. ", 12) + "\n\n"
	code := "```go\n" + strings.Repeat("\nboats := count()\n", 2000) + "```\n\n"

	for _, row := range []struct {
		name, text string
		most       int // of the excerpt, in bytes
	}{
		{"short", strings.Repeat(paragraph, 100), 100 * len(paragraph)},
		{"prose", strings.Repeat(paragraph, 4000), excerptBytes + 2*sectionBytes},
		{"prose and code", strings.Repeat(paragraph+code, 60), excerptBytes + 2*len(code)},
		{"one line", strings.Repeat("boats ", 1<<17), 6 << 17},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			out, share := excerpt([]byte(row.text))

			if len(out) > row.most || share != float64(len(out))/float64(len(row.text)) {
				t.Errorf("%d bytes, a share of %.3f; want at most %d of %d", len(out), share, row.most, len(row.text))
			}

			if n := bytes.Count(out, []byte("```")); n%2 != 0 {
				t.Errorf("the excerpt cuts a code block: %d fences", n)
			}

			if !bytes.HasPrefix([]byte(row.text), out[:min(len(out), excerptBytes/4)]) {
				t.Error("the excerpt does not begin like the source")
			}
		})
	}
}

func TestExcerptStandsForTheWholeDocument(t *testing.T) {
	t.Parallel()

	const copies = 100
	section := "## The harbour\n\n" + strings.Repeat("The harbour master counted the boats. ", 400) + "\n\n```\n" +
		strings.Repeat("boats\n", 100) + "```\n\n"

	one, many := read([]byte(section)), read([]byte(strings.Repeat(section, copies)))
	if many.share > 0.3 {
		t.Fatalf("a share of %.2f was parsed, want at most 0.3", many.share)
	}

	want := copies * one.minutes()
	if got := many.minutes(); got < want*85/100 || got > want*115/100 {
		t.Errorf("%d minutes, want about %d", got, want)
	}

	found := Examine([]byte(strings.Repeat(section, copies)))
	if want := copies * one.proseWords(); found.Words < want*85/100 || found.Words > want*115/100 {
		t.Errorf("%d words, want about %d", found.Words, want)
	}
}
