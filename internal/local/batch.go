package local

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"golang.org/x/sync/errgroup"

	"presswork"
)

// Batch converts several inputs at a time and yields their results in the order of the inputs. Leaving the loop
// early ends running conversions.
func (c *Converter) Batch(ctx context.Context, inputs []Input) iter.Seq2[Output, error] {
	type result struct {
		out Output
		err error
	}

	inputs = c.linked(inputs)

	return func(yield func(Output, error) bool) {
		ctx, cancel := context.WithCancel(ctx)

		results := make([]chan result, len(inputs))
		for i := range results {
			results[i] = make(chan result, 1)
		}
		var work, start errgroup.Group
		work.SetLimit(c.workers(len(inputs)))
		start.Go(func() error {
			_ = c.adviseSeries(ctx, inputs) // ctx has ended: each conversion returns its cause

			for i, in := range inputs {
				work.Go(func() error {
					out, err := c.Convert(ctx, in)
					results[i] <- result{out, err}

					return nil
				})
			}

			return nil
		})

		defer func() {
			cancel()
			_ = start.Wait() // errors are in the results
			_ = work.Wait()
		}()

		for _, r := range results {
			if r := <-r; !yield(r.out, r.err) {
				return
			}
		}
	}
}

// linked returns the inputs with the pages that links between them lead to.
func (c *Converter) linked(inputs []Input) []Input {
	pages := map[string]string{}

	for _, in := range inputs {
		if cmp.Or(in.Format, c.o.Output) == presswork.HTML && in.Path != Std && in.Output != Std {
			pages[slashed(in.Path)] = in.Output
		}
	}
	inputs = slices.Clone(inputs)

	for i := range inputs {
		inputs[i].pages = pages
	}

	return inputs
}

// workers returns one more than the number of tabs: while all tabs print, the next document is composed.
func (c *Converter) workers(inputs int) int { return min(inputs, c.o.Jobs+1) }
