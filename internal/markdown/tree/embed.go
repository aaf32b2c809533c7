package tree

import (
	"strconv"

	"github.com/yuin/goldmark/util"
)

// EmbedAttribute marks the element that a finished piece of HTML, one that the
// sanitiser would not let pass, is put in place of.
const EmbedAttribute = "data-embed"

// WriteEmbed writes an empty element whose place the piece of HTML of that number takes.
func WriteEmbed(w util.BufWriter, tag string, number int) {
	_, _ = w.WriteString("<" + tag + " " + EmbedAttribute + `="` + strconv.Itoa(number) + `"></` + tag + ">")
}
