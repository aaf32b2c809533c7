package gateway_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/gateway"
)

// engine is a fake upstream: run answers, or says hello.
type engine struct {
	traits inference.Traits
	calls  atomic.Int32
	run    func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error
}

func (e *engine) Complete(
	ctx context.Context,
	r *inference.Request,
	_ *inference.Model,
	emit func(*inference.Delta) error,
) error {
	e.calls.Add(1)

	if e.run == nil {
		return hello(ctx, r, emit)
	}

	return e.run(ctx, r, emit)
}

func (e *engine) Models(context.Context) ([]string, error) { return []string{"m"}, nil }
func (e *engine) Traits() inference.Traits                 { return e.traits }

func hello(_ context.Context, _ *inference.Request, emit func(*inference.Delta) error) error {
	return errors.Join(
		emit(&inference.Delta{Content: "Hello"}),
		emit(&inference.Delta{Finish: "stop", Usage: &inference.RawUsage{PromptTokens: 3, CompletionTokens: 1}}),
	)
}

func fails(status int) func(context.Context, *inference.Request, func(*inference.Delta) error) error {
	return func(context.Context, *inference.Request, func(*inference.Delta) error) error {
		return inference.Errorf(status, inference.UpstreamError, "failed")
	}
}

// setup makes a gateway for model m on the upstreams named; change may edit
// the model.
func setup(engines map[string]*engine, change func(*inference.Model)) *gateway.Gateway {
	m := inference.Model{ID: "m", Capabilities: []string{inference.CanChat, inference.CanTools, inference.CanVision}}
	for _, name := range slices.Sorted(maps.Keys(engines)) {
		m.Upstreams = append(m.Upstreams, inference.Upstream{Name: name, BaseURL: "http://" + name})
	}

	if change != nil {
		change(&m)
	}
	c := inference.NewCatalogue([]inference.Model{m})

	return gateway.New(gateway.Options{
		Catalogue: func() *inference.Catalogue { return c },
		Open:      func(u inference.Upstream) (inference.Engine, error) { return engines[u.Name], nil },
	})
}

func request() *inference.Request {
	return &inference.Request{
		Model:    "m",
		Messages: []inference.Message{{Role: inference.User, Parts: []inference.Part{{Text: "Hi"}}}},
	}
}

func run(ctx context.Context, g *gateway.Gateway) (inference.Result, *inference.Error) {
	result, err := g.Complete(ctx, request(), func(*inference.Chunk) error { return nil })
	return result, inference.AsError(err)
}

func TestAFailingUpstreamIsPassedOverUntilItHasCooled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bad, good := &engine{run: fails(503)}, &engine{}
		g := setup(
			map[string]*engine{"bad": bad, "good": good},
			func(m *inference.Model) { m.Upstreams[1].Priority = 1 },
		)

		result, err := run(t.Context(), g)
		if err != nil || result.Upstream != "good" || result.Attempts != 2 {
			t.Fatalf("%+v, %v", result, err)
		}

		if s := g.Explain(
			&inference.Model{
				Upstreams: []inference.Upstream{{Name: "bad", BaseURL: "http://bad", Model: "m", Weight: 1}},
			},
		); s[0].LastError != "failed" ||
			s[0].CoolingUntil.IsZero() {
			t.Errorf("explained as %+v", s[0])
		}

		if result, err = run(t.Context(), g); err != nil || bad.calls.Load() != 1 {
			t.Errorf("asked again while it cools: %v", err)
		}
		time.Sleep(31 * time.Second)

		bad.run = nil
		if result, err = run(t.Context(), g); err != nil || result.Upstream != "bad" {
			t.Errorf("not asked once it has cooled: %+v, %v", result, err)
		}
	})
}

func TestARetryGoesElsewhereEvenWithoutACooldown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := setup(map[string]*engine{"bad": {run: fails(503)}, "good": {}}, func(m *inference.Model) {
			m.Upstreams[1].Priority, m.Routing.Cooldown = 1, 1
		})
		for range 3 {
			if result, err := run(t.Context(), g); err != nil || result.Upstream != "good" || result.Attempts != 2 {
				t.Errorf("%+v, %v", result, err)
			}
			time.Sleep(time.Second)
		}
	})
}

func TestOneUpstreamIsAskedAgainAndNeverShutOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		only := &engine{run: fails(502)}

		g := setup(map[string]*engine{"only": only}, nil)
		if result, err := run(t.Context(), g); err == nil || result.Attempts != 2 || err.Status != 502 {
			t.Errorf("%+v, %v", result, err)
		}

		only.run = nil
		if _, err := run(t.Context(), g); err != nil {
			t.Errorf("cooling, and the only one: %v", err)
		}
	})
}

