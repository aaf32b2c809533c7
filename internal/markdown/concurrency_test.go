package markdown_test

import (
	"sync"
	"testing"

	"presswork/internal/markdown"
)

// `make test` runs only this test of the package under the race detector.
func TestRendererIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	r := markdown.New()
	sources := append(
		hostile(),
		"# Title\n\n```go\nx := 1\n```\n\n$a^2$ and *words*, :smile:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n[^1]: note\n",
	)
	html := func(src string) string {
		d, err := r.Parse(t.Context(), []byte(src), markdown.Options{NumberHeadings: true, Asset: assets})
		if err != nil {
			return err.Error()
		}

		return d.HTML
	}
	var wg sync.WaitGroup

	got := make([][]string, 4)
	for i := range got {
		wg.Go(func() {
			for _, src := range sources {
				got[i] = append(got[i], html(src))
			}
		})
	}
	wg.Wait()

	for n, src := range sources {
		want := html(src)
		for i := range got {
			if got[i][n] != want {
				t.Errorf("%.60q gives %.200q among others, %.200q alone", src, got[i][n], want)
			}
		}
	}
}
