package document_test

import (
	"testing"
	"time"

	"presswork"
	"presswork/internal/document"
)

// BenchmarkFootnotes prints a text with many notes, alternately at the foot of pages and at the end of the
// document. It alternates because the speed of a machine drifts.
func BenchmarkFootnotes(b *testing.B) {
	content, _ := annotated()
	c := converter(b, document.Options{Printer: printer(b)})
	var took [2]time.Duration
	var composed [2]document.Composed

	for i, place := range []string{"page", "end"} {
		var err error
		if composed[i], err = c.Compose(
			b.Context(),
			document.Document{Content: []byte(content), Options: presswork.Options{Footnotes: place}},
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
