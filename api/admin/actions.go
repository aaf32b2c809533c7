package admin

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"github.com/gofiber/fiber/v2"

	"presswork"
	"presswork/api/exchange"
	"presswork/internal/fault"
	"presswork/tasks"
)

// batch is the body of a request that acts on jobs. The answer lists the outcomes in the same order.
type batch struct {
	// IDs are 1 to maxBatch jobs.
	IDs []string `json:"ids"`
}

// outcome is the result of an action on one job. Error is null when the action succeeded.
type outcome struct {
	// ID is the job of the request.
	ID string `json:"id"`
	// JobID is the new job after a retry, otherwise the job itself.
	JobID  string           `json:"job_id,omitempty"`
	Status presswork.Status `json:"status,omitempty"`
	Error  *fault.Error     `json:"error"`
}

// act calls do for each job in the request and answers with their outcomes. An error for one job does not
// stop the others. action names the operation in the log.
func (a *Admin) act(
	c *fiber.Ctx, action string, do func(ctx context.Context, id string) (tasks.Record, error),
) error {
	var req batch
	if err := a.Bodies.Decode(c, maxAdminBody, "a list of jobs", &req); err != nil {
		return err
	}

	if len(req.IDs) == 0 || len(req.IDs) > maxBatch {
		return fault.Errorf(fault.InvalidOption, "ids has %d jobs; allowed: 1 to %d", len(req.IDs), maxBatch).
			WithParam("ids")
	}
	outcomes := make([]outcome, len(req.IDs))
	slots := make(chan struct{}, batchCalls)
	var all sync.WaitGroup

	for i, id := range req.IDs {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()

			ctx, cancel := exchange.CallContext()
			defer cancel()
			rec, err := do(ctx, id)

			outcomes[i] = outcome{ID: id, JobID: rec.ID, Status: rec.Status}
			if err != nil {
				outcomes[i].Error = fault.AsError(err)
			}
		})
	}
	all.Wait()
	done := len(slices.DeleteFunc(slices.Clone(outcomes), func(o outcome) bool { return o.Error != nil }))
	a.Log.Info("an operator acted on jobs", "action", action, "jobs", len(req.IDs), "done", done,
		"key", exchange.Of(c.Context()).Caller.Name, "request_id", exchange.Of(c.Context()).ID)
	exchange.WriteJSON(c.Context(), http.StatusOK, struct {
		Object string    `json:"object"`
		Data   []outcome `json:"data"`
	}{"list", outcomes})

	return nil
}

// Cancel answers POST /admin/api/actions/cancel: it ends jobs that have not ended.
func (a *Admin) Cancel(c *fiber.Ctx) error { return a.act(c, "cancel", a.Queue.Cancel) }

// Retry answers POST /admin/api/actions/retry: it runs failed jobs again, with the same input.
func (a *Admin) Retry(c *fiber.Ctx) error { return a.act(c, "retry", a.Queue.Retry) }

// Dismiss answers POST /admin/api/actions/dismiss: it removes failed jobs from the dead letters.
func (a *Admin) Dismiss(c *fiber.Ctx) error {
	return a.act(c, "dismiss", func(ctx context.Context, id string) (tasks.Record, error) {
		return tasks.Record{}, a.Queue.Dismiss(ctx, id)
	})
}

// Redeliver answers POST /admin/api/actions/redeliver: it sends the webhooks of ended jobs again.
func (a *Admin) Redeliver(c *fiber.Ctx) error {
	return a.act(c, "redeliver", a.Queue.Redeliver)
}
