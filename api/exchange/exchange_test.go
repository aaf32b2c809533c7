package exchange_test

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace/noop"

	"presswork/api/access"
	"presswork/api/exchange"
	"presswork/api/upload"
	"presswork/internal/fault"
	"presswork/internal/inference"
)

// serve answers a request with handle, as the server does, and returns the answer with its body.
func serve(t *testing.T, r *http.Request, handle func(c *fiber.Ctx) error) (*http.Response, string) {
	t.Helper()

	app := fiber.New(fiber.Config{StreamRequestBody: true})
	app.All("/*", func(c *fiber.Ctx) error {
		meta := exchange.Begin(c.Context(), access.Proxies{})
		meta.BeginSpan(noop.NewTracerProvider().Tracer(""))
		exchange.SetHeaders(c.Context(), meta)

		if err := handle(c); err != nil {
			exchange.SendError(c.Context(), err, slog.New(slog.DiscardHandler))
		}
		meta.EndSpan(c.Response().StatusCode())

		return nil
	})

	answer, err := app.Test(r, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()

	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}

	return answer, string(b)
}

func TestErrorsHaveTheFormOfTheirClient(t *testing.T) {
	t.Parallel()

	refusal := fault.Errorf(fault.InvalidOption, "scale is 3; allowed is 0.1 to 2").WithParam("scale")
	for name, row := range map[string]struct {
		path   string
		err    error
		status int
		want   string // in the body
	}{
		"public":            {"/api/themes", refusal, 400, `"doc_url":"/docs/troubleshooting#invalid_option"`},
		"another status":    {"/api/themes", &exchange.StatusError{Status: 404, Err: refusal}, 404, `"param":"scale"`},
		"private":           {"/api/themes", errors.New("dial 10.0.0.7"), 500, `"code":"internal_error"`},
		"of a model":        {"/v1/models", inference.Errorf(404, inference.ModelNotFound, "no model"), 404, `"model_not_found"`},
		"Groq's path":       {"/openai/v1/models", refusal, 400, `"type":"invalid_request_error"`},
		"of a full store":   {"/api/themes", exchange.StoreError(errors.New("reset")), 503, `"store_unavailable"`},
		"for Anthropic's":   {"/v1/messages", refusal, 400, `"request_id":"mine"`},
		"a limit of a tier": {"/v1/models", fault.Errorf(fault.RateLimited, "slower"), 429, `"rate_limit_exceeded"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := httptest.NewRequest(http.MethodGet, row.path, nil)
			r.Header.Set("X-Request-Id", "mine")

			answer, body := serve(t, r, func(*fiber.Ctx) error { return row.err })
			if answer.StatusCode != row.status || !strings.Contains(body, row.want) ||
				strings.Contains(body, "10.0.0.7") {
				t.Errorf("got %d %s, want %d with %s", answer.StatusCode, body, row.status, row.want)
			}

			if id := answer.Header.Get("X-Request-Id"); id != "mine" || !json.Valid([]byte(body)) {
				t.Errorf("got the id %q and %s, want the client's id and JSON", id, body)
			}
		})
	}
}

func TestBodiesAreReadWithinTheirLimit(t *testing.T) {
	t.Parallel()
	bodies := exchange.Bodies{
		Intake: upload.NewIntake(upload.IntakeOptions{
			Memory: 1 << 20, MemoryGauge: prometheus.NewGauge(prometheus.GaugeOpts{}),
			Disk: 1 << 20, DiskGauge: prometheus.NewGauge(prometheus.GaugeOpts{}),
		}),
		Timeout: time.Minute,
	}

	for name, row := range map[string]struct {
		body, encoding string
		want           string // in the answer
	}{
		"small":                 {`{"n": 3}`, "", "3"},
		"with a mark":           {"\ufeff" + `{"n": 3}`, "", "3"},
		"too large":             {`{"n": 3` + strings.Repeat(" ", 40) + `}`, "", "the thing is too large; the limit is 30 bytes"},
		"not UTF-8":             {"{\"n\": \"\xff\"}", "", "content_not_utf8"},
		"an unknown field":      {`{"m": 3}`, "", "unknown_field"},
		"compressed by a proxy": {`{"n": 3}`, "br", "unsupported_media_type"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := httptest.NewRequest(http.MethodPost, "/api/thing", strings.NewReader(row.body))
			if row.encoding != "" {
				r.Header.Set("Content-Encoding", row.encoding)
			}

			_, got := serve(t, r, func(c *fiber.Ctx) error {
				var into struct {
					N int `json:"n"`
				}
				if err := bodies.Decode(c, 30, "the thing", &into); err != nil {
					return err
				}
				exchange.WriteJSON(c.Context(), http.StatusOK, into.N)

				return nil
			})
			if !strings.Contains(got, row.want) {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

func TestWrongQueriesAreRejectedWithWhatIsAllowed(t *testing.T) {
	t.Parallel()

	for query, want := range map[string]string{
		"limit=1":         "{}",
		"dead=true":       "{}",
		"limt=1":          "unknown_field",
		"limit=1&limit=2": "the query has",
		"dead=perhaps":    "allowed: true, false",
		"kind=convrsion":  "did you mean",
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()

			r := httptest.NewRequest(http.MethodGet, "/api/jobs?"+query, nil)

			_, got := serve(t, r, func(c *fiber.Ctx) error {
				if err := exchange.OnlyQuery(c, "limit", "dead", "kind"); err != nil {
					return err
				}

				if _, err := exchange.QueryBool(c, "dead"); err != nil {
					return err
				}

				if kind := c.Query("kind"); kind != "" {
					if _, err := exchange.OneOf("kind", kind, []string{"conversion", "export"}); err != nil {
						return err
					}
				}
				exchange.WriteJSON(c.Context(), http.StatusOK, struct{}{})

				return nil
			})
			if !strings.Contains(got, want) {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}
