package pdf_test

import (
	"testing"
	"time"

	"presswork"
	"presswork/internal/pdf"
)

// BenchmarkFootnotes prints a text of many notes, at the foot of pages and at the
// end of the document in turn, because a machine's speed drifts.
func BenchmarkFootnotes(b *testing.B) {
	content, _ := annotated()
	c := converter(b, pdf.Options{Printer: printer(b)})
	var took [2]time.Duration
	var composed [2]pdf.Composed
	for i, place := range []string{"page", "end"} {
		var err error
		if composed[i], err = c.Compose(b.Context(), pdf.Document{Content: []byte(content), Options: presswork.Options{Footnotes: place}}); err != nil {
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
