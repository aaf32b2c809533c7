package evaluate

import (
	"os"
	"path/filepath"
	"regexp"

	"presswork/internal/analysis"
)

// translated matches the language code in the path of a translated document.
var translated = regexp.MustCompile(`-([a-z]{2})\.md$`)

// languages measures the share of documents whose language is detected correctly. The path of a translation names
// its language; all other documents are in English.
func languages(corpus string) ([]Row, error) {
	rows, err := indexed(corpus)
	if err != nil {
		return nil, err
	}
	right := 0

	for _, row := range rows {
		b, err := os.ReadFile(filepath.Join(corpus, "documents", filepath.FromSlash(row.file)))
		if err != nil {
			return nil, err
		}

		want := "en"
		if m := translated.FindStringSubmatch(row.path); row.label == "multilingual" && m != nil {
			want = m[1]
		}

		if analysis.Analyze(b).Language == want {
			right++
		}
	}

	return []Row{AtLeast("language, share of documents right", float64(right)/float64(max(len(rows), 1)), 1)}, nil
}
