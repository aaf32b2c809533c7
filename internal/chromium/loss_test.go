package chromium

import (
	"context"
	"errors"
	"testing"
	"time"

	"presswork/internal/fault"
	"presswork/internal/guard"
	"presswork/internal/test/wait"
)

// The result is the same whether the supervisor or the print notices the browser's death first.
func TestLostBrowserIsReplacedAfterItsBackOff(t *testing.T) {
	t.Parallel()
	b := New(Options{Path: "/bin/false"})

	b.started = true
	defer b.Stop(t.Context())
	died := errors.New("the last browser died at once")
	b.mu.Lock()
	b.recordFailure(died)
	b.mu.Unlock()

	if _, err := b.current(t.Context()); !errors.Is(err, died) {
		t.Errorf("without a loss: error %v, want %v", err, died)
	}

	if _, err := b.currentAfterLoss(t.Context()); err == nil || errors.Is(err, died) {
		t.Errorf("after a loss: error %v, want one of another launch", err)
	}
}

func TestErrorOfTheGuardReplacesThatOfTheBrowser(t *testing.T) {
	t.Parallel()

	policy, err := guard.New(guard.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancelCause(t.Context())

	s, err := guard.NewProxy(policy, guard.ProxyOptions{}).Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	cause := fault.Errorf(fault.PageError, "the page loads more than 1 MiB")
	end(cause)

	v := &visit{guardSession: s, main: document{failure: "net::ERR_INCOMPLETE_CHUNKED_ENCODING"}}
	if err := v.pageError(); !errors.Is(err, cause) {
		t.Errorf("error %v, want %v", err, cause)
	}
}

// A missing browser is not the page's failure, so its job is retried.
func TestShortDeadlineDuringBackOffIsBrowserUnavailable(t *testing.T) {
	t.Parallel()
	b := New(Options{Path: "/bin/false"})

	b.started = true
	defer b.Stop(t.Context())
	b.mu.Lock()
	b.failures = 6 // the next launch is in ten seconds
	b.recordFailure(errors.New("the last browser died at once"))
	b.mu.Unlock()

	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond,
		fault.Errorf(fault.RenderTimeout, "the document took too long"))
	defer cancel()

	if _, err := b.currentAfterLoss(ctx); fault.CodeOf(err) != fault.BrowserUnavailable {
		t.Errorf("error %v, want browser_unavailable", err)
	}
}

// The browser takes a slot for a moment when it empties an idle tab.
func TestEmptyingATabIsNotCountedAsAPrint(t *testing.T) {
	t.Parallel()
	b := New(Options{Tabs: 1, QueueLimit: -1}) // no print may wait
	b.slots <- struct{}{}

	if s := b.Stats(); s.Busy != 0 || b.Idle() != 1 {
		t.Errorf("%d busy and %d idle tabs, want 0 and 1", s.Busy, b.Idle())
	}

	entered := make(chan error, 1)
	go func() { entered <- b.acquireSlot(t.Context()) }()
	wait.Until(t, "the print waits for the slot", func() bool { return b.Stats().Waiting == 1 || len(entered) == 1 })
	<-b.slots

	if err := wait.Receive(t, "the print has the slot", entered); err != nil {
		t.Errorf("error %v, want the print accepted", err)
	}

	if err := b.acquireSlot(t.Context()); fault.CodeOf(err) != fault.BrowserUnavailable {
		t.Errorf("a second print: error %v, want browser_unavailable", err)
	}
	b.releaseSlot()

	if s := b.Stats(); s.Busy != 0 || s.Waiting != 0 || b.Idle() != 1 {
		t.Errorf("stats after the print: %+v, want an idle tab", s)
	}
}
