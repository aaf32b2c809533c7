// Package docs embeds the pages of the manual, which the API serves at /docs.
package docs

import "embed"

// Pages has the pages in Markdown by their paths in this folder, such as rest.md. It has no pictures and nothing of
// lab and adr.
//
//go:embed *.md tutorials/*.md
var Pages embed.FS
