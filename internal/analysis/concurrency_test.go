package analysis_test

import (
	"fmt"
	"reflect"
	"sync"
	"testing"

	"presswork/internal/analysis"
)

// `make test` runs only this test of the package under the race detector.
func TestConcurrentAnalyses(t *testing.T) {
	t.Parallel()
	texts := []string{
		"# Release notes\n\n- We fixed a *wonderful* bug.\n- Nobody liked it 😀\n",
		"Sehr geehrte Damen und Herren,\n\nhiermit kündige ich den Vertrag fristgerecht.\n",
		"Il était une fois une petite fille qui aimait lire près de la fenêtre.\n",
	}

	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, text := range texts {
				t.Run(fmt.Sprintf("%.20s", text), func(t *testing.T) {
					a, b := analysis.Analyze([]byte(text)), analysis.Analyze([]byte(text))
					if !reflect.DeepEqual(a, b) {
						t.Errorf("Analyze(%q) = %+v, then %+v", text, a, b)
					}
				})
			}
		})
	}
	wg.Wait()
}
