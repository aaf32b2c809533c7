package tools_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"presswork/internal/inference"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/storage"
	"presswork/tasks"
	"presswork/worker/tools"
)

// Redis restarts while one session is idle and two sessions run a call. One of the calls ends before Redis is back.
func TestASessionSurvivesARestartOfRedis(t *testing.T) {
	t.Parallel()
	redis := redistest.StartDurable(t)
	r := setupTools(t, redis.Address)
	started := make(chan struct{}, 2)
	proceed := map[string]chan struct{}{"hold 1": make(chan struct{}), "hold 2": make(chan struct{})}
	hold := func(code string) {
		started <- struct{}{}
		<-proceed[code]
	}
	r.serve(t, tasks.Options{}, tools.ServerOptions{
		Tools: []tools.Tool{
			{
				Type: inference.CodeInterpreter,
				Open: func(context.Context, []tools.File) (tools.OpenTool, error) {
					return &fakeInterpreter{closed: func() { r.ended <- struct{}{} }, hold: hold}, nil
				},
			},
		},
	})
	idle := r.open(t, &inference.Request{})
	runPython(t, idle, "x")
	var running sync.WaitGroup

	for code := range proceed {
		s := r.open(t, &inference.Request{})
		runPython(t, s, "x")
		running.Go(func() {
			defer s.Close()

			for i, code := range []string{code, "x"} {
				result, err := s.Call(t.Context(), pythonCall(code))
				if want := fmt.Sprint(code, " ", i+2); err != nil || result.Output != want {
					t.Errorf("got %q, %v, want %q", result.Output, err, want)
				}
			}
		})
	}

	for range proceed {
		wait.Receive(t, "a call runs", started)
	}
	redis.Kill()
	close(proceed["hold 1"])
	redis.Restart()

	if got := runPython(t, idle, "x").Output; got != "x 2" {
		t.Errorf("the idle session: got %q, want x 2", got)
	}
	close(proceed["hold 2"])
	running.Wait()
	idle.Close()

	for range 3 {
		wait.Receive(t, "the interpreter is closed", r.ended)
	}
}

// toolChild makes the test binary a worker of tools, or the caller of one. Its value is the address of Redis.
const toolChild = "PRESSWORK_WORKER_TEST_TOOLS"

func TestMain(m *testing.M) {
	switch address, role := os.Getenv(toolChild), os.Getenv(toolChild+"_ROLE"); {
	case address == "":
		os.Exit(m.Run())
	case role == "worker":
		runToolWorker(address)
	default:
		runToolCaller(address)
	}
}

func runToolWorker(address string) {
	startTools(nil, address, tasks.Options{}, tools.ServerOptions{}, storage.None{}, func() {})

	select {}
}

// runToolCaller is the process of a caller that the test kills.
func runToolCaller(address string) {
	client, err := tasks.NewClient(address, tasks.Options{})
	if err == nil {
		err = client.Start(context.Background())
	}

	if err != nil {
		panic(err)
	}
	box := tools.NewToolbox(tools.ToolboxOptions{Queue: client, Store: storage.None{}})

	s, err := box.Open(context.Background(), &inference.Request{}, []string{inference.CodeInterpreter})
	if err == nil {
		_, err = s.Call(context.Background(), pythonCall("x"))
	}
	fmt.Println("called", err)

	select {}
}

// command returns a command that runs the test binary as a worker or a caller.
func (r *toolHarness) command(t *testing.T, role string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), toolChild+"="+r.address, toolChild+"_ROLE="+role)
	cmd.Stderr = os.Stderr
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})

	return cmd
}

// startWorkerWithSession starts a worker in a process of its own and opens a session there.
func (r *toolHarness) startWorkerWithSession(t *testing.T) (*exec.Cmd, inference.ToolSession) {
	t.Helper()

	worker := r.command(t, "worker")
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the child offers its tools", func() bool {
		offers, err := r.client.Offers(t.Context())
		return err == nil && offers.Workers == 1
	})
	s := r.open(t, &inference.Request{})
	runPython(t, s, "x")

	return worker, s
}

func TestTheSessionOfAKilledWorkerIsLostAndAnotherCanBeOpened(t *testing.T) {
	t.Parallel()
	r := setupTools(t, redistest.Start(t))

	child, s := r.startWorkerWithSession(t)
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.serve(t, tasks.Options{}, tools.ServerOptions{})

	if result, err := s.Call(t.Context(), pythonCall("x")); err == nil {
		t.Errorf("a call after the worker was killed: got %+v, want an error", result)
	}

	if got := runPython(t, r.open(t, &inference.Request{}), "x").Output; got != "x 1" {
		t.Errorf("a new session: got %q, want x 1", got)
	}
}

func TestTheSessionOfTheLastWorkerEndsWithIt(t *testing.T) {
	t.Parallel()
	r := setupTools(t, redistest.Start(t))

	child, s := r.startWorkerWithSession(t)
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}

	_, err := s.Call(t.Context(), pythonCall("x"))
	if err == nil || !strings.Contains(err.Error(), "the worker of this request is gone") {
		t.Errorf("got %v, want that the worker is gone", err)
	}
}

func TestTheSessionOfAKilledCallerEnds(t *testing.T) {
	t.Parallel()
	r := setupTools(t, redistest.Start(t))
	r.serve(t, tasks.Options{}, tools.ServerOptions{})
	child := r.command(t, "caller")

	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}

	if err != nil {
		t.Fatal(err)
	}

	if line, err := bufio.NewReader(out).ReadString('\n'); line != "called <nil>\n" {
		t.Fatalf("the caller printed %q, %v; want a successful call", line, err)
	}

	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	wait.Receive(t, "the interpreter is closed", r.ended)
}
