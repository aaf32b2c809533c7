package admonition_test

import (
	"testing"

	"presswork/internal/markdown/admonition"
)

func TestKindOfMapsNamesToTheKindsOfGitHub(t *testing.T) {
	t.Parallel()

	for name, want := range map[string]string{
		"note":      "note",
		"faq":       "note",
		"hint":      "tip",
		"important": "important",
		"attention": "warning",
		"bug":       "caution",
		"Note":      "",
		"columns":   "",
		"":          "",
	} {
		t.Run(name, func(t *testing.T) {
			if got := admonition.KindOf(name); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
