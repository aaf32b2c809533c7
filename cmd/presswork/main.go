// Command presswork is the whole system in one binary; each role is a
// sub-command in a file of its own. This package wires and decides nothing else.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal drains; a second one then ends the process at once, and so
	// does time, whatever hangs.
	context.AfterFunc(ctx, func() {
		stop()
		time.AfterFunc(drainLimit+drainGrace, func() {
			fmt.Fprintf(os.Stderr, "presswork: not done %s after the signal; ending all the same\n", drainLimit+drainGrace)
			os.Exit(exitFailed)
		})
	})
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the program without the process around it.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	root := newRootCommand(&program{getenv: getenv, stdout: stdout, stderr: stderr})
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		err = interrupted{}
	}
	if err != nil {
		fmt.Fprintf(plainText{stderr}, "presswork: %v\n", err)
	}
	return exitStatus(err)
}
