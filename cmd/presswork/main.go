// Command presswork runs the API, the workers and the local tools from one binary. Each command has its flags and
// its output in one file. Package internal/app builds what the commands run.
//
// A call goes through these steps:
//  1. main turns signals into the end of a context: the first one drains, a second one ends the process.
//  2. run builds the tree of commands ([newRootCommand]) and executes the one that the arguments name.
//  3. The command reads its flags and the settings, runs, and returns an error or nil.
//  4. run prints the error, and exitStatus makes the exit status of it.
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

	"presswork/cmd/presswork/command"
	"presswork/internal/app"
	"presswork/internal/client"
	"presswork/internal/terminal"
)

// drainGrace is added to app.DrainLimit before the process exits, so that a part that hangs cannot keep it alive.
// Container runtimes kill a process after a minute.
const drainGrace = 10 * time.Second

func main() {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	// The first signal drains. A second signal ends the process at once, and so does the end of the grace period.
	context.AfterFunc(ctx, func() {
		stop()
		time.AfterFunc(app.DrainLimit+drainGrace, func() {
			fmt.Fprintf(os.Stderr, "presswork: still running %s after the signal; exiting\n",
				app.DrainLimit+drainGrace)
			os.Exit(exitFailed)
		})
	})
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run executes the command line and returns the exit status. Tests call it without a process.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	root := newRootCommand(&command.Program{Version: version(), Getenv: getenv, Stdout: stdout, Stderr: stderr})
	help := &checkedWriter{Writer: stdout}
	root.SetOut(help)
	root.SetArgs(args)

	err := root.ExecuteContext(ctx)
	if err == nil {
		err = help.failed
	}

	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		err = command.Interrupted{}
	}

	if err != nil {
		fmt.Fprintf(terminal.Plain(stderr), "presswork: %v\n", err)
	}

	return exitStatus(err)
}

// checkedWriter keeps the first write error: cobra drops errors when it prints help.
type checkedWriter struct {
	io.Writer
	failed error
}

// Write implements io.Writer. It keeps the first error.
func (w *checkedWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if w.failed == nil {
		w.failed = err
	}

	return n, err
}

// Exit statuses of the program.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNoBrowser   = 3
	exitInterrupted = 130
)

// exitStatus returns the exit status for an error of a command.
func exitStatus(err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, new(command.UsageError)),
		errors.As(err, new(app.UsageError)),
		errors.As(err, new(client.UsageError)):
		return exitUsage
	case app.NoBrowser(err):
		return exitNoBrowser
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	default:
		return exitFailed
	}
}
