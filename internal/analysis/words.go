package analysis

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
