package recommend

import (
	"slices"
	"strings"

	"presswork/internal/analysis"
	"presswork/internal/fault"
	"presswork/internal/input"
)

// Moods returns the moods that a caller may request: the tones and three more.
func Moods() []string { return append(analysis.Tones(), "creative", "elegant", "serious") }

// Preference holds what the caller states about a document. Set fields replace the findings of the analysis; the
// zero value replaces nothing.
type Preference struct {
	// Mood is one of Moods.
	Mood string
	// Type is one of analysis.DocumentTypes or analysis.DocumentFamilies.
	Type string
}

// ParsePreference checks a mood and a document type typed by a user. It accepts any case, hyphens and underscores;
// "" leaves a field unset. It returns InvalidOption with Param mood or doc_type.
func ParsePreference(mood, docType string) (Preference, error) {
	s := Preference{Mood: foldName(mood), Type: foldName(docType)}
	if moods := Moods(); s.Mood != "" && !slices.Contains(moods, s.Mood) {
		return Preference{}, fault.Errorf(fault.InvalidOption, "%q is not a mood%s; allowed: %s",
			clipped(mood), input.DidYouMean(s.Mood, moods), strings.Join(moods, ", ")).WithParam("mood")
	}
	types := slices.Concat(analysis.DocumentTypes(), analysis.DocumentFamilies())
	slices.Sort(types)

	if types = slices.Compact(types); s.Type != "" && !slices.Contains(types, s.Type) {
		return Preference{}, fault.Errorf(fault.InvalidOption, "%q is not a document type%s; allowed: %s, or a family: %s",
			clipped(docType), input.DidYouMean(s.Type, types),
			strings.Join(analysis.DocumentTypes(), ", "),
			strings.Join(analysis.DocumentFamilies(), ", ")).
			WithParam("doc_type")
	}

	return s, nil
}

// foldName returns a name as it is stored: in lower case, with underscores.
func foldName(word string) string {
	return strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(word)))
}

// clipped shortens a value for an error message.
func clipped(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}

	return s
}

// typesOf returns the document types that a requested type allows: the type itself, or the members of a family.
// "legal" is both and means the family, which contains the type.
func (r *Rules) typesOf(name string) []string {
	if members, ok := r.families[name]; ok {
		return members
	}

	return []string{name}
}
