package analysis

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

//go:embed data/language/grams.txt
var gramData string

const (
	// maxGramWords bounds the words that are looked at.
	maxGramWords = 200
	// maxGramLength bounds a word, in bytes; longer ones are names of things.
	maxGramLength = 40
)

// gramWeight is what a run of letters says for a language: the logarithm of its
// frequency, in quarters of a bit from that of what the language is not known
// to have.
type gramWeight struct{ language, weight uint8 }

// gramModel knows how often runs of one to four letters and short words occur
// in languages.
type gramModel struct {
	tags []string
	// typical is what a letter run of running text weighs on average in its own
	// language.
	typical []float64
	grams   map[string][]gramWeight
}

var grams = sync.OnceValue(func() *gramModel {
	m, err := parseGrams(gramData)
	if err != nil {
		panic("analysis: letter runs of languages: " + err.Error())
	}

	return m
})

// parseGrams reads lines "tag typical weight run run … weight run …", where a
// blank is written "_".
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

// EachGram calls use with the runs of one to four letters of a lower-case word,
// and with the word if it is short; its ends are written "_". The bytes are
// reused.
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
	// score is its weight altogether, share what that is of what text in the
	// language weighs.
	score, share float64
}

// rank returns the languages of a text, the most fitting first, and how many
// runs of letters it has that are known.
func (m *gramModel) rank(tokens []string, among func(tag string) bool) ([]resemblance, int) {
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
		if among(tag) {
			share := sums[i] / float64(max(n, 1)) / m.typical[i]

			switch {
			case tag == "en":
				sums[i] += englishHead
			case slices.Contains(widespread, tag):
				sums[i] += wideHead
			}
			// Languages with few runs weigh more for each of them.
			all = append(all, resemblance{tag, sums[i] * math.Pow(usualWeight/m.typical[i], 0.25), share})
		}
	}
	slices.SortStableFunc(all, func(a, b resemblance) int { return cmp.Compare(b.score, a.score) })

	return all, n
}

// What a ranking must show to be believed: the best lead the second by leastLead
// deviations, and a fit that long texts reach better than short ones.
const (
	leastLead             = 2
	shortFit, longFit     = 0.72, 1.0
	longFrom, leadAsFit   = 900, 0.25
	englishHead, wideHead = 36, 24
	usualWeight           = 15.5
)

// widespread are the languages that a few words are likelier to be in.
var widespread = strings.Fields("de fr es pt it nl sv no da fi pl cs hu ro tr id vi ru uk ar fa hi")

// identify returns the language of a text among some, "und" where it shows none
// plainly.
func (m *gramModel) identify(tokens []string, among func(tag string) bool) string {
	all, n := m.rank(tokens, among)
	if n < 2 || len(all) == 0 || all[0].score == 0 {
		return "und"
	}

	lead := all[0].score
	if len(all) > 1 {
		lead -= all[1].score
	}
	lead /= float64(n)

	fit := shortFit + (longFit-shortFit)*float64(n)/float64(n+longFrom)
	if lead*math.Sqrt(float64(n)) < leastLead || all[0].share+leadAsFit*lead < fit {
		return "und"
	}

	return all[0].tag
}

// Words are the lower-case words of a text, without numbers.
func Words(text string) []string {
	return slices.DeleteFunc(
		appendTokens(nil, text),
		func(t string) bool { return t == "" || t[0] >= '0' && t[0] <= '9' },
	)
}
