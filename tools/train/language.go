package train

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"presswork/internal/analysis/lang"
	"presswork/internal/analysis/plaintext"
)

const (
	// gramsKept is the largest number of letter runs stored for a language. leastSeen is the number of times a run
	// must occur in its text.
	gramsKept, leastSeen = 700, 3
	// gramFloor and gramSteps define the stored weights: log2 of the frequency, counted from 2^-gramFloor in units
	// of 1/gramSteps bit.
	gramFloor, gramSteps = 14, 4
)

// LetterRuns counts the letter runs of each language and writes their weights in the form that package lang
// reads. The keys of texts are language tags.
func LetterRuns(w io.Writer, texts map[string]string) error {
	if _, err := fmt.Fprintln(
		w,
		"# Letter runs of languages, in quarters of a bit above 2^-14, learned by `make train`:\n# tag, what a run "+
			"weighs on average, then each weight with the runs that have it.",
	); err != nil {
		return err
	}

	for _, tag := range slices.Sorted(maps.Keys(texts)) {
		words := plaintext.Words(texts[tag])
		counts, total := map[string]int{}, 0

		for _, word := range words {
			lang.EachGram(word, nil, func(gram []byte) {
				counts[string(gram)]++
				total++
			})
		}
		weight := func(gram string) int {
			return int(math.Round(gramSteps * (gramFloor + math.Log2(float64(counts[gram])/float64(total)))))
		}
		kept := slices.Collect(maps.Keys(counts))
		slices.SortFunc(kept, func(a, b string) int {
			if counts[a] != counts[b] {
				return counts[b] - counts[a]
			}

			return strings.Compare(a, b)
		})
		kept = slices.DeleteFunc(kept[:min(len(kept), gramsKept)], func(gram string) bool {
			return counts[gram] < leastSeen || weight(gram) < 1 || gram[0] >= '0' && gram[0] <= '9'
		})

		known := map[string]bool{}
		for _, gram := range kept {
			known[gram] = true
		}
		sum := 0

		for gram, n := range counts {
			if known[gram] {
				sum += n * weight(gram)
			}
		}

		if _, err := fmt.Fprintf(w, "%s %.1f", tag, float64(sum)/float64(total)); err != nil {
			return err
		}

		last := -1
		for _, gram := range kept {
			if at := weight(gram); at != last {
				fmt.Fprintf(w, " %d", at)
				last = at
			}
			fmt.Fprintf(w, " %s", gram)
		}

		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
	}

	return nil
}
