package tools_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"presswork/internal/inference"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/storage"
	"presswork/storage/retention"
	"presswork/tasks"
	"presswork/tasks/redisdial"
	"presswork/worker/tools"
)

// fakeInterpreter is a tool that returns its input and the number of the call. Some inputs have another effect: see Call.
type fakeInterpreter struct {
	files  []tools.File
	calls  int
	closed func()
	// hold delays the calls "hold 1" and "hold 2".
	hold func(code string)
}

// Call runs code that says how long it takes or how it fails.
func (n *fakeInterpreter) Call(ctx context.Context, c inference.BuiltinCall) (inference.ToolResult, error) {
	var arguments struct{ Code string }
	if err := json.Unmarshal([]byte(c.Arguments), &arguments); err != nil {
		return inference.ToolResult{}, err
	}
	n.calls++

	switch code := arguments.Code; code {
	case "hold 1", "hold 2":
		n.hold(code)
	case "wait":
		<-ctx.Done()
		return inference.ToolResult{}, context.Cause(ctx)
	case "break":
		return inference.ToolResult{}, errors.New("the interpreter has crashed")
	case "files":
		var names []string
		for _, f := range n.files {
			names = append(names, fmt.Sprintf("%s:%d", f.Name, len(f.Data)))
		}

		return inference.ToolResult{Output: strings.Join(names, " ")}, nil
	case "draw":
		png := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("p"), 1<<20))
		return inference.ToolResult{Output: "drawn", Code: slices.Repeat([]inference.CodeResult{{PNG: png}}, 8)}, nil
	case "huge":
		return inference.ToolResult{Output: strings.Repeat("x", 9<<20)}, nil
	}

	return inference.ToolResult{Output: fmt.Sprintf("%s %d", arguments.Code, n.calls)}, nil
}

func (n *fakeInterpreter) Close() error {
	n.closed()
	return nil
}

// toolHarness is a queue of tools and a toolbox that uses it.
type toolHarness struct {
	address string
	client  *tasks.Client
	disk    *storage.Disk
	box     *tools.Toolbox
	// ended receives one value for each interpreter that was closed.
	ended chan struct{}
}

func setupTools(t *testing.T, address string) *toolHarness {
	t.Helper()

	rdb, err := redisdial.Dial(address, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rdb.Close() })

	disk, err := storage.OpenDisk(storage.DiskOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}

	client, err := tasks.NewClient(address, tasks.Options{})
	if err == nil {
		err = client.Start(t.Context())
	}

	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Stop(context.Background()) })

	return &toolHarness{
		address: address,
		client:  client,
		disk:    disk,
		ended:   make(chan struct{}, 1000),
		box: tools.NewToolbox(
			tools.ToolboxOptions{
				Queue:  client,
				Store:  disk,
				Keeper: retention.New(retention.Options{Store: disk, Redis: rdb}),
			},
		),
	}
}

// serve starts a worker with a fakeInterpreter and waits until clients see its offer.
func (r *toolHarness) serve(t *testing.T, o tasks.Options, to tools.ServerOptions) *tasks.Server {
	t.Helper()
	server := startTools(t, r.address, o, to, r.disk, func() { r.ended <- struct{}{} })
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), wait.Patience)
		defer cancel()
		server.Stop(ctx)
	})
	wait.Until(t, "the worker has offered its tools", func() bool {
		offers, err := r.client.Offers(t.Context())
		return err == nil && offers.Workers > 0
	})

	return server
}

// startTools starts a worker of tools. closed is called when an interpreter is closed.
func startTools(
	t *testing.T,
	address string,
	o tasks.Options,
	to tools.ServerOptions,
	store storage.Store,
	closed func(),
) *tasks.Server {
	o.Queues, o.DrainTimeout = []tasks.Queue{tasks.Tools}, cmp.Or(o.DrainTimeout, time.Second)

	server, err := tasks.NewServer(address, o)
	if err != nil {
		t.Fatal(err)
	}

	to.Store = store
	if to.Tools == nil {
		to.Tools = []tools.Tool{
			{
				Type: inference.CodeInterpreter,
				Open: func(_ context.Context, files []tools.File) (tools.OpenTool, error) {
					return &fakeInterpreter{files: files, closed: closed}, nil
				},
			},
		}
	}
	handler := tools.NewServer(to)
	tasks.HandleTools(server, handler.Offer, handler.Serve)

	if err := server.Start(context.Background()); err != nil {
		t.Fatal(err)
	}

	return server
}

