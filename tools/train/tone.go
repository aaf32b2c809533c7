package train

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"presswork/internal/analysis"
)

// ToneSample is a document with its type.
type ToneSample struct {
	Type     string
	Markdown []byte
}

// ownTones maps a tone to the document types that are written in it. They are left out when the chance rate of its
// cues is measured.
var ownTones = map[string][]string{
	"technical":    {"api_reference", "readme", "tutorial", "changelog", "rfc", "contributing", "paper", "blog_post"},
	"professional": {"report", "meeting_notes", "governance", "legal", "resume", "invoice", "proposal"},
}

// ToneBaselines measures how often each tone's cues occur in the samples. It returns the contents of the embedded
// file tone_baselines.tsv.
func ToneBaselines(samples []ToneSample) string {
	rates := make([][]float64, len(samples))
	for i, s := range samples {
		evidence, words := analysis.ToneEvidence(s.Markdown)
		for k := range evidence {
			evidence[k] *= 100 / float64(words+1)
		}
		rates[i] = evidence
	}
	var b strings.Builder
	b.WriteString("# Cues of each tone in a hundred words of documents that do not live by it: mean\n" +
		"# and deviation. Measured by `make train` on the labelled corpus.\n\n")

	for k, tone := range analysis.Tones()[1:] {
		var values []float64

		for i, s := range samples {
			if !slices.Contains(ownTones[tone], s.Type) {
				values = append(values, rates[i][k])
			}
		}
		mean, deviation := meanDeviation(values)
		fmt.Fprintf(&b, "%s\t%.3f\t%.3f\n", tone, mean, deviation)
	}

	return b.String()
}

// meanDeviation returns the mean and the standard deviation.
func meanDeviation(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}

	for _, v := range values {
		deviation += (v - mean) * (v - mean) / float64(len(values))
	}

	return mean, math.Sqrt(deviation)
}
