package pdf

import (
	"context"

	"presswork"
	"presswork/internal/markdown"
	"presswork/internal/pdf/file"
)

// Inspect looks through a print as Converter.Print does.
func Inspect(ctx context.Context, d Composed, printed []byte) ([]presswork.Warning, error) {
	return d.preflight.inspect(ctx, d.Page.HTML, func() (*file.File, error) { return file.Read(printed) })
}

// Oversized is a document that must be divided, as if it had more parts than are
// printed at once.
func Oversized(d Composed) Composed {
	d.parts = markdown.MaxParts + 1
	return d
}

// Blocks are those that a document may be cut between.
func Blocks(body string) (blocks []string) {
	for _, b := range cutBlocks(body) {
		blocks = append(blocks, b.html)
	}
	return blocks
}
