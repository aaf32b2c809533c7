package toolserver

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"presswork/internal/imagetype"
	"presswork/internal/inference"
)

// resultOf returns what the model reads of a result. Content other than text and images becomes a line about it.
func resultOf(r *sdk.CallToolResult) inference.ToolResult {
	result := inference.ToolResult{Failed: r.IsError}
	var texts []string

	for _, c := range r.Content {
		switch c := c.(type) {
		case *sdk.TextContent:
			texts = append(texts, plain(c.Text))
		case *sdk.ImageContent:
			uri, note := imageOf(c)
			texts = append(texts, note)

			if uri != "" {
				result.Images = append(result.Images, uri)
			}
		case *sdk.AudioContent:
			texts = append(texts, fmt.Sprintf("[sound of %d bytes, which cannot be played]", len(c.Data)))
		case *sdk.ResourceLink:
			texts = append(texts, plain(fmt.Sprintf("[link to %s: %s]", c.Name, c.URI)))
		case *sdk.EmbeddedResource:
			texts = append(texts, resourceText(c.Resource))
		}
	}

	// A server repeats structured content as text for clients that do not read it.
	if len(texts) == 0 && r.StructuredContent != nil {
		b, _ := json.Marshal(r.StructuredContent) // it was decoded from JSON
		texts = append(texts, plain(string(b)))
	}
	result.Output = strings.Join(texts, "\n")

	return result
}

// imageOf returns an image as a data URI, "" if models do not accept it, and a line about it.
func imageOf(c *sdk.ImageContent) (uri, note string) {
	if err := inference.CheckImage(c.Data); err != nil {
		return "", fmt.Sprintf("[image that cannot be shown: %s]", err.Message)
	}
	info, _ := imagetype.Inspect(c.Data) // CheckImage has read it; the server's own type may be wrong

	return "data:" + info.ContentType + ";base64," + base64.StdEncoding.EncodeToString(c.Data),
		fmt.Sprintf("[image of %d bytes]", len(c.Data))
}

// resourceText returns the text of a resource, or a line about it.
func resourceText(r *sdk.ResourceContents) string {
	switch {
	case r == nil:
		return ""
	case r.Text != "":
		return plain(r.Text)
	}

	return plain(fmt.Sprintf("[%s of %d bytes: %s]", r.MIMEType, len(r.Blob), r.URI))
}

// plain returns a text of a server without control characters other than line breaks and tabs.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}

		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
