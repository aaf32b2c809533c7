// Package analysis finds the type, language, tone, sentiment, formality and keywords of a Markdown document. It
// computes everything in this process from data compiled into the program: the same bytes give the same result.
// docs/lab/analysis.md has the measured accuracy.
package analysis

import (
	"math"
	"slices"
	"strings"

	"presswork/internal/analysis/finding"
	"presswork/internal/analysis/lang"
	"presswork/internal/analysis/plaintext"
	"presswork/internal/analysis/sentiment"
	"presswork/internal/analysis/wordlist"
)

// Findings is an analysis with the evidence for it.
type Findings struct {
	finding.Analysis
	// Words counts the words of prose, without code, tables, URLs and front matter. In scripts without spaces,
	// about two characters count as one word.
	Words int
	// Types lists every document type, the most probable first.
	Types []TypeProbability
	// Evidence holds phrases that support the document type, the strongest first.
	Evidence []string
	// ToneStrength, 0 to 1, is how clearly the tone shows.
	ToneStrength float64
	// Tags are the author's keywords and tags in the front matter, in lower case.
	Tags []string

	counts wordCounts
}

// Count returns how often a lower-case word occurs in the sampled prose and headings.
func (f Findings) Count(word string) int { return f.counts[word] }

// LeastConfidence is the probability below which the most probable type is not reported and the document gets
// OtherType.
const LeastConfidence = 0.3

// TypeProbability is how probable a document type is, 0 to 1.
type TypeProbability struct {
	Type        string
	Probability float64
}

// wordCounts maps each lower-case word of the sampled prose and headings to its number of occurrences.
type wordCounts map[string]int

// documentCues holds the properties of a whole document that sentiment, tone and formality depend on.
type documentCues struct {
	// Type is the document type, Language the BCP 47 tag. The word lists and weights of sentiment, formality and
	// tone are English.
	Type, Language string
	// Factual reports whether the document states facts and does not judge.
	Factual bool
	// Headings are the headings' texts in order, without markup.
	Headings []string
	// Words counts the words of prose, Emoji the emoji among them.
	Words, Emoji int
	// Salutation and Closing report whether the document has the "Dear …" and the "Yours …" of a letter.
	Salutation, Closing bool
}

// Analyze returns the analysis of a document without a recommendation; package recommend adds it. Analyze never
// fails: an empty, binary or unreadable document has type OtherType and language "und".
func Analyze(markdown []byte) finding.Analysis {
	return Examine(markdown).Analysis
}

// Examine is Analyze with the evidence. The first call in a process loads the embedded models.
func Examine(markdown []byte) Findings {
	r := read(markdown)
	x := features(r)
	language := lang.Detect(r.proseTokens())
	f := Findings{Types: rankTypes(x, language), counts: r.countWords()}
	f.Words = int(float64(r.proseWords())/r.scale/r.share + 0.5)

	top := f.Types[0]

	tooShort := len(f.counts) < 2 && len(r.front) == 0
	if top.Probability < LeastConfidence || tooShort {
		top = f.Types[slices.IndexFunc(f.Types, func(t TypeProbability) bool { return t.Type == OtherType })]
	} else {
		f.Evidence = r.evidence(top.Type, x)
	}
	f.DocumentType, f.TypeConfidence = top.Type, hundredths(top.Probability)
	f.Language = language
	f.Keywords = keywords(r, f.Language)

	for _, k := range frontKeywords(r.front) {
		f.Tags = append(f.Tags, strings.ToLower(k.Term))
	}
	f.ReadingMinutes = r.minutes()
	cues, sentences := r.cues(), r.sentences()
	cues.Type, cues.Language = f.DocumentType, f.Language
	f.EmotionalTone, f.ToneStrength = detectTone(sentences, cues)

	cues.Factual = factualTypes[cues.Type] != 0 || cues.Type == OtherType && f.EmotionalTone == "technical"
	if english(f.Language) {
		f.Sentiment = sentiment.OfDocument(sentences, cues.Type, cues.Factual)
		f.Formality = scoreFormality(sentences, cues)
	}

	return f
}

// hundredths rounds a probability to two digits: the corpus is too small to support more.
func hundredths(p float64) float64 { return math.Round(p*100) / 100 }

// OtherType is the type of a document that fits no other type.
const OtherType = "other"

// DocumentTypes returns every document type, OtherType last. Models store their rows in this order.
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

// Tones returns every emotional tone of a document, "neutral" first.
func Tones() []string {
	return []string{
		"neutral", "professional", "technical", "friendly", "enthusiastic", "urgent", "solemn", "playful",
		"romantic", "dark", "calm", "festive", "luxurious", "nostalgic",
	}
}

// factualTypes are the document types that state facts and do not judge. Their words are read with technical and
// legal senses. Each value is 1.
var factualTypes = wordlist.Signs(
	map[int]string{1: `readme changelog api_reference tutorial contributing governance legal rfc
meeting_notes paper resume invoice recipe`},
)

// english reports whether the English word lists apply to a language, a BCP 47 tag or "und".
func english(language string) bool { return language == "en" }

// sentences returns the sentences of the sample's prose.
func (r *reading) sentences() (out []string) {
	for _, p := range r.passages {
		if p.prose() {
			for line := range strings.SplitSeq(p.text, "\n") {
				out = append(out, plaintext.Sentences(line)...)
			}
		}
	}

	return out
}

// countWords counts each word of the headings and of the sample.
func (r *reading) countWords() wordCounts {
	counts := wordCounts{}

	for _, t := range r.tokens {
		if t != "" {
			counts[t]++
		}
	}

	return counts
}

// cues returns the properties that can be read from the document itself. The caller sets the others.
func (r *reading) cues() documentCues {
	c := documentCues{Words: r.proseWords(), Salutation: r.salutation, Closing: r.closing}
	for _, h := range r.headings[:min(len(r.headings), 400)] {
		c.Headings = append(c.Headings, h.text)
	}

	for _, p := range r.passages {
		for _, char := range p.text {
			if plaintext.IsEmoji(char) {
				c.Emoji++
			}
		}
	}

	return c
}