func TestWhatIsNotTheUpstreamsFaultIsNotTriedAgain(t *testing.T) {
	t.Parallel()

	for name, bad := range map[string]*engine{
		"the request": {run: fails(400)},
		"after the first token": {run: func(_ context.Context, _ *inference.Request, emit func(*inference.Delta) error) error {
			return errors.Join(emit(&inference.Delta{Content: "Hel"}), inference.Errorf(502, inference.UpstreamError, "cut"))
		}},
	} {
		g := setup(map[string]*engine{"a": bad, "b": bad}, nil)
		if result, err := run(t.Context(), g); err == nil || result.Attempts != 1 {
			t.Errorf("%s: %+v, %v", name, result, err)
		}
	}
	refused := inference.Errorf(503, inference.UpstreamError, "nobody listens")
	e := &engine{}
	g := setup(map[string]*engine{"a": e}, nil)

	_, err := g.Complete(t.Context(), request(), func(*inference.Chunk) error { return refused })
	if !errors.Is(err, refused) || e.calls.Load() != 1 {
		t.Errorf("got %v after %d calls", err, e.calls.Load())
	}

	if s := g.Explain(
		&inference.Model{Upstreams: []inference.Upstream{{Name: "a", BaseURL: "http://a", Model: "m", Weight: 1}}},
	); !s[0].CoolingUntil.IsZero() {
		t.Error("the upstream cools for what its caller did")
	}
}

func TestWeightsShareTheRequests(t *testing.T) {
	t.Parallel()
	a, b := &engine{}, &engine{}

	g := setup(map[string]*engine{"a": a, "b": b}, func(m *inference.Model) { m.Upstreams[0].Weight = 3 })
	for range 2000 {
		run(t.Context(), g)
	}

	if n := a.calls.Load(); n < 1350 || n > 1650 {
		t.Errorf("a got %d of 2000, want about 1500", n)
	}
}

func TestPlacesAreHandedOutInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var active, most atomic.Int32
		e := &engine{run: func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
			if n := active.Add(1); n > most.Load() {
				most.Store(n)
			}
			defer active.Add(-1)
			time.Sleep(time.Second)

			return hello(ctx, r, emit)
		}}
		g := setup(map[string]*engine{"a": e}, func(m *inference.Model) { m.Upstreams[0].MaxConcurrency = 2 })
		var mu sync.Mutex
		var order []int

		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				r := request()
				r.Accepted = time.Now()
				result, err := g.Complete(t.Context(), r, func(*inference.Chunk) error { return nil })
				mu.Lock()
				defer mu.Unlock()

				order = append(order, i/2)
				if err != nil || int(result.Usage.QueueTime+0.5) != i/2 {
					t.Errorf("request %d waited %v s: %v", i, result.Usage.QueueTime, err)
				}
			})
			synctest.Wait()
		}
		// One that gives up takes no place.
		ctx, cancel := context.WithCancel(t.Context())
		wg.Go(func() {
			if _, err := run(ctx, g); err == nil || err.Status != 499 {
				t.Errorf("left, but %v", err)
			}
		})
		synctest.Wait()
		cancel()
		wg.Wait()

		if most.Load() != 2 || !slices.IsSorted(order) {
			t.Errorf("%d at a time, in the order %v", most.Load(), order)
		}
	})
}

func TestOwnersTakeTurnsAtAFullUpstream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &engine{run: func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
			time.Sleep(time.Second)
			return hello(ctx, r, emit)
		}}
		g := setup(map[string]*engine{"a": e}, func(m *inference.Model) { m.Upstreams[0].MaxConcurrency = 1 })
		var mu sync.Mutex
		var order []string

		var wg sync.WaitGroup
		for _, who := range []string{"a", "a", "a", "a", "b", "b", "c", "flex", "urgent"} {
			wg.Go(func() {
				r := request()

				r.Owner, r.ServiceTier = who, map[string]string{"flex": "flex", "urgent": "performance"}[who]
				if _, err := g.Complete(t.Context(), r, func(*inference.Chunk) error { return nil }); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				order = append(order, who)
			})
			synctest.Wait()
		}
		wg.Wait()
		// The first has its place before anybody waits.
		if got := strings.Join(order, " "); got != "a urgent a b c a b a flex" {
			t.Errorf("served in the order %s", got)
		}
	})
}

