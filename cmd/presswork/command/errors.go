package command

import (
	"context"

	"presswork/internal/local"
	"presswork/internal/terminal"
)

// UsageError marks an invalid command line or setting. The program exits with status 2.
type UsageError struct{ error }

// Unwrap returns the error that is marked.
func (e UsageError) Unwrap() error { return e.error }

// Usage returns err as a UsageError.
func Usage(err error) error { return UsageError{err} }

// Interrupted is the error after a signal.
type Interrupted struct{}

// Error implements error.
func (Interrupted) Error() string { return "interrupted" }

// Unwrap makes the error one of a cancelled context.
func (Interrupted) Unwrap() error { return context.Canceled }

// fileError is the error of one input, with a message for the user.
type fileError struct {
	input string
	err   error
}

func (e fileError) Error() string {
	return terminal.Printable(e.input + ": " + local.Message(e.err))
}

func (e fileError) Unwrap() error { return e.err }

// InFile returns an error that names an input before the message of err.
func InFile(input string, err error) error { return fileError{input, err} }
