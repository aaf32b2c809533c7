package document_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"presswork"
	"presswork/internal/document"
)

// BenchmarkOptions reports the time with each option as a multiple of the time without options. Each iteration prints
// the document once with each option, so that a drift of the machine's speed affects all options.
func BenchmarkOptions(b *testing.B) {
	yes := new(true)
	cases := []struct {
		name string
		o    presswork.Options
	}{
		{"plain", presswork.Options{}},
		{"cover", presswork.Options{Cover: yes}},
		{"toc", presswork.Options{TOC: new(presswork.Depth(3))}},
		{"header_text", presswork.Options{HeaderText: new("{title}")}},
		{"{chapter}", presswork.Options{HeaderText: new("{chapter}")}},
		{"numbered_headings", presswork.Options{NumberedHeadings: yes}},
		{"ink_saver", presswork.Options{InkSaver: yes}},
		{"tagged-false", presswork.Options{Tagged: new(false)}},
		{"pdf_a", presswork.Options{PDFA: new(presswork.PDFALevel("2b"))}},
		{"pdf_ua", presswork.Options{PDFUA: yes}},
		{"binding", presswork.Options{Binding: "8mm"}},
		{"crop_marks", presswork.Options{CropMarks: yes}},
		{"chapter_start-page", presswork.Options{ChapterStart: "page"}},
		{"chapter_start-right", presswork.Options{ChapterStart: "right"}},
		{"as-book", presswork.Options{As: "book"}},
	}
	text := strings.Replace(novel(12), "toc: true\n", "", 1)
	took := make([]time.Duration, len(cases))
	c := converter(b, document.Options{Printer: printer(b)})

	// n makes each document different, so that no cache returns it.
	run := func(i, n int) {
		o := cases[i].o

		composed, err := c.Compose(
			b.Context(),
			document.Document{Content: fmt.Appendf(nil, "%s\n%d\n", text, n), Options: o},
		)
		if err != nil {
			b.Fatal(err)
		}

		if _, err := c.Print(b.Context(), composed); err != nil {
			b.Fatal(err)
		}
	}
	for i := range cases {
		run(i, -1)
	}

	n := 0
	for b.Loop() {
		n++

		for i := range cases {
			begun := time.Now()
			run(i, n)
			took[i] += time.Since(begun)
		}
	}

	for i := 1; i < len(cases); i++ {
		b.ReportMetric(float64(took[i])/float64(took[0]), cases[i].name+"/plain")
	}
	b.ReportMetric(float64(took[0].Milliseconds())/float64(n), "plain-ms")
}
