package tree

import (
	"strconv"

	"github.com/yuin/goldmark/util"
)

const (
	// EmbedAttribute marks an empty element that package finish replaces after sanitising. Its value is the number
	// that Embeds.Add returned.
	EmbedAttribute = "data-embed"
	// LineAttribute carries the source line of an image or a block to the finished HTML.
	LineAttribute = "data-line"
)

// Embeds holds finished pieces of HTML, such as formulas and diagrams, that the sanitiser would reject. Their makers
// must have made them safe. The zero value is ready for use.
type Embeds struct{ pieces []string }

// Add keeps a piece and returns its number, from 1. The piece is a start tag and the content of its element, without
// the end tag: that of the replaced element stays.
func (e *Embeds) Add(html string) int {
	e.pieces = append(e.pieces, html)

	return len(e.pieces)
}

// Take returns the piece of a number and removes it. It returns false for a number whose piece was taken, and for one
// that Add did not return: raw HTML may contain any number.
func (e *Embeds) Take(number string) (html string, ok bool) {
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(e.pieces) || e.pieces[n-1] == "" {
		return "", false
	}
	html, e.pieces[n-1] = e.pieces[n-1], ""

	return html, true
}

// WriteEmbed writes the empty element that the piece of a number replaces.
func WriteEmbed(w util.BufWriter, tag string, number int) {
	_, _ = w.WriteString("<" + tag + " " + EmbedAttribute + `="` + strconv.Itoa(number) + `"></` + tag + ">")
}
