package worker_test

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
	"presswork/worker"
)

// TestASessionLivesThroughARestartOfRedis restarts Redis while one session does nothing,
// another runs a call that ends before Redis is back, and a third one that ends after.
func TestASessionLivesThroughARestartOfRedis(t *testing.T) {
	t.Parallel()
	redis := redistest.StartDurable(t)
	r := setupTools(t, redis.Address)
	held := make(chan struct{}, 2)
	goOn := map[string]chan struct{}{"hold 1": make(chan struct{}), "hold 2": make(chan struct{})}
	hold := func(code string) {
		held <- struct{}{}
		<-goOn[code]
	}
	r.serve(
		t,
		tasks.Options{},
		worker.ToolsOptions{
			Tools: []worker.Tool{
				{
					Type: inference.CodeInterpreter,
					Open: func(context.Context, []worker.ToolFile) (worker.OpenTool, error) {
						return &notebook{closed: func() { r.ended <- struct{}{} }, hold: hold}, nil
					},
				},
			},
		},
	)
	idle := r.open(t, &inference.Request{})
	run(t, idle, "x")
	var running sync.WaitGroup

	for code := range goOn {
		s := r.open(t, &inference.Request{})
		run(t, s, "x")
		running.Go(func() {
			defer s.Close()

			for i, code := range []string{code, "x"} {
				result, err := s.Call(t.Context(), python(code))
				if want := fmt.Sprint(code, " ", i+2); err != nil || result.Output != want {
					t.Errorf("got %q, %v, want %q", result.Output, err, want)
				}
			}
		})
	}

	for range goOn {
		wait.Receive(t, "a call runs", held)
	}
	redis.Kill()
	close(goOn["hold 1"])
	redis.Restart()

	if got := run(t, idle, "x").Output; got != "x 2" {
		t.Errorf("got %q", got)
	}
	close(goOn["hold 2"])
	running.Wait()
	idle.Close()

	for range 3 {
		wait.Receive(t, "its interpreter ends", r.ended)
	}
}

// toolChild makes the test binary a worker of tools on this Redis, or the caller of one.
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
	startTools(nil, address, tasks.Options{}, worker.ToolsOptions{}, storage.None{}, func() {})

	select {}
}

func runToolCaller(address string) {
	client, err := tasks.NewClient(address, tasks.Options{})
	if err == nil {
		err = client.Start(context.Background())
	}

	if err != nil {
		panic(err)
	}
	box := worker.NewToolbox(worker.ToolboxOptions{Queue: client, Store: storage.None{}})

	s, err := box.Open(context.Background(), &inference.Request{}, []string{inference.CodeInterpreter})
	if err == nil {
		_, err = s.Call(context.Background(), python("x"))
	}
	fmt.Println("called", err)

	select {}
}

func (r *toolRoom) child(t *testing.T, role string) *exec.Cmd {
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

// victim starts a worker in a process of its own and opens a session there.
func (r *toolRoom) victim(t *testing.T) (*exec.Cmd, inference.ToolSession) {
	t.Helper()

	worker := r.child(t, "worker")
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the child offers its tools", func() bool {
		offers, err := r.client.Offers(t.Context())
		return err == nil && offers.Workers == 1
	})
	s := r.open(t, &inference.Request{})
	run(t, s, "x")

	return worker, s
}

func TestTheSessionOfAKilledWorkerIsLostAndAnotherCanBeOpened(t *testing.T) {
	t.Parallel()
	r := setupTools(t, redistest.Start(t))

	victim, s := r.victim(t)
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.serve(t, tasks.Options{}, worker.ToolsOptions{})

	if result, err := s.Call(t.Context(), python("x")); err == nil {
		t.Errorf("a session continued after its worker was killed: %+v", result)
	}

	if got := run(t, r.open(t, &inference.Request{}), "x").Output; got != "x 1" {
		t.Errorf("a new session: %q", got)
	}
}

func TestTheSessionOfTheLastWorkerEndsWithIt(t *testing.T) {
	t.Parallel()
	r := setupTools(t, redistest.Start(t))

	victim, s := r.victim(t)
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}

	if _, err := s.Call(
		t.Context(),
		python("x"),
	); err == nil ||
		!strings.Contains(err.Error(), "the worker of this request is gone") {
		t.Errorf("got %v", err)
	}
}

func TestTheSessionOfAKilledCallerEnds(t *testing.T) {
	t.Parallel()
	r := setupTools(t, redistest.Start(t))
	r.serve(t, tasks.Options{}, worker.ToolsOptions{})
	victim := r.child(t, "caller")

	out, err := victim.StdoutPipe()
	if err == nil {
		err = victim.Start()
	}

	if err != nil {
		t.Fatal(err)
	}

	if said, err := bufio.NewReader(out).ReadString('\n'); said != "called <nil>\n" {
		t.Fatalf("the caller says %q, %v", said, err)
	}

	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	wait.Receive(t, "its interpreter ends", r.ended)
}
