package evaluate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"presswork/internal/analysis"
	"presswork/tools/train"
)

// ToneSamples returns the documents of the corpus. Training counts how often the cues of each tone occur in them
// by chance.
func ToneSamples(corpus string) (samples []train.ToneSample, err error) {
	documents, err := corpusDocuments(corpus)
	if err != nil {
		return nil, err
	}

	for _, d := range documents {
		samples = append(samples, train.ToneSample{Type: d.Type, Markdown: d.Markdown})
	}

	return samples, nil
}

// tones measures the tone of the project's own passages, because the corpus has no tone labels.
func tones(string) ([]Row, error) {
	b, err := os.ReadFile(filepath.Join("internal", "analysis", "testdata", "tone.tsv"))
	if err != nil {
		return nil, err
	}
	passages, right := 0, 0

	for line := range strings.Lines(string(b)) {
		tone, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			continue
		}
		passages++

		if analysis.PassageTone(text) == tone {
			right++
		}
	}

	return []Row{AtLeast(fmt.Sprintf("tone, %d own passages", passages), float64(right)/float64(passages), 0.85)}, nil
}
