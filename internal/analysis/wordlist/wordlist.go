// Package wordlist reads the lists of words that are compiled into the program.
package wordlist

import (
	"iter"
	"strconv"
	"strings"
)

// Signs converts lists of words by sign to a map from each word to its sign.
func Signs(lists map[int]string) map[string]int {
	table := map[string]int{}

	for sign, words := range lists {
		for word := range strings.FieldsSeq(words) {
			table[word] = sign
		}
	}

	return table
}

// Rows yields the tab-separated fields, two or more, of each line of an embedded file. It skips the "#"
// header, which ends at an empty line.
func Rows(data string) iter.Seq[[]string] {
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

// Number parses a number of an embedded file. It panics if the number is invalid, which a test rules out.
func Number(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic("wordlist: embedded data: " + err.Error())
	}

	return v
}