func TestSilenceEnds(t *testing.T) {
	t.Parallel()
	silent := func(before ...*inference.Delta) *engine {
		return &engine{run: func(ctx context.Context, _ *inference.Request, emit func(*inference.Delta) error) error {
			for _, d := range before {
				if err := emit(d); err != nil {
					return err
				}
			}
			<-ctx.Done()

			return context.Cause(ctx)
		}}
	}

	slow := &engine{run: func(ctx context.Context, _ *inference.Request, emit func(*inference.Delta) error) error {
		for ctx.Err() == nil {
			emit(&inference.Delta{Content: "x"})
			time.Sleep(time.Second)
		}

		return context.Cause(ctx)
	}}
	for name, test := range map[string]struct {
		engine *engine
		status int
		after  time.Duration
		says   string
	}{
		"never begins":   {silent(), 504, 5 * time.Second, "did not begin"},
		"only its role":  {silent(&inference.Delta{}), 504, 5 * time.Second, "did not begin"},
		"falls silent":   {silent(&inference.Delta{Content: "Hel"}), 502, 3 * time.Second, "fell silent"},
		"never finishes": {slow, 504, 20 * time.Second, "did not finish"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := setup(map[string]*engine{"a": test.engine}, func(m *inference.Model) {
					m.Routing = inference.Routing{
						FirstTokenTimeout: 5 * time.Second,
						IdleTimeout:       3 * time.Second,
						Timeout:           20 * time.Second,
						Retries:           new(0),
					}
				})
				begun := time.Now()

				_, err := run(t.Context(), g)
				if took := time.Since(
					begun,
				); err == nil || err.Status != test.status || err.Code != inference.UpstreamTimeout || !strings.Contains(err.Message, test.says) || took < test.after ||
					took > test.after+time.Second {
					t.Errorf("after %s: %v", took, err)
				}
			})
		})
	}
}

func TestLeavingStopsTheUpstreamAndKeepsTheCount(t *testing.T) {
	t.Parallel()
	stopped := make(chan struct{})
	e := &engine{run: func(ctx context.Context, _ *inference.Request, emit func(*inference.Delta) error) error {
		for range 10 {
			if err := emit(&inference.Delta{Content: "word "}); err != nil {
				return err
			}
		}
		<-ctx.Done()
		close(stopped)

		return context.Cause(ctx)
	}}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	result, err := setup(map[string]*engine{"a": e}, nil).Complete(ctx, request(), func(*inference.Chunk) error {
		if n++; n == 11 {
			cancel()
		}

		return nil
	})
	<-stopped

	if e := inference.AsError(err); e == nil || e.Status != 499 || e.Code != inference.RequestCancelled {
		t.Errorf("got %v", err)
	}

	if u := result.Usage; u.CompletionTokens != 10 || u.PromptTokens == 0 || u.EstimatedTokens != u.TotalTokens ||
		!result.Emitted {
		t.Errorf("usage %+v", result)
	}
}

func TestImagesAreFetchedForEnginesThatCannot(t *testing.T) {
	t.Parallel()

	const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"
	for name, test := range map[string]struct {
		traits  inference.Traits
		data    string
		failure error
		status  int
		sees    string
	}{
		"inlined":   {inference.Traits{}, png, nil, 0, "data:image/png;base64,"},
		"passed on": {inference.Traits{FetchesImages: true}, "", nil, 0, "https://example.org/a.png"},
		"refused":   {inference.Traits{}, "", fault.Errorf(fault.AddressNotAllowed, "the address is not allowed"), 400, ""},
		"too large": {inference.Traits{}, "", fault.Errorf(fault.ContentTooLarge, "the image is too large"), 413, ""},
		"no image":  {inference.Traits{}, "hello", nil, 400, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen string
			e := &engine{
				traits: test.traits,
				run: func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
					seen = r.Messages[0].Parts[1].Image.URL
					return hello(ctx, r, emit)
				},
			}
			c := inference.NewCatalogue(
				[]inference.Model{
					{
						ID:           "m",
						Capabilities: []string{inference.CanChat, inference.CanVision},
						Upstreams:    []inference.Upstream{{Name: "a", BaseURL: "http://a"}},
					},
				},
			)
			g := gateway.New(gateway.Options{
				Catalogue: func() *inference.Catalogue { return c },
				Open:      func(inference.Upstream) (inference.Engine, error) { return e, nil },
				FetchImage: func(context.Context, string) ([]byte, string, error) {
					return []byte(test.data), "image/png", test.failure
				},
			})
			r := request()
			r.Messages[0].Parts = append(
				r.Messages[0].Parts,
				inference.Part{Image: &inference.Image{URL: "https://example.org/a.png"}},
			)

			_, err := g.Complete(t.Context(), r, func(*inference.Chunk) error { return nil })
			if got := inference.AsError(
				err,
			); test.status == 0 && err != nil || test.status != 0 && (got == nil || got.Status != test.status) ||
				!strings.HasPrefix(seen, test.sees) {
				t.Errorf("the engine saw %.40q: %v", seen, err)
			}

			if r.Messages[0].Parts[1].Image.URL != "https://example.org/a.png" {
				t.Error("the request itself was changed")
			}
		})
	}
}
