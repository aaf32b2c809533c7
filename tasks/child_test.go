package tasks_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"presswork/tasks"
	"presswork/tasks/stream"
)

// childEnv makes the test binary a worker process. Its value is the address of Redis. The worker begins jobs and never
// ends them.
const childEnv = "PRESSWORK_TASKS_TEST_CHILD"

// runChild is the process of a worker that the tests kill. It prints the ids of its runs.
func runChild(address string) {
	s, err := tasks.NewServer(address, tasks.Options{})
	if err != nil {
		panic(err)
	}
	tasks.Handle(s, tasks.ConvertPDF, func(ctx context.Context, run *tasks.Run, _ tasks.Convert) error {
		fmt.Println(run.ID)

		select {}
	})
	tasks.HandleCalls(s, func(_ context.Context, run *stream.Run) error {
		fmt.Println(run.ID)

		if string(run.Call.Body) == `"send"` {
			_ = run.Send([]byte("begun"))
		}

		select {}
	})

	if err := s.Start(context.Background()); err != nil {
		panic(err)
	}

	select {}
}

// startChild starts a worker process. The returned channel receives the ids of the jobs that the process has begun.
func startChild(t *testing.T, address string) (*exec.Cmd, <-chan string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+address)
	cmd.Stderr = os.Stderr

	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	begun := make(chan string, 10)

	go func() {
		for {
			var id string
			if _, err := fmt.Fscanln(out, &id); err != nil {
				return
			}
			begun <- id
		}
	}()

	return cmd, begun
}
