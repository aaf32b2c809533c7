package analysis_test

import (
	"os"
	"strings"
	"testing"

	"presswork/internal/analysis"
)

// BenchmarkAnalyze measures the sizes that have goals: 10 KB in 5 ms, 1 MB in 50 ms.
func BenchmarkAnalyze(b *testing.B) {
	sample, err := os.ReadFile("testdata/documents/guide.md")
	if err != nil {
		b.Fatal(err)
	}

	for name, size := range map[string]int{"10KB": 10 << 10, "100KB": 100 << 10, "1MB": 1 << 20} {
		text := []byte(strings.Repeat(string(sample), 1+size/len(sample))[:size])
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(size))

			for b.Loop() {
				analysis.Analyze(text)
			}
		})
	}
}
