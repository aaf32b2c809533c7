// Command presswork is the whole system in one binary. Each sub-command is a file of its own with its flags and its
// output; internal/app wires what the commands run.
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

	"presswork/internal/app"
	"presswork/internal/terminal"
)

// drainGrace is how long a stop may last beyond app.DrainLimit before the process exits. Containers are killed after a
// minute.
const drainGrace = 10 * time.Second

func main() {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	// The first signal drains. A second signal ends the process at once, and so does the end of the grace period.
	context.AfterFunc(ctx, func() {
		stop()
		time.AfterFunc(app.DrainLimit+drainGrace, func() {
			fmt.Fprintf(os.Stderr, "presswork: not done %s after the signal; ending all the same\n",
				app.DrainLimit+drainGrace)
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
	help := &checkedWriter{Writer: stdout}
	root.SetOut(help)
	root.SetArgs(args)

	err := root.ExecuteContext(ctx)
	if err == nil {
		err = help.failed
	}

	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		err = interrupted{}
	}

	if err != nil {
		fmt.Fprintf(terminal.Plain(stderr), "presswork: %v\n", err)
	}

	return exitStatus(err)
}

// checkedWriter remembers the first error of writing, which cobra drops when it prints help.
type checkedWriter struct {
	io.Writer
	failed error
}

func (w *checkedWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if w.failed == nil {
		w.failed = err
	}

	return n, err
}
