package analysis

import (
	_ "embed"
	"iter"
	"strconv"
	"strings"
	"sync"
)

var (
	//go:embed data/sentiment_lexicon.tsv
	valenceData string
	//go:embed data/sentiment_emoji.tsv
	emojiData string
)

// valences maps a lower-case word or emoticon to its mean valence, −4 to 4.
var valences = sync.OnceValue(func() map[string]float64 {
	table := make(map[string]float64, 8192)

	for fields := range dataLines(valenceData) {
		v, err := strconv.ParseFloat(fields[1], 64)
		if err != nil {
			panic("analysis: valence of " + fields[0] + ": " + err.Error())
		}
		table[fields[0]] = v
	}

	return table
})

// emojiNames maps an emoji that has a polarity to the words it stands for.
var emojiNames = sync.OnceValue(func() map[rune]string {
	table := make(map[rune]string, 256)

	for fields := range dataLines(emojiData) {
		for _, r := range fields[0] {
			table[r] = fields[1]
			break
		}
	}

	return table
})

// dataLines yields the two or more tab-separated fields of each line of an
// embedded file, without its "#" head, which an empty line ends.
func dataLines(data string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		if strings.HasPrefix(data, "#") {
			_, data, _ = strings.Cut(data, "\n\n")
		}

		for line := range strings.Lines(data) {
			fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if len(fields) >= 2 && !yield(fields) {
				return
			}
		}
	}
}
