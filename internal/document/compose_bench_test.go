package document_test

import (
	"os"
	"testing"

	"presswork/internal/document"
)

func BenchmarkComposeSample(b *testing.B) {
	sample, err := os.ReadFile("testdata/sample.md")
	if err != nil {
		b.Fatal(err)
	}

	c := converter(b, document.Options{})
	for b.Loop() {
		if _, err := c.Compose(b.Context(), document.Document{Content: sample, Theme: "nord"}); err != nil {
			b.Fatal(err)
		}
	}
}
