package document

import (
	"fmt"
	"math"

	"presswork/internal/markdown/block"
)

// coverTitleWidth is the length of title, in letters, that a cover of A4 holds
// in the theme's full size, above the picture.
const coverTitleWidth = 72

// coverStyle sets what the cover of a theme, drawn for A4 and a title of some
// words, is to be multiplied by: --cover-scale for its sheet, --cover-fit for
// the title on it. A document's scale leaves its cover alone.
func coverStyle(s sheet, title, subject string) string {
	scale := min(max(min(s.width, s.height)/210, 0.4), 2) / s.scale
	fit := 1.0
	// Lines of the subject, in small type, take space from the title.
	if n := block.Letters(title) + block.Letters(subject)/4; n > coverTitleWidth {
		fit = max(math.Sqrt(coverTitleWidth/float64(n)), 0.4)
	}

	return fmt.Sprintf("--cover-scale:%.2f;--cover-fit:%.2f", scale, scale*fit)
}

// coverClass is that of a wide sheet's cover, where text and picture lie side by side,
// from the upright ones that covers are drawn for. Without a picture, the text
// has any cover to itself.
func coverClass(s sheet, inkSaver bool) string {
	if s.width > s.height*1.2 && !inkSaver {
		return "cover cover-wide"
	}

	return "cover"
}
