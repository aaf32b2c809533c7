package main

import (
	"context"
	"errors"

	"presswork/internal/app"
	"presswork/internal/client"
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
	case errors.As(err, new(usageError)), errors.As(err, new(app.UsageError)), errors.As(err, new(client.UsageError)):
		return exitUsage
	case app.NoBrowser(err):
		return exitNoBrowser
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	default:
		return exitFailed
	}
}
