// Package cover writes the cover page of a document.
package cover

import (
	"fmt"
	"math"

	"presswork/internal/document/markup"
	"presswork/internal/document/sheet"
	"presswork/internal/markdown/block"
)

// titleLetters is the number of letters of a title that fit above the picture of an A4 cover, in the full size of the
// theme.
const titleLetters = 72

// Cover is the text of a cover. Empty fields are left out.
type Cover struct {
	Title, Subject, Author, Date string
}

// Write writes a cover on a sheet. Its title is not a heading, because outline and structure
// would list it next to the document's own headings. With plain, it has no picture.
func Write(w *markup.Writer, s sheet.Sheet, plain bool, c Cover) {
	w.Open("section", "class", Class(s, plain), "style", Style(s, c.Title, c.Subject))
	w.Raw("\n<div class=\"cover-head\">\n")
	w.Line("p", c.Title, "class", "cover-title").Line("p", c.Subject, "class", "cover-subject")
	WriteFoot(w, c.Author, c.Date)
}

// WriteFoot closes the cover-head element and writes the rest of a cover.
func WriteFoot(w *markup.Writer, author, date string) {
	w.Raw("</div>\n<div class=\"cover-foot\">\n")
	w.Line("p", author, "class", "cover-author").Line("p", date, "class", "cover-date")
	w.Raw("</div>\n</section>\n")
}

// Style returns the properties that fit a cover to its sheet (--cover-scale) and to the length of its texts
// (--cover-fit). Themes draw covers for A4 and a short title. The scale of the document does not change its cover.
func Style(s sheet.Sheet, title, subject string) string {
	scale := min(max(min(s.Width, s.Height)/210, 0.4), 2) / s.Scale
	fit := 1.0
	// The subject is in small type: four of its letters take the space of one of the title.
	if n := block.Letters(title) + block.Letters(subject)/4; n > titleLetters {
		fit = max(math.Sqrt(titleLetters/float64(n)), 0.4)
	}

	return fmt.Sprintf("--cover-scale:%.2f;--cover-fit:%.2f", scale, scale*fit)
}

// Class returns the classes of a cover. On a wide sheet, text and picture stand side by side;
// without a picture (plain), the text has the whole cover.
func Class(s sheet.Sheet, plain bool) string {
	if s.Width > s.Height*1.2 && !plain {
		return "cover cover-wide"
	}

	return "cover"
}
