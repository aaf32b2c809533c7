package layout

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed labels.txt
var labelData string

// labels are the words that layouts print, by key and language. The first line of the file has the languages; each
// other line has a key and its word in each of them.
var labels = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}

	var languages []string

	for line := range strings.Lines(labelData) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		if languages == nil {
			languages = cells
			continue
		}
		all[cells[0]] = map[string]string{}

		for i, word := range cells[1:] {
			all[cells[0]][languages[i+1]] = word
		}
	}

	return all
})

// label returns a word in the language of the document, or in English.
func (b *builder) label(key string) string {
	language, _, _ := strings.Cut(strings.ToLower(b.Lang), "-")
	words := labels()[key]

	if word, known := words[language]; known {
		return word
	}

	return words["en"]
}
