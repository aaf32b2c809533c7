package document_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"presswork"
	"presswork/internal/chromium/printable"
	"presswork/internal/document"
)

// BenchmarkTOC prints documents alternately in two passes and in one, so that a drift of the machine's speed affects
// both. passes/pass is the time of the layout pass and the print as a multiple of the time of one print.
func BenchmarkTOC(b *testing.B) {
	rich, err := os.ReadFile("testdata/rich.md")
	if err != nil {
		b.Fatal(err)
	}
	var tables strings.Builder
	tables.WriteString("# Tables\n\n")

	for i := range 100 {
		fmt.Fprintf(&tables, "## Section %d\n\n%s\n", i, grid(4, 15, "some words"))
	}
	browser := &stopwatch{Printer: printer(b)}

	c := converter(b, document.Options{Printer: browser})
	for name, content := range map[string]string{
		"small":  "# A\n\n## B\n\ntext\n\n## C\n\n" + strings.Repeat("Some more text in paragraphs.\n\n", 60),
		"rich":   string(rich),
		"tables": tables.String(),
	} {
		b.Run(name, func(b *testing.B) {
			composed, err := c.Compose(b.Context(), document.Document{
				Content: []byte(content),
				Options: presswork.Options{TOC: new(presswork.Depth(3)), HeaderText: new("{chapter}")},
			})
			if err != nil {
				b.Fatal(err)
			}
			both := func() time.Duration {
				browser.took = 0

				if _, err := c.Print(b.Context(), composed); err != nil {
					b.Fatal(err)
				}

				return browser.took
			}
			once := func() time.Duration {
				begun := time.Now()

				if _, err := browser.Print(b.Context(), composed.Page); err != nil {
					b.Fatal(err)
				}

				return time.Since(begun)
			}
			both()

			var bothTime, onceTime time.Duration
			for b.Loop() {
				bothTime += both()
				onceTime += once()
			}
			b.ReportMetric(float64(bothTime)/float64(onceTime), "passes/pass")
			b.ReportMetric(float64(onceTime.Milliseconds())/float64(b.N), "ms/pass")
		})
	}
}

// stopwatch is a Printer that records how long its last revised print took.
type stopwatch struct {
	document.Printer
	took time.Duration
}

func (s *stopwatch) PrintRevised(
	ctx context.Context,
	page printable.Page,
	revise func([]byte) ([]string, error),
) ([]byte, error) {
	begun := time.Now()
	defer func() { s.took = time.Since(begun) }()

	return s.Printer.PrintRevised(ctx, page, revise)
}
