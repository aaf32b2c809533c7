package presswork

// Analysis is what a document's text says about it, and the themes that suit it.
type Analysis struct {
	// DocumentType is one of DocumentTypes; TypeConfidence, 0 to 1, is how often
	// an answer given with it is right.
	DocumentType   string  `json:"document_type"`
	TypeConfidence float64 `json:"type_confidence"`
	// EmotionalTone is one of Tones.
	EmotionalTone string    `json:"emotional_tone"`
	Sentiment     Sentiment `json:"sentiment"`
	Formality     Formality `json:"formality"`
	// Keywords are the document's terms, the most telling first.
	Keywords []Keyword `json:"keywords"`
	// Language is a BCP 47 tag, "und" where the text does not tell.
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
	// Reasons say in words why it was chosen.
	Reasons []string `json:"reasons"`
}

// DocumentTypes lists what a document can be.
func DocumentTypes() []string {
	return []string{"readme", "changelog", "api_reference", "tutorial", "contributing", "governance", "legal", "rfc",
		"meeting_notes", "report", "proposal", "paper", "resume", "letter", "invoice", "newsletter", "blog_post",
		"story", "poem", "essay", "recipe", "bio", "other"}
}

// DocumentFamilies lists the groups of document types.
func DocumentFamilies() []string {
	return []string{"software", "business", "legal", "academic", "personal", "creative"}
}

// Tones lists the emotional tones of a document.
func Tones() []string {
	return []string{"neutral", "professional", "technical", "friendly", "enthusiastic", "urgent", "solemn", "playful",
		"romantic", "dark", "calm", "festive", "luxurious", "nostalgic"}
}

// Moods lists what a caller may ask of a theme: the tones and three more.
func Moods() []string { return append(Tones(), "creative", "elegant", "serious") }
