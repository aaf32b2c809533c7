// Package finding defines what an analysis of a document says. The types are plain data: package
// analysis fills them, package recommend adds the theme, and a job's public record carries them.
package finding

// Analysis describes a document's text and names the themes that suit it.
type Analysis struct {
	// DocumentType is one of analysis.DocumentTypes. TypeConfidence, 0 to 1, is how often
	// an answer with this confidence is right.
	DocumentType   string  `json:"document_type"`
	TypeConfidence float64 `json:"type_confidence"`
	// EmotionalTone is one of analysis.Tones.
	EmotionalTone string `json:"emotional_tone"`
	// Sentiment is positive, negative, neutral or mixed, with a score of −1 to 1. It is absent
	// when there is no model for the language.
	Sentiment Leaning `json:"sentiment,omitzero"`
	// Formality is formal, neutral or informal, with a score of 0 to 1. It is absent when there
	// is no model for the language.
	Formality Leaning `json:"formality,omitzero"`
	// Keywords are the document's terms, the most telling first.
	Keywords []Keyword `json:"keywords"`
	// Language is a BCP 47 tag, or "und" when the text does not show its language.
	Language string `json:"language"`
	// ReadingMinutes is how long a reader needs, rounded up.
	ReadingMinutes int            `json:"reading_minutes"`
	Recommendation Recommendation `json:"recommendation"`
}

// Leaning is a label and the score that it was chosen by.
type Leaning struct {
	Label string  `json:"label"`
	Score float64 `json:"score"`
}

// Keyword is a term of one or more words with its weight, 0 to 1.
type Keyword struct {
	Term  string  `json:"term"`
	Score float64 `json:"score"`
}

// Recommendation is a choice of theme.
type Recommendation struct {
	Primary      string   `json:"primary"`
	Alternatives []string `json:"alternatives"`
	// Confidence, 0 to 1, is how often a choice with this confidence suits.
	Confidence float64 `json:"confidence"`
	// Reasons say in words why the theme was chosen.
	Reasons []string `json:"reasons"`
}
