package lang

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed data/grams.txt
var gramData string

const (
	// maxGramWords limits the words that are read.
	maxGramWords = 200
	// maxGramLength limits a word, in bytes. Longer words are identifiers.
	maxGramLength = 40
)

// gramWeight is the evidence of a letter run for a language: the binary logarithm of its frequency in the language,
// in quarters of a bit. Weight 0 is the frequency of an unseen run, 2^-14.
type gramWeight struct{ language, weight uint8 }

// gramModel holds the frequencies of runs of one to four letters and of short words in each language.
type gramModel struct {
	tags []string
	// typical is the average weight of a letter run of running text in its own language.
	typical []float64
	grams   map[string][]gramWeight
}

// grams returns the embedded frequencies of letter runs.
var grams = sync.OnceValue(func() *gramModel {
	m, err := parseGrams(gramData)
	if err != nil {
		panic("lang: letter runs of languages: " + err.Error())
	}

	return m
})

// parseGrams reads lines "tag typical weight run run … weight run …". "_" stands for a blank.
func parseGrams(data string) (*gramModel, error) {
	m := &gramModel{grams: map[string][]gramWeight{}}

	for line := range strings.Lines(data) {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[0] == "#" {
			continue
		}

		typical, err := strconv.ParseFloat(fields[1], 64)
		if err != nil {
			return nil, fmt.Errorf("%s has no number", fields[0])
		}
		language := uint8(len(m.tags))
		m.tags, m.typical = append(m.tags, fields[0]), append(m.typical, typical)
		weight := uint64(0)

		for _, f := range fields[2:] {
			if f[0] >= '0' && f[0] <= '9' {
				if weight, err = strconv.ParseUint(f, 10, 8); err != nil {
					return nil, fmt.Errorf("%s: %w", fields[0], err)
				}
				continue
			}
			m.grams[f] = append(m.grams[f], gramWeight{language, uint8(weight)})
		}
	}

	return m, nil
}

// EachGram calls use with each run of one to four letters of a lower-case word, and with the word itself if it is
// short. "_" marks both ends of the word. The bytes passed to use are valid until use returns. EachGram returns
// the buffer for the next call.
func EachGram(word string, buffer []byte, use func(gram []byte)) []byte {
	if len(word) > maxGramLength {
		return buffer
	}
	buffer = append(append(append(buffer[:0], '_'), word...), '_')
	var starts [maxGramLength + 3]int
	n := 0

	for i := range buffer {
		if utf8.RuneStart(buffer[i]) {
			starts[n] = i
			n++
		}
	}

	starts[n] = len(buffer)
	for i := range n {
		for size := 1; size <= 4 && i+size <= n; size++ {
			if size > 1 || i > 0 && i < n-1 {
				use(buffer[starts[i]:starts[i+size]])
			}
		}
	}

	if n > 4 && n <= 9 {
		use(buffer)
	}

	return buffer
}

// resemblance is how well a text fits a language.
type resemblance struct {
	tag string
	// score is the total weight. share is the average weight of a run, relative to typical text in the language.
	score, share float64
}

// rank returns the languages of a text, the best fit first, and the number of its letter runs.
func (m *gramModel) rank(tokens []string, accepts func(tag string) bool) ([]resemblance, int) {
	sums := make([]float64, len(m.tags))
	n := 0
	var buffer []byte

	for i, t := range tokens {
		if i == maxGramWords {
			break
		}

		if t == "" || t[0] >= '0' && t[0] <= '9' {
			continue
		}
		buffer = EachGram(t, buffer, func(gram []byte) {
			n++

			for _, w := range m.grams[string(gram)] {
				sums[w.language] += float64(w.weight)
			}
		})
	}
	var all []resemblance

	for i, tag := range m.tags {
		if accepts(tag) {
			share := sums[i] / float64(max(n, 1)) / m.typical[i]

			switch {
			case tag == "en":
				sums[i] += englishBonus
			case slices.Contains(widespread, tag):
				sums[i] += widespreadBonus
			}
			// Languages with few runs have a higher weight for each of them.
			all = append(all, resemblance{tag, sums[i] * math.Pow(usualWeight/m.typical[i], 0.25), share})
		}
	}
	slices.SortStableFunc(all, func(a, b resemblance) int { return cmp.Compare(b.score, a.score) })

	return all, n
}

// Thresholds for accepting the best language; otherwise the result is "und". They were chosen on the sentences of the
// language table in docs/lab/analysis.md.
const (
	// minLead is the least lead over the second language, in standard deviations.
	minLead = 2
	// The share of the best language must reach a limit that rises from shortFit to longFit with the number of letter
	// runs. At fitHalfLength runs it is halfway. The lead per run, times leadFactor, counts towards the limit.
	shortFit, longFit         = 0.72, 1.0
	fitHalfLength, leadFactor = 900, 0.25
	// englishBonus and widespreadBonus are added to the totals of English and of widespread languages, in quarters of
	// a bit.
	englishBonus, widespreadBonus = 36, 24
	// usualWeight is the typical weight of a language whose scores are not adjusted.
	usualWeight = 15.5
)

// widespread lists languages that short texts are more likely to be in.
var widespread = strings.Fields("de fr es pt it nl sv no da fi pl cs hu ro tr id vi ru uk ar fa hi")

// identify returns the best language of a text among those that accepts approves, or "und" if no language is clear.
func (m *gramModel) identify(tokens []string, accepts func(tag string) bool) string {
	all, n := m.rank(tokens, accepts)
	if n < 2 || len(all) == 0 || all[0].score == 0 {
		return "und"
	}

	lead := all[0].score
	if len(all) > 1 {
		lead -= all[1].score
	}
	lead /= float64(n)

	fit := shortFit + (longFit-shortFit)*float64(n)/float64(n+fitHalfLength)
	if lead*math.Sqrt(float64(n)) < minLead || all[0].share+leadFactor*lead < fit {
		return "und"
	}

	return all[0].tag
}
