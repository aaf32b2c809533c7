package main

import (
	"context"
	"errors"

	"presswork/internal/chromium"
)

// The exit statuses of the program.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNoBrowser   = 3
	exitInterrupted = 130
)

// usageError is a command line or a setting that cannot be used.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func exitStatus(err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, new(usageError)):
		return exitUsage
	case errors.Is(err, chromium.ErrNotFound):
		return exitNoBrowser
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	default:
		return exitFailed
	}
}
