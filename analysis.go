package presswork

// Analysis is what a document's text is like, and the themes that suit it.
type Analysis struct {
	// DocumentType is one of analysis.DocumentTypes; TypeConfidence, 0 to 1, is how often
	// an answer given with it is right.
	DocumentType   string  `json:"document_type"`
	TypeConfidence float64 `json:"type_confidence"`
	// EmotionalTone is one of analysis.Tones.
	EmotionalTone string    `json:"emotional_tone"`
	Sentiment     Sentiment `json:"sentiment"`
	Formality     Formality `json:"formality"`
	// Keywords are the document's terms, the most telling first.
	Keywords []Keyword `json:"keywords"`
	// Language is a BCP 47 tag, "und" where the text does not show it.
	Language string `json:"language"`
	// ReadingMinutes is how long a reader needs, rounded up.
	ReadingMinutes int            `json:"reading_minutes"`
	Recommendation Recommendation `json:"recommendation"`
}

// Sentiment is a document's polarity: Label is positive, negative, neutral or
// mixed, Score −1 to 1.
type Sentiment struct {
	Label string  `json:"label"`
	Score float64 `json:"score"`
}

// Formality is a document's register: Label is formal, neutral or informal,
// Score 0 to 1.
type Formality struct {
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
	// Confidence, 0 to 1, is how often a choice made with it suits.
	Confidence float64 `json:"confidence"`
	// Reasons are sentences on why it was chosen.
	Reasons []string `json:"reasons"`
}
