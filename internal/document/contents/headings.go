package contents

import (
	"html"
	"strings"

	"presswork/internal/markdown"
	"presswork/internal/markdown/block"
)

// headingsByID are the blocks of headings.
func headingsByID(blocks []block.Block) map[string]*block.Block {
	headings := map[string]*block.Block{}
	block.Walk(blocks, func(b *block.Block) {
		if b.Kind == block.Heading && b.Closed && b.ID != "" {
			headings[b.ID] = b
		}
	})

	return headings
}

// entryText is a heading's text in the table of contents: what stands in it, without
// its number; its plain text if that is not to be found.
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
