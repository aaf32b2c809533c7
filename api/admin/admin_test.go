package admin_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"presswork"
	"presswork/api/access"
	"presswork/api/admin"
	"presswork/api/exchange"
	"presswork/api/upload"
	"presswork/internal/fault"
	"presswork/tasks"
)

// queue is a queue in which one job can be cancelled.
type queue struct{ admin.Queue }

func (queue) Cancel(_ context.Context, id string) (tasks.Record, error) {
	if id == "ended" {
		return tasks.Record{}, fault.Errorf(fault.JobFinished, "the job is completed already")
	}

	return tasks.Record{Job: presswork.Job{ID: id, Status: presswork.Cancelled}}, nil
}

func TestAnActionReportsEachJob(t *testing.T) {
	t.Parallel()
	a := admin.New(admin.Options{
		Queue: queue{},
		Log:   slog.New(slog.DiscardHandler),
		Bodies: exchange.Bodies{Timeout: time.Minute, Intake: upload.NewIntake(upload.IntakeOptions{
			Memory: 1 << 20, MemoryGauge: prometheus.NewGauge(prometheus.GaugeOpts{}),
			Disk: 1 << 20, DiskGauge: prometheus.NewGauge(prometheus.GaugeOpts{}),
		})},
	})
	ids := strings.Repeat(`"x",`, 501)

	for name, row := range map[string]struct{ body, want string }{
		"two jobs": {
			`{"ids": ["open", "ended"]}`,
			`[{"id":"open","job_id":"open","status":"cancelled","error":null},{"id":"ended","error":{`,
		},
		"no job":        {`{"ids": []}`, "ids has 0 jobs; allowed: 1 to 500"},
		"too many jobs": {`{"ids": [` + strings.TrimSuffix(ids, ",") + `]}`, "ids has 501 jobs; allowed: 1 to 500"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			app := fiber.New(fiber.Config{
				StreamRequestBody: true,
				ErrorHandler:      func(c *fiber.Ctx, err error) error { return c.SendString(err.Error()) },
			})
			app.Post("/*", func(c *fiber.Ctx) error {
				exchange.Begin(c.Context(), access.Proxies{})
				return a.Cancel(c)
			})

			answer, err := app.Test(httptest.NewRequest(http.MethodPost, "/", strings.NewReader(row.body)), -1)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()

			if b, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(b), row.want) {
				t.Errorf("got %s, %v; want %s", b, err, row.want)
			}
		})
	}
}
