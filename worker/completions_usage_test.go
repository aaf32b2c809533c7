package worker_test

import (
	"strings"
	"testing"

	"presswork/internal/inference"
	"presswork/internal/inference/gateway"
	"presswork/internal/inference/inferencetest"
	"presswork/internal/inference/openai"
	"presswork/internal/test/wait"
	"presswork/tasks"
	"presswork/tasks/stream"
)

func TestEveryRunRecordsItsOwnUsage(t *testing.T) {
	t.Parallel()
	engine := stallingEngine{make(chan struct{}), make(chan struct{})}
	h := setupCompletions(t, inference.Upstream{BaseURL: "http://a"},
		func(inference.Upstream) (inference.Engine, error) { return engine, nil })
	client, rdb, returned := h.client, h.rdb, h.returned
	body := []byte(greeting)

	for name, superseded := range map[string]bool{"ann": false, "bob": true} {
		id := tasks.NewID()

		answer, err := client.Call(t.Context(), stream.Call{ID: id, Owner: name, Tier: stream.OnDemand, Body: body})
		if err != nil {
			t.Fatal(err)
		}
		<-engine.begun

		if superseded {
			// Pretend that another worker has begun a run of the call.
			rdb.HSet(t.Context(), "pw:{"+id+"}:call", "fence", "another", "run", 2)
		}

		select {
		case engine.proceed <- struct{}{}:
			<-returned
		case <-returned: // a superseded run may notice that and end
		}
		answer.Close()

		if rows := h.usage(name); (len(rows) == 0) != superseded {
			t.Errorf("superseded %t: got usage %+v", superseded, rows)
		}
	}
	// All callers leave the first call. A retry has the same id and is recorded as a second request.
	name := "eve"
	for attempt := range 2 {
		answer, err := client.Call(t.Context(), stream.Call{
			ID: tasks.NewID(), Owner: name, Tier: stream.OnDemand, Body: body, IdempotencyKey: "k", Fingerprint: "f",
		})
		if err != nil {
			t.Fatal(err)
		}
		<-engine.begun

		if attempt == 0 {
			call := "pw:{" + answer.ID + "}:call"
			rdb.HSet(t.Context(), call, "state", "left")
			rdb.Publish(t.Context(), "pw:cancel", rdb.HGet(t.Context(), call, "fence").Val())
		} else {
			engine.proceed <- struct{}{}
		}
		<-returned
		answer.Close()
	}

	if rows := h.usage(name); len(rows) != 1 || rows[0].Requests != 2 || rows[0].Cancelled != 1 {
		t.Errorf("a retry: got usage %+v, want two requests, one of them cancelled", rows)
	}
}

func TestCountsOfTokensAreNoUsage(t *testing.T) {
	t.Parallel()
	_, url := inferencetest.Start(t)
	h := setupCompletions(t, inference.Upstream{BaseURL: url, Model: "m", Kind: inference.VLLM}, openai.New)
	body := strings.TrimSuffix(greeting, "}") + `,"count":true}`

	frames := h.frames(stream.Call{Owner: "ann", Body: []byte(body)})
	if c := frames[0].Counted; c == nil || c.Estimated {
		t.Fatalf("got the frames %+v, want a count", frames)
	}

	if rows := h.usage("ann"); len(rows) != 0 {
		t.Errorf("got usage %+v, want none", rows)
	}

	families, err := h.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}

	for _, f := range families {
		if f.GetName() == "gen_ai_server_time_to_first_token_seconds" {
			t.Errorf("got the metric %v, want none of a first token", f)
		}
	}
}

func TestAFallbackWhoseWorkerDiedIsChargedUnderItsName(t *testing.T) {
	t.Parallel()
	_, url := inferencetest.Start(t)
	h := setupCompletions(t, inference.Upstream{BaseURL: url, Model: "hello"}, openai.New)
	h.before = func(run *stream.Run) {
		for _, frame := range []string{`{"chunk":{"first":true,"model":"other"}}`, `{"chunk":{"content":"Hel"}}`} {
			if err := run.Send([]byte(frame)); err != nil {
				t.Error(err)
			}
		}
		wait.Until(t, "the frames are in Redis", func() bool {
			sent, err := run.Sent(t.Context())
			return err == nil && len(sent) == 2
		})
		run.Begun = true
	}

	h.frames(stream.Call{Owner: "ann", Body: []byte(greeting)})

	if rows := h.usage("ann"); len(rows) != 1 || rows[0].Model != "other" || rows[0].CompletionTokens == 0 {
		t.Errorf("got usage %+v, want that of the model other", rows)
	}
}

func TestUsageWithoutOutputIsEstimated(t *testing.T) {
	t.Parallel()
	model, url := inferencetest.Start(t)
	// With this format, the gateway withholds the beginning of a response, so that another upstream may answer.
	const body = `{"request":{"model":"m","format":{"type":"json_object"},"messages":[{"role":"user","parts":[{"text":"Hi"}]}]}}`

	for name, c := range map[string]struct {
		upstreams []inference.Upstream
		leaves    bool
		counted   int64 // tokens that an upstream has reported
	}{
		"leaves before the first token": {[]inference.Upstream{{BaseURL: url, Model: "hang"}}, true, 0},
		"the first answer is cut off":   {[]inference.Upstream{{BaseURL: url, Model: "cut"}, {BaseURL: url, Model: "json", Priority: 1}}, false, 14},
	} {
		t.Run(name, func(t *testing.T) {
			catalogue := inference.NewCatalogue([]inference.Model{{ID: "m", Upstreams: c.upstreams}})
			h := setupCompletions(t, inference.Upstream{BaseURL: url}, openai.New, func(o *gateway.Options) {
				o.Catalogue = func() *inference.Catalogue { return catalogue }
			})
			before := len(model.Requests())

			answer, err := h.client.Call(
				t.Context(),
				stream.Call{ID: tasks.NewID(), Owner: name, Tier: stream.OnDemand, Body: []byte(body)},
			)
			if err != nil {
				t.Fatal(err)
			}

			if err := model.WaitRequests(t.Context(), before+1); err != nil {
				t.Fatal(err)
			}

			if c.leaves {
				answer.Close()
			}
			wait.Receive(t, "the end of the run", h.returned)
			answer.Close()

			rows := h.usage(name)
			if len(rows) != 1 {
				t.Fatalf("got usage %+v, want one row", rows)
			}

			u := rows[0]
			if u.Requests != 1 || u.EstimatedTokens == 0 ||
				u.PromptTokens+u.CompletionTokens != u.EstimatedTokens+c.counted ||
				(u.Cancelled == 1) != c.leaves {
				t.Errorf("got usage %+v, want %d reported tokens and the rest estimated", u, c.counted)
			}
		})
	}
}
