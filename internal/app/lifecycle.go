package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
)

// part is a part that the wiring starts and stops.
type part interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
}

// lifecycle stops the parts that it started, in reverse order: a part may use those that started before it. It is
// not safe for concurrent use.
type lifecycle struct {
	log *slog.Logger
	// started has the parts in the order of their start.
	started []namedStop
}

// namedStop stops a part. The name is for logs and errors.
type namedStop struct {
	name string
	stop func(context.Context) error
}

// start starts a part and remembers how to stop it.
func (l *lifecycle) start(ctx context.Context, name string, p part) error {
	if err := p.Start(ctx); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	l.onStop(name, p.Stop)

	return nil
}

// onStop adds a function that stop calls. name is for logs and errors.
func (l *lifecycle) onStop(name string, stop func(context.Context) error) {
	l.started = append(l.started, namedStop{name, stop})
}

// inBackground runs work until the stop, which ends the context of work and waits until work returns.
func (l *lifecycle) inBackground(name string, work func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())

	done := make(chan struct{})
	go func() {
		defer close(done)
		work(ctx)
	}()
	l.onStop(name, func(stopping context.Context) error {
		cancel()

		select {
		case <-done:
			return nil
		case <-stopping.Done():
			return context.Cause(stopping)
		}
	})
}

// stop drains every part, the last started first, and joins their errors.
func (l *lifecycle) stop(ctx context.Context) error {
	var errs []error

	for _, s := range slices.Backward(l.started) {
		l.log.DebugContext(ctx, "stopping", "part", s.name)

		if err := s.stop(ctx); err != nil {
			errs = append(errs, fmt.Errorf("stopping %s: %w", s.name, err))
		}
	}
	l.started = nil

	return errors.Join(errs...)
}
