package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork"
	"presswork/api/exchange"
	"presswork/api/views"
	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/tasks"
)

const (
	// minWait and maxWait are the limits of ?wait=. untilDone is the only value of ?until=.
	minWait, maxWait = time.Second, time.Minute
	untilDone        = "done"
)

// getJob answers GET /api/conversion/{id}. With ?wait= it waits for a change, or with ?until=done for the end. A
// client whose If-None-Match names an older state gets the newer one at once.
func (s *Server) getJob(c *fiber.Ctx) error {
	id := c.Params("id")

	wait, err := waitOf(c)
	if err != nil {
		return err
	}

	rec, err := s.ownJob(c, id)
	if err != nil {
		return err
	}
	// A client that has an older state has missed an event and gets it now.
	outdated := c.Get(fiber.HeaderIfNoneMatch) != "" && !exchange.ClientHas(c, etag(rec))
	// A wait for the end goes on, whatever state the client has.
	if wait.limit > 0 && !rec.Status.Terminal() && (wait.toEnd || !outdated) {
		if rec, err = s.awaitChange(c, rec, wait); err != nil {
			return err
		}
	}
	c.Set(fiber.HeaderETag, etag(rec))
	c.Set(fiber.HeaderCacheControl, "private, no-cache")

	if exchange.ClientHas(c, etag(rec)) {
		c.Status(http.StatusNotModified)
		return nil
	}
	exchange.WriteJSON(c.Context(), http.StatusOK, s.views.Job(rec))

	return nil
}

// awaitChange waits for the next event of a job, or for its end, and returns the job. It returns the job unchanged
// when the time is up, the client disconnects or the server stops.
func (s *Server) awaitChange(c *fiber.Ctx, rec tasks.Record, wait longPoll) (tasks.Record, error) {
	ctx, done, err := s.waitContext(c, wait.limit, context.DeadlineExceeded)
	if err != nil {
		return rec, err
	}
	defer done()

	if wait.toEnd {
		if _, err := s.awaitEnd(ctx, rec, nil); err != nil && ctx.Err() == nil {
			return rec, err
		}
	} else if changed, err := s.awaitEvent(ctx, rec); !changed { // rec is still current
		return rec, err
	}

	ask, cancel := exchange.CallContext()
	defer cancel()

	return s.Queue.Job(ask, rec.ID)
}

// answerWaiting answers a submission: after the wait, 200 with the job if it has ended, else 202.
func (s *Server) answerWaiting(c *fiber.Ctx, rec tasks.Record, replayed bool, wait longPoll) error {
	if wait.limit > 0 && !rec.Status.Terminal() {
		// The job is accepted, whatever happens to the wait.
		if later, err := s.awaitChange(c, rec, wait); err == nil {
			rec = later
		}
	}

	if wait.limit == 0 || !rec.Status.Terminal() {
		return s.answerAccepted(c, rec, replayed)
	}

	exchange.SetReplayed(c, replayed)
	exchange.WriteJSON(c.Context(), http.StatusOK, s.views.Job(rec))

	return nil
}

// awaitEvent reports whether the job has had an event before ctx ended.
func (s *Server) awaitEvent(ctx context.Context, rec tasks.Record) (bool, error) {
	watch, err := s.Queue.Watch(ctx, rec.ID, rec.Seq)
	if err != nil {
		return false, err
	}
	defer watch.Close()

	select {
	case <-ctx.Done():
		return false, nil
	case <-watch.Events:
		return true, nil
	}
}

// longPoll describes the wait of a request for a job. A limit of 0 means no wait. With toEnd the request waits until
// the job ends, otherwise until its next event.
type longPoll struct {
	limit time.Duration
	toEnd bool
}

// waitOf parses ?wait=, a duration such as 5s or a number of seconds, and ?until=. Errors: InvalidOption.
func waitOf(c *fiber.Ctx) (wait longPoll, err error) {
	until, text := c.Query("until"), c.Query("wait")
	if until != "" && until != untilDone {
		return wait, fault.Errorf(fault.InvalidOption, "until is %s; allowed: %s", input.Quote(until), untilDone).
			WithParam("until")
	}

	wait.toEnd = until == untilDone
	if text == "" {
		if wait.toEnd {
			return wait, fault.Errorf(fault.InvalidOption,
				"until=%s needs the longest time to wait: add wait=1s to wait=60s", untilDone).WithParam("wait")
		}

		return wait, nil
	}

	wait.limit, err = time.ParseDuration(text)
	if n, e := strconv.Atoi(text); e == nil {
		wait.limit, err = time.Duration(n)*time.Second, nil
	}

	if err != nil || wait.limit < minWait || wait.limit > maxWait {
		return wait, fault.Errorf(fault.InvalidOption, "wait is %s; allowed: 1s to 60s", input.Quote(text)).
			WithParam("wait")
	}

	return wait, nil
}

// etag returns the ETag of a job: each event changes it.
func etag(rec tasks.Record) string { return fmt.Sprintf(`"%s-%d"`, rec.ID, rec.Seq) }

// cancelJob answers DELETE /api/conversion/{id}.
func (s *Server) cancelJob(c *fiber.Ctx) error {
	rec, err := s.ownJob(c, c.Params("id"))
	if err != nil {
		return err
	}

	ctx, cancel := exchange.CallContext()
	defer cancel()

	rec, err = s.Queue.Cancel(ctx, rec.ID)
	if err != nil {
		if fault.CodeOf(err) == fault.JobFinished && rec.Status != "" {
			return fault.Errorf(fault.JobFinished, "the job is %s already", rec.Status).WithCause(err)
		}

		return err
	}
	exchange.WriteJSON(c.Context(), http.StatusOK, s.views.Job(rec))

	return nil
}

// jobList is a page of jobs. NextCursor is null on the last page.
type jobList struct {
	Object     string          `json:"object"`
	Data       []presswork.Job `json:"data"`
	HasMore    bool            `json:"has_more"`
	NextCursor *string         `json:"next_cursor"`
}

// listJobs answers GET /api/conversion with the jobs of the caller, newest first.
func (s *Server) listJobs(c *fiber.Ctx) error {
	if err := exchange.OnlyQuery(c, views.ListFilters()...); err != nil {
		return err
	}

	q, err := views.QueryOf(c)
	if err != nil {
		return err
	}

	ctx, cancel := exchange.CallContext()
	defer cancel()

	page, err := s.Queue.Jobs(ctx, exchange.Of(c.Context()).Caller.Name, q)
	if err != nil {
		return err
	}

	list := jobList{Object: "list", Data: make([]presswork.Job, 0, len(page.Records)), HasMore: page.HasMore}
	for _, rec := range page.Records {
		list.Data = append(list.Data, s.views.Job(rec))
	}

	if page.HasMore {
		list.NextCursor = &page.NextCursor
	}
	exchange.WriteJSON(c.Context(), http.StatusOK, list)

	return nil
}
