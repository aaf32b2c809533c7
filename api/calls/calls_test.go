package calls_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"presswork/api/access"
	"presswork/api/calls"
	"presswork/api/conn"
	"presswork/api/exchange"
	"presswork/api/limits"
	"presswork/api/objects"
	"presswork/api/openai"
	"presswork/api/upload"
	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/storage"
	"presswork/tasks/stream"
)

// brokenQueue is a queue whose Redis is not available.
type brokenQueue struct{}

func (brokenQueue) Call(context.Context, stream.Call) (*stream.Answer, error) {
	return nil, fault.Errorf(fault.QueueUnavailable, "the queue is not available")
}

func (brokenQueue) Waiting(context.Context) (int64, error) { return 0, nil }

func TestARequestWithoutAnAnswerLeavesNoOpenStream(t *testing.T) {
	t.Parallel()
	var open atomic.Int64
	log := slog.New(slog.DiscardHandler)
	models := inference.NewCatalogue([]inference.Model{{ID: "chat"}})
	h := calls.New(calls.Options{
		Service: openai.New(openai.Options{
			Calls:       brokenQueue{},
			Models:      func() *inference.Catalogue { return models },
			PublicError: exchange.InferenceError,
		}),
		Queue:   brokenQueue{},
		Objects: objects.Objects{Store: storage.None{}, Log: log},
		Limiter: limits.New(limits.Options{Log: log}),
		Bodies: exchange.Bodies{Timeout: time.Minute, Intake: upload.NewIntake(upload.IntakeOptions{
			Memory: 1 << 20, MemoryGauge: prometheus.NewGauge(prometheus.GaugeOpts{}),
			Disk: 1 << 20, DiskGauge: prometheus.NewGauge(prometheus.GaugeOpts{}),
		})},
		Streams: conn.NewStreams(func(_ string, change int) { open.Add(int64(change)) }),
		Log:     log,
	})
	const ask = `{"model": "chat", "messages": [{"role": "user", "content": "hi"}]}`

	for name, row := range map[string]struct {
		handle     fiber.Handler
		kind, body string
		want       string // in the answer
	}{
		"an outage of the queue": {h.Chat, "application/json", ask, "queue_unavailable"},
		"an unknown model":       {h.Chat, "application/json", strings.Replace(ask, "chat", "chap", 1), "model_not_found"},
		"not JSON":               {h.Embed, "text/plain", ask, "unsupported_media_type"},
		"a list of models":       {h.Models, "", "", `"id":"chat"`},
	} {
		t.Run(name, func(t *testing.T) {
			app := fiber.New(fiber.Config{StreamRequestBody: true})
			app.All("/*", func(c *fiber.Ctx) error {
				exchange.Begin(c.Context(), access.Proxies{}).Caller = access.Everyone()
				if err := row.handle(c); err != nil {
					exchange.SendError(c.Context(), err, log)
				}

				return nil
			})
			r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(row.body))
			r.Header.Set("Content-Type", row.kind)

			answer, err := app.Test(r, -1)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()

			if b, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(b), row.want) {
				t.Errorf("got %s, %v; want %s", b, err, row.want)
			}

			if n := open.Load(); n != 0 {
				t.Errorf("%d streams are open after the answer", n)
			}
		})
	}
}
