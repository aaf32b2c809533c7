package tasks

import (
	"context"
	"errors"
	"slices"

	"github.com/redis/go-redis/v9"

	"presswork"
)

const (
	defaultLimit = 20
	// scanPage is how many ids of a list are read at a time.
	scanPage = 200
	// positionDepth is how far from the head of a queue a job's place is counted
	// exactly; deeper, it stands for "at least as many".
	positionDepth = 10_000
)

// Jobs lists an owner's jobs, newest first. Ids of jobs that have expired leave
// the list as they are met.
func (c *Client) Jobs(ctx context.Context, owner string, q Query) (Page, error) {
	limit := q.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	if q.Cursor != "" && !ValidID(q.Cursor) {
		return Page{}, presswork.Errorf(presswork.InvalidOption, "the cursor is not the next_cursor of an earlier page").WithParam("cursor")
	}
	// One more than asked for tells whether there are more.
	found, err := c.scan(ctx, owner, q, limit+1)
	if err != nil {
		return Page{}, err
	}
	page := Page{HasMore: len(found) > limit}
	found = found[:min(len(found), limit)]
	if page.HasMore {
		page.NextCursor = found[limit-1].ID
	}
	if err := c.place(ctx, found); err != nil {
		return Page{}, err
	}
	page.Records = make([]Record, len(found))
	for i, job := range found {
		page.Records[i] = job.Record
	}
	return page, nil
}

// scan collects up to n jobs that the query selects.
func (c *Client) scan(ctx context.Context, owner string, q Query, n int) (found []*stored, err error) {
	from := "+"
	if q.Cursor != "" {
		from = "(" + q.Cursor
	}
	for len(found) < n {
		ids, err := c.rdb.ZRangeArgs(ctx, redis.ZRangeArgs{
			Key: ownerKey(owner), Start: "-", Stop: from, ByLex: true, Rev: true, Count: int64(min(scanPage, 2*n)),
		}).Result()
		if err != nil {
			return nil, unavailable(err)
		}
		if len(ids) == 0 {
			break
		}
		jobs, err := c.records.readAll(ctx, ids)
		if err != nil {
			return nil, err
		}
		var expired []any
		for i, j := range jobs {
			switch job := j.job; {
			case j.err != nil:
				c.log.Error("a job is not listed: its record cannot be read", "job_id", ids[i], "err", j.err)
			case job == nil:
				expired = append(expired, ids[i])
			case len(found) < n && q.selects(&job.Record):
				found = append(found, job)
			}
		}
		if len(expired) > 0 {
			if err := c.rdb.ZRem(ctx, ownerKey(owner), expired...).Err(); err != nil {
				return nil, unavailable(err)
			}
		}
		from = "(" + ids[len(ids)-1]
	}
	return found, nil
}

func (q Query) selects(r *Record) bool {
	return (q.Kind == "" || q.Kind == r.Kind) && (len(q.Statuses) == 0 || slices.Contains(q.Statuses, r.Status))
}

// place fills in the queue positions of the jobs that are queued.
func (c *Client) place(ctx context.Context, jobs []*stored) error {
	type question struct {
		job          *stored
		index, total *redis.IntCmd
	}
	var asked []question
	for _, job := range jobs {
		if job.Status == presswork.Queued {
			asked = append(asked, question{job: job})
		}
	}
	if len(asked) == 0 {
		return nil
	}
	_, err := c.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, q := range asked {
			// Workers take from the right end of the list.
			pending := asynqPending(q.job.queue)
			asked[i].index = p.LPos(ctx, pending, q.job.ID, redis.LPosArgs{Rank: -1, MaxLen: positionDepth})
			asked[i].total = p.LLen(ctx, pending)
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return unavailable(err)
	}
	for _, q := range asked {
		switch total := q.total.Val(); {
		case q.index.Err() == nil:
			q.job.QueuePosition = new(int(max(0, total-1-q.index.Val())))
		case total > positionDepth:
			q.job.QueuePosition = new(positionDepth)
		}
	}
	return nil
}
