package local

import (
	"context"
	"iter"

	"golang.org/x/sync/errgroup"
)

// Batch converts several inputs at a time and yields their results in the order of the inputs. Leaving the loop
// early ends running conversions.
func (c *Converter) Batch(ctx context.Context, inputs []Input) iter.Seq2[Output, error] {
	type result struct {
		out Output
		err error
	}

	return func(yield func(Output, error) bool) {
		ctx, cancel := context.WithCancel(ctx)

		results := make([]chan result, len(inputs))
		for i := range results {
			results[i] = make(chan result, 1)
		}
		var work, start errgroup.Group
		work.SetLimit(c.workers(len(inputs)))
		start.Go(func() error {
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

// workers returns one more than the number of tabs: while all tabs print, the next document is composed.
func (c *Converter) workers(inputs int) int { return min(inputs, c.o.Jobs+1) }