// open opens a session with the code interpreter.
func (r *toolHarness) open(t *testing.T, req *inference.Request) inference.ToolSession {
	t.Helper()

	s, err := r.box.Open(t.Context(), req, []string{inference.CodeInterpreter})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })

	return s
}

// pythonCall returns a call that runs this code.
func pythonCall(code string) inference.BuiltinCall {
	b, _ := json.Marshal(map[string]string{"code": code})
	return inference.BuiltinCall{Name: inference.PythonFunction, Arguments: string(b)}
}

// runPython runs code in a session and returns the result for the model.
func runPython(t *testing.T, s inference.ToolSession, code string) inference.ToolResult {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()

	result, err := s.Call(ctx, pythonCall(code))
	if err != nil {
		t.Fatalf("running %q: %v", code, err)
	}

	return result
}

func TestASessionKeepsItsStateAndEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	r := setupTools(t, redistest.Start(t))
	r.serve(t, tasks.Options{}, tools.ServerOptions{})

	a, b := r.open(t, &inference.Request{}), r.open(t, &inference.Request{})
	for _, want := range []string{"x 1", "x 2", "x 3"} {
		t.Run(want, func(t *testing.T) {
			if got := runPython(t, a, "x").Output; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}

	if got := runPython(t, b, "y").Output; got != "y 1" {
		t.Errorf("the second session: got %q, want y 1", got)
	}

	if err := errors.Join(a.Close(), a.Close()); err != nil {
		t.Error(err)
	}
	wait.Receive(t, "the interpreter is closed", r.ended)

	if got := runPython(t, b, "y").Output; got != "y 2" {
		t.Errorf("the second session, after the end of the first: got %q, want y 2", got)
	}

	if _, err := a.Call(t.Context(), pythonCall("x")); err == nil {
		t.Error("a call in a closed session succeeded")
	}
}

func TestARunningToolCallEndsWhenItsCallerLeaves(t *testing.T) {
	t.Parallel()
	r := setupTools(t, redistest.Start(t))
	r.serve(t, tasks.Options{}, tools.ServerOptions{})
	s := r.open(t, &inference.Request{})
	runPython(t, s, "x")
	leave := errors.New("the caller leaves")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)

	go func() {
		_, err := s.Call(ctx, pythonCall("wait"))
		done <- err
	}()
	cancel(leave)

	if err := <-done; !errors.Is(err, leave) {
		t.Errorf("got %v, want %v", err, leave)
	}
	s.Close()
	wait.Receive(t, "the interpreter is closed", r.ended)
}

func TestFilesOfARequestReachItsSession(t *testing.T) {
	t.Parallel()
	r := setupTools(t, redistest.Start(t))
	r.serve(t, tasks.Options{}, tools.ServerOptions{})

	image := func(size int) inference.Part {
		return inference.Part{
			Image: &inference.Image{
				URL: "data:image/png;base64," + base64.StdEncoding.EncodeToString(make([]byte, size)),
			},
		}
	}
	for _, size := range []int{10, 1 << 20} {
		s := r.open(t, &inference.Request{Messages: []inference.Message{{Role: inference.User, Parts: []inference.Part{
			image(size), {Text: "look"}, {Image: &inference.Image{URL: "https://example.com/a.png"}}, image(3),
		}}}})
		if got, want := runPython(t, s, "files").Output, fmt.Sprintf("image1.png:%d image2.png:3", size); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		s.Close()
	}

	for o, err := range r.disk.List(t.Context(), "") {
		t.Errorf("the store has %v (%v), want nothing", o, err)
	}
}

