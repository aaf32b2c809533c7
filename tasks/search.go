package tasks

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/fault"
	"presswork/tasks/record"
)

const (
	// searchPage is the number of ids of each list that one step of a search reads. maxSearched is the largest
	// number of jobs that one request reads.
	searchPage  = 100
	maxSearched = 2000
	// maxOpenSearched is the largest number of open jobs for which Search reads the ledger (record.LedgerKey, the set of
	// open jobs). The ledger is not sorted by id, so all of it is read.
	maxOpenSearched = 10_000
)

// Search selects jobs of every owner, newest first, for operators. All conditions must hold.
type Search struct {
	Query
	// Owner, when set, selects the jobs of one owner.
	Owner *string
	// Worker selects jobs of which this worker began an attempt; "" for all.
	Worker string
	// Since and Before bound when a job was created; zero for no bound.
	Since, Before time.Time
	// Text selects jobs with this text in their id, file name or error, ignoring case.
	Text string
	// Dead selects the dead letters: failed jobs that were neither retried nor dismissed. See Client.Retry.
	Dead bool
	// Cause selects the failed jobs with this cause; "" for all jobs.
	Cause Cause
}

// Cause is the side that caused the failure of a job.
type Cause string

// A caller causes a failure with the document, the options or the page. All other failures are those of the server.
const (
	ByCaller Cause = "caller"
	ByServer Cause = "server"
)

// causeOf returns the cause of a job's failure, "" if the job has not failed.
func causeOf(r *Record) Cause {
	switch {
	case r.Status != presswork.Failed:
		return ""
	case r.Error != nil && causedByCaller(r.Error.Code):
		return ByCaller
	}

	return ByServer
}

// Search lists jobs of all owners. As with Jobs, a page may have fewer jobs than the limit and still report more.
// It reads the lists that each owner has anyway, so a submission maintains no further index. Errors: InvalidOption
// (a bad cursor), QueueUnavailable.
func (c *Client) Search(ctx context.Context, q Search) (Page, error) {
	limit := q.Limit
	if limit <= 0 {
		limit = defaultLimit
	}

	if q.Cursor != "" && !ValidID(q.Cursor) {
		return Page{}, badCursor()
	}

	idsBelow, err := c.idsBelow(ctx, q)
	if err != nil {
		return Page{}, err
	}

	cursor := q.Cursor
	if before := idAt(q.Before); before != "" && (cursor == "" || before < cursor) {
		cursor = before
	}
	// Ids begin with the time, so the bounds on the creation are bounds on the ids.
	oldest := idAt(q.Since)
	var found []*record.Stored
	var expired []string

	defer func() {
		if q.Dead && len(expired) > 0 {
			_ = removeDeadLetters(ctx, c.rdb, expired...) // on failure the next search removes them
		}
	}()

	for read := 0; read < maxSearched; {
		ids, err := idsBelow(cursor, searchPage)
		if err != nil {
			return Page{}, record.Unavailable(err)
		}

		last := len(ids) < searchPage
		if n := slices.IndexFunc(ids, func(id string) bool { return id < oldest }); n >= 0 {
			ids, last = ids[:n], true
		}

		jobs, gone, err := c.readListed(ctx, ids)
		if err != nil {
			return Page{}, err
		}
		expired = append(expired, gone...)

		for _, job := range jobs {
			if !q.selects(&job.Record) {
				continue
			}

			if len(found) == limit { // this job begins the next page
				return c.searchResult(ctx, found, found[limit-1].ID)
			}
			found = append(found, job)
		}

		if last {
			return c.searchResult(ctx, found, "")
		}
		read += len(ids)
		cursor = ids[len(ids)-1]
	}

	return c.searchResult(ctx, found, cursor)
}

// searchResult returns the found jobs as a page, with their queue positions. Errors: QueueUnavailable.
func (c *Client) searchResult(ctx context.Context, found []*record.Stored, cursor string) (Page, error) {
	page := Page{HasMore: cursor != "", NextCursor: cursor, Records: make([]Record, len(found))}

	byOwner := map[string][]*record.Stored{}
	for _, job := range found {
		byOwner[job.Owner] = append(byOwner[job.Owner], job)
	}

	for _, jobs := range byOwner {
		if err := c.setPositions(ctx, jobs); err != nil {
			return Page{}, err
		}
	}

	for i, job := range found {
		page.Records[i] = job.Record
	}

	return page, nil
}

// selects reports whether a record matches the search.
func (q Search) selects(r *Record) bool {
	switch {
	case !q.Query.selects(r),
		q.Owner != nil && *q.Owner != r.Owner,
		q.Worker != "" && !slices.Contains(r.Workers, q.Worker),
		q.Cause != "" && q.Cause != causeOf(r):
		return false
	}

	text := r.ID + "\n" + r.Filename
	if r.Error != nil {
		text += "\n" + string(r.Error.Code) + "\n" + r.Error.Message
	}

	return strings.Contains(strings.ToLower(text), strings.ToLower(q.Text))
}

