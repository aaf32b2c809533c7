package limits_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gofiber/fiber/v2"

	"presswork/api/access"
	"presswork/api/exchange"
	"presswork/api/limits"
	"presswork/internal/fault"
	"presswork/internal/inference/meter"
	"presswork/internal/test/redistest"
	"presswork/tasks/redisdial"
)

func TestAKeyMayMakeItsRequestsPerMinute(t *testing.T) {
	t.Parallel()

	rdb, err := redisdial.Dial(redistest.Start(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rdb.Close() })
	log := slog.New(slog.DiscardHandler)

	for name, row := range map[string]struct {
		limiter *limits.Limiter
		own     int // the rpm of the key
		want    fault.Code
	}{
		"without a meter": {limits.New(limits.Options{RPM: 1, Log: log}), 0, ""},
		"the server's":    {limits.New(limits.Options{Meter: meter.New(rdb, log), RPM: 1, Log: log}), 0, fault.RateLimited},
		"the key's own":   {limits.New(limits.Options{Meter: meter.New(rdb, log), RPM: 1, Log: log}), 9, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			app := fiber.New()
			app.Get("/*", func(c *fiber.Ctx) error {
				exchange.Begin(c.Context(), access.Proxies{}).Caller = access.Caller{
					Name:   name,
					Limits: meter.Limits{RPM: row.own},
				}
				handle := row.limiter.Wrap(limits.Jobs, func(*fiber.Ctx) error { return nil })

				if err := handle(c); err != nil {
					c.Set("Code", string(fault.CodeOf(err)))
				}

				return nil
			})

			var rejected *http.Response
			// A new minute may begin between two requests, but not twice.
			for range 3 {
				answer, err := app.Test(httptest.NewRequest(http.MethodGet, "/api/conversion", nil), -1)
				if err != nil {
					t.Fatal(err)
				}
				answer.Body.Close()

				if answer.Header.Get("Code") != "" {
					rejected = answer
				}
			}

			if (rejected != nil) != (row.want != "") {
				t.Fatalf("got %+v, want the error %q", rejected, row.want)
			}

			if rejected == nil {
				return
			}

			code, after := fault.Code(rejected.Header.Get("Code")), rejected.Header.Get("Retry-After")
			if code != row.want || after == "" {
				t.Errorf("got %q with Retry-After %q, want %q with a time", code, after, row.want)
			}
		})
	}
}
