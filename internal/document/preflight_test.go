package document_test

import (
	"testing"

	"presswork/internal/document"
	"presswork/internal/fault"
)

func TestSkippedLevelsMissingTextsAndBrokenLinksAreReported(t *testing.T) {
	t.Parallel()

	const dot = "(" + dotURI + ")"
	for name, c := range map[string]struct {
		content string
		want    fault.WarningCode
		line    int // of the only warning
	}{
		"a level is left out":           {"---\ntitle: T\n---\n# One\n\n### Three\n", fault.HeadingSkipped, 6},
		"levels go back up":             {"# One\n\n## Two\n\n### Three\n\n# One again\n\n## Two\n", "", 0},
		"an image without words":        {"# One\n\n![]" + dot + "\n", fault.AltMissing, 3},
		"an image with words":           {"# One\n\n![a dot]" + dot + "\n", "", 0},
		"a link to no heading":          {"# One\n\ntext\n[there](#nowhere)\n", fault.LinkBroken, 4},
		"a link to a heading":           {"# One\n\n[there](#one)\n", "", 0},
		"a link to a footnote and back": {"# One\n\ntext[^a]\n\n[^a]: note\n", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := document.Document{Content: []byte(c.content)}

			composed := compose(t, d)
			if c.want == "" {
				if len(composed.Warnings) > 0 {
					t.Errorf("got warnings %+v, want none", composed.Warnings)
				}

				return
			}

			if w := composed.Warnings; len(w) != 1 || w[0].Code != c.want || w[0].Line != c.line {
				t.Errorf("got warnings %+v, want %s in line %d", w, c.want, c.line)
			}

			d.Options.Strict = new(true)

			got, err := converter(t, document.Options{}).Compose(t.Context(), d)
			if fault.CodeOf(err) != fault.StrictFindings || len(got.Warnings) != 1 {
				t.Errorf("strict: got %v with warnings %+v, want %s and one warning", err, got.Warnings,
					fault.StrictFindings)
			}
		})
	}
}
