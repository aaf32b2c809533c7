// Package analysis reads a Markdown document and finds what it is: its type,
// language, tone, sentiment, formality and keywords. Everything is computed in
// this process from data compiled into the program; the same bytes give the
// same answer.
package analysis

import (
	"math"
	"slices"

	"presswork/internal/analysis/finding"
)

// Findings are an analysis and what it was drawn from.
type Findings struct {
	finding.Analysis
	// Words counts the words of prose: no code, tables, URLs or front matter. Of
	// scripts without spaces, about two characters count as one.
	Words int
	// Types are all document types, the most probable first.
	Types []TypeProbability
	// Evidence are phrases on what of the document speaks for its type, the
	// weightiest first.
	Evidence []string
	// ToneStrength, 0 to 1, is how clearly the tone shows.
	ToneStrength float64

	counts wordCounts
}

// Count returns how often a lower-case word occurs in the sampled prose and
// headings.
func (f Findings) Count(word string) int { return f.counts[word] }

// LeastConfidence is the probability below which the most probable type is not
// named, and the document called "other".
const LeastConfidence = 0.3

// TypeProbability is how probable a document type is, 0 to 1.
type TypeProbability struct {
	Type        string
	Probability float64
}

// wordCounts maps a lower-case word of the sampled prose and headings to how
// often it occurs.
type wordCounts map[string]int

// documentCues are signs of register that single sentences do not show.
type documentCues struct {
	// Type is the document type found, Language its BCP 47 tag. Word lists and
	// weights of sentiment, formality and tone are English.
	Type, Language string
	// Factual reports whether the document states and does not judge.
	Factual bool
	// Headings are the headings' texts in order, without markup.
	Headings []string
	// Words counts the words of prose, Emoji the emoji among them.
	Words, Emoji int
	// Salutation and Closing report whether there are a letter's "Dear …" and "Yours …".
	Salutation, Closing bool
}

// Analyze never fails: what is empty, binary or unreadable is of type "other"
// and language "und". The recommendation is left empty: see
// package recommend.
func Analyze(markdown []byte) finding.Analysis {
	return Examine(markdown).Analysis
}

// Examine is Analyze with the evidence. The first call of a process reads the
// embedded models.
func Examine(markdown []byte) Findings {
	r := read(markdown)
	x := features(r)
	f := Findings{Types: rankTypes(x), counts: r.countWords()}
	f.Words = int(float64(r.amount())/r.scale + 0.5)

	top := f.Types[0]
	if top.Probability < LeastConfidence || len(f.counts) < 2 && len(r.front) == 0 {
		top = f.Types[slices.IndexFunc(f.Types, func(t TypeProbability) bool { return t.Type == OtherType })]
	} else {
		f.Evidence = r.evidence(top.Type, x)
	}
	f.DocumentType, f.TypeConfidence = top.Type, hundredths(top.Probability)
	f.Language = detectLanguage(r)
	f.Keywords = keywords(r, f.Language)
	f.ReadingMinutes = r.minutes()
	cues, sentences := r.cues(), r.sentences()
	cues.Type, cues.Language = f.DocumentType, f.Language
	f.EmotionalTone, f.ToneStrength = detectTone(sentences, cues)

	cues.Factual = factualTypes[cues.Type] != 0 || cues.Type == OtherType && f.EmotionalTone == "technical"
	if english(f.Language) {
		f.Sentiment = scoreSentiment(sentences, cues)
		f.Formality = scoreFormality(sentences, cues)
	}

	return f
}

// hundredths rounds a probability to what it is worth.
func hundredths(p float64) float64 { return math.Round(p*100) / 100 }

// OtherType is the type of a document of no particular kind.
const OtherType = "other"

// DocumentTypes lists what a document can be.
func DocumentTypes() []string {
	return []string{
		"readme", "changelog", "api_reference", "tutorial", "contributing", "governance", "legal", "rfc",
		"meeting_notes", "report", "proposal", "paper", "resume", "letter", "invoice", "newsletter", "blog_post",
		"story", "poem", "essay", "recipe", "bio", OtherType,
	}
}

// DocumentFamilies lists the groups of document types.
func DocumentFamilies() []string {
	return []string{"software", "business", "legal", "academic", "personal", "creative"}
}

// Tones lists the emotional tones of a document.
func Tones() []string {
	return []string{
		"neutral", "professional", "technical", "friendly", "enthusiastic", "urgent", "solemn", "playful",
		"romantic", "dark", "calm", "festive", "luxurious", "nostalgic",
	}
}
