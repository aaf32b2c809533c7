package analysis

import (
	_ "embed"
	"strings"
	"testing"

	"presswork/internal/analysis/plaintext"
	"presswork/internal/analysis/sentiment"
	"presswork/internal/analysis/wordlist"
)

//go:embed testdata/tone.tsv
var toneCases string

func TestTonesOfMostPassagesAreRight(t *testing.T) {
	t.Parallel()

	passages, right := 0, 0
	for fields := range wordlist.Rows(toneCases) {
		passages++

		if got := PassageTone(fields[1]); got == fields[0] {
			right++
		} else {
			t.Logf("%s, want %s: %s", got, fields[0], fields[1])
		}
	}

	if passages < 40 || float64(right) < 0.85*float64(passages) {
		t.Errorf("%d of %d passages are right, want 85 %% of 40 or more", right, passages)
	}
}

func TestToneDependsOnTheDocumentType(t *testing.T) {
	t.Parallel()

	text := "The daemon kills the child process. A dead socket is buried in the log. Fear no zombie: the parent reaps the corpse at midnight."
	for kind, want := range map[string]string{"story": "dark", "api_reference": "technical"} {
		tone, strength := detectTone(plaintext.Sentences(text), documentCues{Type: kind, Language: "en"})
		if tone != want {
			t.Errorf("type %s: tone %s (%.2f), want %s", kind, tone, strength, want)
		}
	}

	if tone, _ := detectTone(plaintext.Sentences(text), documentCues{Language: "de"}); tone != "neutral" {
		t.Errorf("German text with English words: tone %s, want neutral", tone)
	}
}

// A long text has a tone only if one feeling outweighs the others.
func TestTextWithTwoEqualTonesIsNeutral(t *testing.T) {
	t.Parallel()
	love := "He gave her a tender kiss, my heart, she sighed, and their embrace was full of desire and love. "
	death := "The cursed corpse lay in the grave, and terror, wailing and evil came with the dagger at midnight. "
	plain := "They walked on through the valley until they came to the wall of the town and sat down there. "

	cues := documentCues{Type: "story", Language: "en"}
	for text, want := range map[string]string{
		strings.Repeat(love+plain, 30):       "romantic",
		strings.Repeat(love+death+plain, 30): "neutral",
	} {
		if tone, strength := detectTone(plaintext.Sentences(text), cues); tone != want {
			t.Errorf("%.40q is %s (%.2f), want %s", text, tone, strength, want)
		}
	}
}

func BenchmarkLexical(b *testing.B) {
	passages := strings.ReplaceAll(toneCases, "\t", " ")
	for name, size := range map[string]int{"10KB": 10 << 10, "1MB": 1 << 20} {
		text := strings.Repeat(passages, size/len(passages)+1)[:size]
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()

			for b.Loop() {
				sentences := plaintext.Sentences(text)
				cues := documentCues{Type: "essay", Language: "en"}
				sentiment.OfDocument(sentences, cues.Type, cues.Factual)
				scoreFormality(sentences, cues)
				detectTone(sentences, cues)
			}
		})
	}
}
