package pdf

import (
	"context"

	"presswork"
)

// Inspect looks through a print as Converter.Print does.
func Inspect(ctx context.Context, d Composed, printed []byte) ([]presswork.Warning, error) {
	return d.preflight.inspect(ctx, d.Page.HTML, printed)
}
