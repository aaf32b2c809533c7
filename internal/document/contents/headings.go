package contents

import (
	"html"
	"strings"

	"presswork/internal/markdown"
	"presswork/internal/markdown/block"
)

// headingsByID returns the blocks of headings by their ids.
func headingsByID(blocks []block.Block) map[string]*block.Block {
	headings := map[string]*block.Block{}
	block.Walk(blocks, func(b *block.Block) {
		// A block that is not closed has only a part of its heading.
		if b.Kind == block.Heading && b.Closed && b.ID != "" {
			headings[b.ID] = b
		}
	})

	return headings
}

// entryText returns the HTML of a heading in the table of contents, without its number. If its block is not found or
// empty, it is the escaped plain text.
func entryText(h markdown.Heading, headings map[string]*block.Block) string {
	text := ""
	if b := headings[h.ID]; b != nil {
		text = b.Entry()
	}

	if h.Number != "" {
		text = strings.TrimPrefix(text, h.Number+"\u2002")
	}

	if strings.TrimSpace(text) == "" {
		return html.EscapeString(h.Text)
	}

	return text
}
