package document_test

import (
	"strings"
	"testing"
	"time"

	"presswork"
	"presswork/internal/document"
)

// BenchmarkFootnotes prints texts with many notes: on pages, and on pages of two columns. Prints with the notes at the
// foot and at the end alternate. So a drift of the machine's speed affects both.
func BenchmarkFootnotes(b *testing.B) {
	content, _ := annotated()
	paper := strings.Repeat(strings.Repeat("words that fill the lines ", 25)+"^[A note.]\n\n", 300)

	for name, c := range map[string]struct {
		content string
		options presswork.Options
	}{
		"pages":   {content, presswork.Options{}},
		"columns": {paper, presswork.Options{As: "paper", Columns: new(2)}},
	} {
		b.Run(name, func(b *testing.B) { benchmarkNotes(b, c.content, c.options) })
	}
}

// benchmarkNotes reports the time with notes at the foot as a multiple of the time with the same notes at the end.
func benchmarkNotes(b *testing.B, content string, o presswork.Options) {
	c := converter(b, document.Options{Printer: printer(b)})
	var took [2]time.Duration
	var composed [2]document.Composed

	for i, place := range []string{"page", "end"} {
		var err error

		o.Footnotes = place
		if composed[i], err = c.Compose(
			b.Context(),
			document.Document{Content: []byte(content), Options: o},
		); err != nil {
			b.Fatal(err)
		}
	}

	for b.Loop() {
		for i := range composed {
			begun := time.Now()

			if _, err := c.Print(b.Context(), composed[i]); err != nil {
				b.Fatal(err)
			}
			took[i] += time.Since(begun)
		}
	}
	b.ReportMetric(float64(took[0])/float64(took[1]), "page/end")
}
