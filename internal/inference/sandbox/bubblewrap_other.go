//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

// bubblewrap is empty, because this system has no sandbox.
type bubblewrap struct{}

// findBubblewrap returns ErrUnavailable, because this system has no sandbox.
func findBubblewrap(context.Context, Options) (*bubblewrap, error) {
	return nil, fmt.Errorf("%w: it needs Linux on amd64 or arm64, and this is %s on %s; run a worker there",
		ErrUnavailable, runtime.GOOS, runtime.GOARCH)
}

func (w *bubblewrap) unavailable(err error) error { return fmt.Errorf("%w: %w", ErrUnavailable, err) }

// Grouped returns false: only Linux has control groups.
func (w *bubblewrap) Grouped() bool { return false }

// interpreter is never started on this system.
type interpreter struct{ fonts bool }

// The stubs below let the package build on systems without a sandbox.

func (p *Pool) startInterpreter(context.Context, []File) (*interpreter, error) {
	return nil, ErrUnavailable
}

func (p *Pool) listFonts(context.Context) {}

func (in *interpreter) run(context.Context, int, string, time.Duration, time.Duration) (answer, error) {
	return answer{}, ErrUnavailable
}

func machineMemory() int64 { return 0 }

func (in *interpreter) restoreLimits() {}

func (in *interpreter) limitIdle() int64 { return 0 }

func (in *interpreter) ended() <-chan struct{} { return nil }

func (in *interpreter) endAfter(time.Duration) {}

func (in *interpreter) stop() {}

// Run is never called, because Open fails on this system.
func (b *Box) Run(context.Context, Command) (Output, error) { return Output{}, ErrUnavailable }
