package tasks

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/tasks/asynqext"
	"presswork/tasks/record"
)

const (
	defaultLimit = 20
	// scanPage is the number of ids that one read of a list returns.
	scanPage = 200
	// maxScanned is the largest number of ids that one request reads. A filter that matches little must not read the
	// whole history of an owner.
	maxScanned = 500
)

// Jobs lists the jobs of an owner, newest first. A page may have fewer jobs than the limit, or none, and still
// report more jobs: the search continues at its cursor. Ids of expired jobs are removed from the list when they are
// read. A record that cannot be read is logged and left out. Errors: InvalidOption for a cursor that is not that of
// a page, QueueUnavailable.
func (c *Client) Jobs(ctx context.Context, owner string, q Query) (Page, error) {
	limit := q.Limit
	if limit <= 0 {
		limit = defaultLimit
	}

	if q.Cursor != "" && !ValidID(q.Cursor) {
		return Page{}, badCursor()
	}
	// Search for one more than the limit: it shows whether there are more.
	found, cursor, err := c.scan(ctx, owner, q, limit+1)
	if err != nil {
		return Page{}, err
	}

	if len(found) > limit {
		found = found[:limit]
		cursor = found[limit-1].ID
	}

	if err := c.setPositions(ctx, found); err != nil {
		return Page{}, err
	}

	page := Page{HasMore: cursor != "", NextCursor: cursor, Records: make([]Record, len(found))}
	for i, job := range found {
		page.Records[i] = job.Record
	}

	return page, nil
}

// scan collects up to n jobs that the query selects. last is the last id that it has read when it stopped before
// the end of the list, and "" otherwise.
func (c *Client) scan(
	ctx context.Context, owner string, q Query, n int,
) (found []*record.Stored, last string, err error) {
	last = q.Cursor

	for read := 0; len(found) < n && read < maxScanned; {
		from := "+"
		if last != "" {
			from = "(" + last
		}
		count := min(scanPage, 2*n, maxScanned-read)

		// All scores are equal, so Redis sorts by the ids, which begin with the time.
		ids, err := c.rdb.ZRangeArgs(ctx, redis.ZRangeArgs{
			Key: record.OwnerKey(owner), Start: "-", Stop: from, ByLex: true, Rev: true, Count: int64(count),
		}).Result()
		if err != nil {
			return nil, "", record.Unavailable(err)
		}

		jobs, expired, err := c.readListed(ctx, ids)
		if err != nil {
			return nil, "", err
		}

		for _, job := range jobs {
			if len(found) < n && q.selects(&job.Record) {
				found = append(found, job)
			}
		}

		if len(expired) > 0 {
			if err := c.rdb.ZRem(ctx, record.OwnerKey(owner), expired).Err(); err != nil {
				return nil, "", record.Unavailable(err)
			}
		}

		if len(ids) < count {
			return found, "", nil
		}
		read += len(ids)
		last = ids[len(ids)-1]
	}

	return found, last, nil
}

// readListed returns the jobs of a list in its order, and the ids of those that have expired. It logs records that
// cannot be read, and leaves them out. Errors: QueueUnavailable.
func (c *Client) readListed(ctx context.Context, ids []string) (jobs []*record.Stored, expired []string, err error) {
	all, err := c.records.ReadAll(ctx, ids)
	if err != nil {
		return nil, nil, err
	}

	for i, j := range all {
		switch {
		case j.Err != nil:
			c.log.Error("a job is not listed: its record cannot be read", "job_id", ids[i], "err", j.Err)
		case j.Job == nil:
			expired = append(expired, ids[i])
		default:
			jobs = append(jobs, j.Job)
		}
	}

	return jobs, expired, nil
}

// selects reports whether a record matches the query. The cursor and the limit are not part of it.
func (q Query) selects(r *Record) bool {
	return (q.Kind == "" || q.Kind == r.Kind) && (len(q.Statuses) == 0 || slices.Contains(q.Statuses, r.Status))
}

// setPositions sets the queue positions of one owner's queued jobs. A position is an estimate, because tasks with an
// earlier turn may be added.
func (c *Client) setPositions(ctx context.Context, jobs []*record.Stored) error {
	queued := map[Queue][]*record.Stored{}

	for _, job := range jobs {
		if job.Status == presswork.Queued {
			queued[job.Queue] = append(queued[job.Queue], job)
		}
	}

	for q, jobs := range queued {
		ids := make([]string, len(jobs))
		for i, job := range jobs {
			ids[i] = job.ID
		}

		positions, err := asynqext.Positions(ctx, c.rdb, q, jobs[0].Owner, ids)
		if err != nil {
			return record.Unavailable(err)
		}

		for i, position := range positions {
			if position >= 0 {
				jobs[i].QueuePosition = new(int(position))
			}
		}
	}

	return nil
}
