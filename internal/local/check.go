package local

import (
	"context"
	"time"

	"presswork/internal/document"
	"presswork/internal/fault"
)

// Check composes a document without printing it. Output has its warnings. Diagrams need a browser, nothing else does.
// Errors: those of Convert for an input.
func (c *Converter) Check(ctx context.Context, in Input) (Output, error) {
	begun := time.Now()
	out := Output{Input: in.Path, Warnings: []fault.Warning{}, Sources: Snapshot{}}

	ctx, cancel := context.WithTimeoutCause(ctx, c.o.Timeout,
		fault.Errorf(fault.RenderTimeout, "the check took longer than %s", c.o.Timeout))
	defer cancel()

	doc, closeFiles, err := c.document(ctx, in, out.Sources)
	defer closeFiles()

	if err == nil {
		err = c.chooseTheme(ctx, &doc, in, &out)
	}

	if err == nil {
		// Warnings are the findings here. With Strict, the first one would be an error.
		doc.Options.Strict = new(false)

		var composed document.Composed
		composed, err = c.engine.Compose(ctx, doc)
		out.Theme = composed.Theme
		out.Warnings = append(out.Warnings, composed.Warnings...)
	}
	out.Elapsed = time.Since(begun)

	return out, err
}
