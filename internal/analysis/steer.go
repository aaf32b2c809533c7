package analysis

import (
	"slices"
	"strings"

	"presswork"
	"presswork/internal/input"
)

// Steer is what a caller knows better than the text; what is said replaces what
// was found. The zero value says nothing.
type Steer struct {
	// Mood is one of presswork.Moods.
	Mood string
	// Type is one of presswork.DocumentTypes or presswork.DocumentFamilies.
	Type string
}

// ParseSteer checks a mood and a document type as a person writes them: in any
// case, with hyphens or underscores; "" is not said. Errors: InvalidOption with
// Param mood or doc_type.
func ParseSteer(mood, docType string) (Steer, error) {
	s := Steer{Mood: foldName(mood), Type: foldName(docType)}
	if moods := presswork.Moods(); s.Mood != "" && !slices.Contains(moods, s.Mood) {
		return Steer{}, presswork.Errorf(presswork.InvalidOption, "%q is not a mood%s; allowed: %s",
			clipped(mood), input.DidYouMean(s.Mood, moods), strings.Join(moods, ", ")).WithParam("mood")
	}
	types := slices.Concat(presswork.DocumentTypes(), presswork.DocumentFamilies())
	slices.Sort(types)
	if types = slices.Compact(types); s.Type != "" && !slices.Contains(types, s.Type) {
		return Steer{}, presswork.Errorf(presswork.InvalidOption, "%q is not a document type%s; allowed: %s, or a family: %s",
			clipped(docType), input.DidYouMean(s.Type, types),
			strings.Join(presswork.DocumentTypes(), ", "), strings.Join(presswork.DocumentFamilies(), ", ")).WithParam("doc_type")
	}
	return s, nil
}

func foldName(word string) string {
	return strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(word)))
}

// clipped keeps a message short.
func clipped(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

// typesOf are the document types a steered type allows: itself, or the members
// of a family. "legal" is a type and a family; the family is meant, for it has
// the type.
func (r *themeRules) typesOf(name string) []string {
	if members, ok := r.families[name]; ok {
		return members
	}
	return []string{name}
}
