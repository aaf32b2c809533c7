//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"context"
	"fmt"
	"runtime"
)

type wall struct{}

func findWall(context.Context, Options) (*wall, error) {
	return nil, fmt.Errorf("%w: it needs Linux on amd64 or arm64, and this is %s on %s; run a worker there", ErrUnavailable, runtime.GOOS, runtime.GOARCH)
}

func (w *wall) unavailable(err error) error { return fmt.Errorf("%w: %w", ErrUnavailable, err) }

// Run is never reached: no Box opens here.
func (b *Box) Run(context.Context, Command) (Output, error) { return Output{}, ErrUnavailable }