// idsBelow returns a function that returns up to n ids below a cursor, newest first. The function reads the shortest
// list that contains every job that the search may select.
func (c *Client) idsBelow(ctx context.Context, q Search) (func(cursor string, n int) ([]string, error), error) {
	below := func(p redis.Cmdable, key, cursor string, n int) *redis.StringSliceCmd {
		from := "+"
		if cursor != "" {
			from = "(" + cursor
		}

		return p.ZRangeArgs(ctx, redis.ZRangeArgs{
			Key: key, Start: "-", Stop: from, ByLex: true, Rev: true, Count: int64(n),
		})
	}

	switch {
	case q.Dead:
		return func(cursor string, n int) ([]string, error) { return below(c.rdb, deadKey, cursor, n).Result() }, nil
	case q.Owner != nil:
		return func(cursor string, n int) ([]string, error) {
			return below(c.rdb, record.OwnerKey(*q.Owner), cursor, n).Result()
		}, nil
	}

	ended := func(s presswork.Status) bool { return s.Terminal() }
	if len(q.Statuses) > 0 && !slices.ContainsFunc(q.Statuses, ended) {
		open, err := c.rdb.ZCard(ctx, record.LedgerKey).Result()
		if err != nil {
			return nil, record.Unavailable(err)
		}

		if open <= maxOpenSearched {
			return c.openIDsBelow(ctx)
		}
	}

	owners, err := c.rdb.SMembers(ctx, record.OwnersKey).Result()
	if err != nil {
		return nil, record.Unavailable(err)
	}

	return func(cursor string, n int) ([]string, error) {
		cmds := make([]*redis.StringSliceCmd, len(owners))

		_, err := c.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i, owner := range owners {
				cmds[i] = below(p, record.OwnerKey(owner), cursor, n)
			}

			return nil
		})
		if err != nil {
			return nil, err
		}

		var ids []string
		for _, cmd := range cmds {
			ids = append(ids, cmd.Val()...)
		}

		return newest(ids, n), nil
	}, nil
}

// openIDsBelow is idsBelow for the open jobs. It reads the ledger once, and the function returns parts of it.
func (c *Client) openIDsBelow(ctx context.Context) (func(string, int) ([]string, error), error) {
	all, err := c.rdb.ZRange(ctx, record.LedgerKey, 0, maxOpenSearched).Result()
	if err != nil {
		return nil, record.Unavailable(err)
	}
	all = newest(all, len(all))

	return func(cursor string, n int) ([]string, error) {
		start := 0
		if cursor != "" {
			start, _ = slices.BinarySearchFunc(all, cursor,
				func(id, cursor string) int { return strings.Compare(cursor, id) })
			for start < len(all) && all[start] >= cursor {
				start++
			}
		}

		return all[start:min(start+n, len(all))], nil
	}, nil
}

// newest sorts ids, the newest first, and returns the first n.
func newest(ids []string, n int) []string {
	slices.SortFunc(ids, func(a, b string) int { return strings.Compare(b, a) })
	return ids[:min(n, len(ids))]
}

// idAt returns the smallest id that a job created at t can have, "" for the zero time.
func idAt(t time.Time) string {
	if t.IsZero() {
		return ""
	}

	return record.FirstID(t)
}

// badCursor returns the public error for a cursor that no page has returned.
func badCursor() error {
	return fault.Errorf(fault.InvalidOption, "the cursor is not the next_cursor of an earlier page").WithParam("cursor")
}

// Inspection is a job with its history, for operators.
type Inspection struct {
	Record
	Queue Queue
	// Events are the last thousand or so events of the job, oldest first.
	Events []presswork.Event
	// Task is the job's task on its queue; nil when it has none or when it cannot be read.
	Task *TaskState
	// Dead reports whether the job is a dead letter, which Retry makes into a new job.
	Dead bool
	// RetriedAs is the id of the job that Retry made of this one; "" for none.
	RetriedAs string
}

// TaskState is the state of a task on its queue.
type TaskState struct {
	// State is pending, active, retry, scheduled, archived or completed.
	State string `json:"state"`
	// Tries counts the failed attempts, without those that an outage or the stop of a worker ended.
	Tries int `json:"tries"`
	// NextAt is when the next attempt is due; zero when none is planned.
	NextAt time.Time `json:"next_at,omitzero"`
	// LastError is the text of the last failure. It may contain details that callers must not see.
	LastError string `json:"last_error,omitempty"`
}

// Inspect returns a job of any owner with its history. Errors: NotFound, QueueUnavailable.
func (c *Client) Inspect(ctx context.Context, id string) (Inspection, error) {
	job, err := c.records.Find(ctx, id)
	if err != nil {
		return Inspection{}, err
	}

	if err := c.setPositions(ctx, []*record.Stored{job}); err != nil {
		return Inspection{}, err
	}

	out := Inspection{Record: job.Record, Queue: job.Queue}
	if out.Events, err = c.records.Events(ctx, id, 0); err != nil {
		return Inspection{}, err
	}

	if out.Dead, out.RetriedAs, err = c.deadLetter(ctx, id); err != nil {
		return Inspection{}, err
	}

	if info, err := c.inspector.GetTaskInfo(string(job.Queue), id); err == nil {
		out.Task = &TaskState{State: info.State.String(), Tries: info.Retried, LastError: info.LastErr}
		if !info.NextProcessAt.IsZero() && info.NextProcessAt.Unix() > 0 {
			out.Task.NextAt = info.NextProcessAt.UTC()
		}
	}

	return out, nil
}