func TestOversizedToolInputIsRefused(t *testing.T) {
	t.Parallel()
	r := setupTools(t, redistest.Start(t))
	r.serve(t, tasks.Options{}, tools.ServerOptions{})

	s := r.open(t, &inference.Request{})

	got := runPython(t, s, strings.Repeat("x", 256<<10))
	if !got.Failed || !strings.Contains(got.Output, "allowed are 262144") {
		t.Errorf("got %.80q, want the limit of the input", got.Output)
	}

	got = runPython(t, s, "draw")
	if len(got.Code) != 4 || got.Output != "drawn\n[4 results are left out: they are too large]" {
		t.Errorf("got %d pictures and %.80q, want 4 and a note", len(got.Code), got.Output)
	}

	if got := runPython(t, s, "huge"); !got.Failed || !strings.Contains(got.Output, "allowed are 8388608") {
		t.Errorf("got %.80q, want the limit of the output", got.Output)
	}

	if got := runPython(t, s, "x").Output; got != "x 3" {
		t.Errorf("after the rejected calls: got %q, want x 3", got)
	}
}

func TestABrokenSessionReturnsItsReason(t *testing.T) {
	t.Parallel()
	r := setupTools(t, redistest.Start(t))
	r.serve(t, tasks.Options{}, tools.ServerOptions{})
	broken := r.open(t, &inference.Request{})
	runPython(t, broken, "x")

	_, err := broken.Call(t.Context(), pythonCall("break"))
	if err == nil || !strings.Contains(err.Error(), "stopped unexpectedly") {
		t.Errorf("got %v, want that the tool stopped unexpectedly", err)
	}
	wait.Receive(t, "the interpreter is closed", r.ended)

	r = setupTools(t, redistest.Start(t))
	r.serve(t, tasks.Options{}, tools.ServerOptions{Idle: time.Second})
	var idle inference.ToolSession
	wait.Until(t, "a first call arrives before the session is idle for a second", func() bool {
		idle = r.open(t, &inference.Request{})
		_, err := idle.Call(t.Context(), pythonCall("x"))

		return err == nil
	})
	wait.Receive(t, "the interpreter is closed", r.ended)

	_, err = idle.Call(t.Context(), pythonCall("x"))
	if err == nil || !strings.Contains(err.Error(), "the session was idle for too long") {
		t.Errorf("got %v, want that the session was idle", err)
	}
}

func TestUnavailableToolsAreRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	r := setupTools(t, redistest.Start(t))

	// refusal returns the message of the error.
	refusal := func(types ...string) string {
		_, err := r.box.Open(t.Context(), &inference.Request{}, types)

		e := inference.AsError(err)
		if e == nil || e.Status != 400 || e.Code != inference.ToolUnavailable {
			t.Fatalf("got %v, want status 400 with %s", err, inference.ToolUnavailable)
		}

		return e.Message
	}
	if got := refusal(inference.CodeInterpreter); !strings.Contains(got, "no worker with tools is running") {
		t.Errorf("got %q, want that no worker is running", got)
	}

	s := r.serve(t, tasks.Options{}, tools.ServerOptions{
		Tools: []tools.Tool{{Type: inference.CodeInterpreter, Unavailable: "the kernel forbids it"}},
	})
	if got := refusal(inference.CodeInterpreter); !strings.Contains(got, "the kernel forbids it") {
		t.Errorf("got %q, want the reason of the worker", got)
	}

	if got := refusal(inference.BrowserSearch); !strings.Contains(got, "no worker has it") {
		t.Errorf("got %q, want that no worker has the tool", got)
	}
	r.serve(t, tasks.Options{}, tools.ServerOptions{})
	wait.Until(t, "one of two workers has it", func() bool {
		_, err := r.box.Open(t.Context(), &inference.Request{}, []string{inference.CodeInterpreter})
		return err == nil
	})

	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}

	if offers, err := r.client.Offers(t.Context()); err != nil || offers.Workers != 1 {
		t.Errorf("got offers %+v, %v; want one worker after the other has stopped", offers, err)
	}
}
