package mcp

import (
	"context"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// prompt is a request that a user can choose in the client. argument is the name of its only argument, and what
// describes it. text has %s for the value of the argument.
type prompt struct{ name, title, description, argument, what, text string }

// prompts lists the prompts. Each takes one argument.
func prompts() []prompt {
	return []prompt{
		{
			"report", "Turn this into a report", "Write a report from notes or from this conversation, and print it.",
			"notes", "the notes; without them the conversation is the source",
			"Turn the following into a report: %s\n\n" +
				"Write Markdown with front matter (title, author if known, date), a summary first, then sections with " +
				"headings that do not skip a level, tables where numbers are compared, and captions below figures. Invent no " +
				"facts.\nThen call convert_markdown with theme \"auto\" and the options toc and cover if it has more than four " +
				"pages. Look at the pages with preview_page, fix what check_document finds, and tell me where the file is.",
		},
		{
			"slides", "Turn this into slides", "Write slides from notes or from this conversation, and print them.",
			"notes", "the notes; without them the conversation is the source",
			"Turn the following into slides: %s\n\n" +
				"Write Markdown with a slide between two rules (---), a heading and at most six short lines on each, and " +
				"speaker notes as comments. Then call convert_markdown with the option as \"slides\" and theme \"auto\", look " +
				"at the slides with preview_page, and split the ones that overflow.",
		},
		{
			"polish", "Check and polish a document", "Check a Markdown document and repair its findings.",
			"document", "the text or the path of the document",
			"Check this document with check_document: %s\n\n" +
				"Repair each finding in the Markdown without changing what the text says: alternative texts, heading " +
				"levels, broken links, lines that are too long. Check again until nothing is found, and " +
				"show me what you have changed.",
		},
	}
}

// addPrompts offers the prompts to clients.
func (s *Server) addPrompts() {
	for _, p := range prompts() {
		s.sdk.AddPrompt(
			&sdk.Prompt{
				Name: p.name, Title: p.title, Description: p.description,
				Arguments: []*sdk.PromptArgument{{Name: p.argument, Description: p.what}},
			},
			func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
				given := req.Params.Arguments[p.argument]
				if given == "" {
					given = "what we have discussed so far."
				}

				return &sdk.GetPromptResult{Description: p.description, Messages: []*sdk.PromptMessage{{
					Role: "user", Content: &sdk.TextContent{Text: fmt.Sprintf(p.text, given)},
				}}}, nil
			},
		)
	}
}
