package stream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/test/public"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/tasks/stream"
)

// Redis restarts and loses all calls. At that time one call sends frames, another sends none, and a third has sent all
// frames but its last.
func TestCallsSurviveARestartOfRedis(t *testing.T) {
	t.Parallel()
	redis := redistest.StartDurable(t)
	b := setupOn(t, redis.Address)
	words := map[string]chan string{
		`"sends"`:  make(chan string),
		`"silent"`: make(chan string),
		`"ends"`:   make(chan string),
	}
	begun := make(chan string, 9)
	b.serve(t, func(_ context.Context, run *stream.Run) error {
		begun <- run.ID

		for word := range words[string(run.Call.Body)] {
			if err := run.Send([]byte(word)); err != nil {
				return err
			}
		}

		return run.Finish([]byte("end"))
	})
	got := map[string]chan string{}
	received := make(chan string, 99)

	for name := range words {
		a := b.call(t, stream.Call{Body: []byte(name)})
		got[name] = make(chan string, 1)

		go func() {
			var all strings.Builder
			defer func() { got[name] <- all.String() }()

			for {
				frames, err := a.Next(t.Context())
				if err != nil {
					if !errors.Is(err, io.EOF) {
						t.Errorf("%s, after %q: %v", name, all.String(), err)
					}

					return
				}

				for _, f := range frames {
					all.Write(f)
					received <- string(f)
				}
			}
		}()
	}

	for range words { // a call without a run would be lost
		wait.Receive(t, "a run", begun)
	}

	for _, word := range []string{"a", "b"} {
		words[`"sends"`] <- word
		wait.Receive(t, "a frame", received)
	}
	words[`"ends"`] <- "x"
	wait.Receive(t, "a frame", received)
	redis.Kill()

	for n := range 1000 {
		words[`"sends"`] <- fmt.Sprint(n, " ")
	}
	close(words[`"ends"`])
	redis.Restart()
	words[`"sends"`] <- "c"
	close(words[`"sends"`])
	wait.Until(t, "the silent call is restored", func() bool {
		return wait.Receive(t, "a frame", received) == "c"
	})
	close(words[`"silent"`])
	var want strings.Builder
	want.WriteString("ab")

	for n := range 1000 {
		fmt.Fprint(&want, n, " ")
	}
	want.WriteString("cend")

	for name, want := range map[string]string{`"sends"`: want.String(), `"silent"`: "end", `"ends"`: "xend"} {
		t.Run(name, func(t *testing.T) {
			if answer := wait.Receive(t, name+" ends", got[name]); answer != want {
				t.Errorf("received %.60q… (%d bytes), want %.60q… (%d)", answer, len(answer), want, len(want))
			}
		})
	}

	wantAnswer(t, b.call(t, stream.Call{Body: []byte(`"ends"`)}), "end")
}

func TestALongOutageEndsCalls(t *testing.T) {
	t.Parallel()
	redis := redistest.StartDurable(t)
	b := setupOn(t, redis.Address)
	b.client.SetOutage(1)
	causes := make(chan error, 2)
	s := b.worker(t)
	s.SetOutage(1)
	b.start(t, s, 2, func(ctx context.Context, run *stream.Run) error {
		if err := run.Send([]byte("begun")); err != nil {
			return err
		}

		for string(run.Call.Body) == `"sends"` {
			if err := run.Send([]byte("more")); err != nil {
				break
			}
		}
		<-ctx.Done()
		causes <- context.Cause(ctx)

		return context.Cause(ctx)
	})

	answers := []*stream.Answer{
		b.call(t, stream.Call{Body: []byte(`"sends"`)}),
		b.call(t, stream.Call{Body: []byte(`"silent"`)}),
	}
	for _, a := range answers {
		wantBegunFrame(t, a)
	}
	redis.Kill()

	for range answers {
		err := wait.Receive(t, "the run ends", causes)
		if err == nil || !strings.Contains(err.Error(), "Redis did not answer for") {
			t.Errorf("the run ended with %v, want the outage", err)
		}
	}

	for _, a := range answers {
		var err error
		for err == nil {
			_, err = a.Next(t.Context())
		}
		wantCode(t, err, fault.QueueUnavailable)

		if !strings.Contains(err.Error(), "did not answer for") {
			t.Errorf("the caller got %v, want the outage", err)
		}
	}
	redis.Restart() // the server needs Redis to stop
}

func TestRestoredCallEndsWithItsWorker(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.call(t, stream.Call{})
	// A worker has restored the call after an outage and died.
	b.rdb.HSet(t.Context(), stream.CallKey(a.ID), "fence", "f", "run", 1, "alive", 1)
	_, err := a.Next(t.Context())
	wantCode(t, err, fault.QueueUnavailable)
}

// proxy forwards connections to Redis. While it hangs, it closes subscribed connections and answers no new ones.
type proxy struct {
	mu         sync.Mutex
	hangs      bool
	subscribed []net.Conn
	held       []net.Conn
}

// startProxy starts a proxy of Redis and returns its address.
func startProxy(t *testing.T, address string) (*proxy, string) {
	t.Helper()
	sock := filepath.Join(public.Dir(t), "s")

	l, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	p := &proxy{}

	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.mu.Lock()
			if p.hangs {
				p.held = append(p.held, c)
			} else {
				go p.serve(c, strings.TrimPrefix(address, "unix://"))
			}
			p.mu.Unlock()
		}
	}()

	return p, "unix://" + sock
}

// serve forwards a connection. Subscriptions may hang.
func (p *proxy) serve(c net.Conn, to string) {
	defer c.Close()

	up, err := net.Dial("unix", to)
	if err != nil {
		return
	}

	defer up.Close()
	go func() {
		io.Copy(c, up)
		c.Close()
	}()

	buf := make([]byte, 64<<10)
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}

		if strings.Contains(string(buf[:n]), "subscribe") {
			p.mu.Lock()
			p.subscribed = append(p.subscribed, c)
			p.mu.Unlock()
		}

		if _, err := up.Write(buf[:n]); err != nil {
			return
		}
	}
}

// setHanging lets subscriptions hang from now on, or work again.
func (p *proxy) setHanging(hangs bool) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.hangs = hangs
	for _, c := range append(p.subscribed, p.held...) {
		c.Close()
	}
	p.subscribed, p.held = nil, nil
}

func TestAHangingSubscriptionDelaysNoCall(t *testing.T) {
	t.Parallel()
	address := redistest.Start(t)
	p, through := startProxy(t, address)
	b := setupOn(t, through)
	direct := setupOn(t, address)
	direct.queue = b.queue
	direct.serve(t, echo)

	wantAnswer(t, b.call(t, stream.Call{Body: []byte("1")}), "1")
	// If a call waited for the subscription, each of these would take at least a second.
	p.setHanging(true)

	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()

	var answers []*stream.Answer
	for range 60 {
		answers = append(answers, b.call(t, stream.Call{Body: []byte("2")}))
		if ctx.Err() != nil {
			t.Fatalf("made %d calls in %s, want 60", len(answers), wait.Patience)
		}
	}
	p.setHanging(false)

	for _, a := range answers {
		wantAnswer(t, a, "2")
	}
}
