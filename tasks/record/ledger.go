package record

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/tasks/clock"
)

const (
	// firstSweep is how long after its creation the sweeper first checks a job. By then its submission has long
	// put the task on the queue, or has died.
	firstSweep = 15 * time.Second
	// sweepAgain is the time between two checks of an open job.
	sweepAgain = 30 * time.Second
	// PackAfter is how long a job stays unpacked after its end: most reads of an ended job come in
	// that time.
	PackAfter = time.Hour
)

// openScript adds a job to the ledger. KEYS: the ledger. ARGV: the id; when it is due, in ms from now.
var openScript = redis.NewScript(clock.Lua + `
return redis.call('ZADD', KEYS[1], 'NX', millis() + ARGV[2], ARGV[1])
`)

// dueScript answers the ids that are due, and postpones them, so that no two workers handle the same job.
// KEYS: the ledger. ARGV: how far after now an id may be due, in ms; how far to postpone it, in ms; the
// largest number of ids.
var dueScript = redis.NewScript(clock.Lua + `
local now = millis() + ARGV[1]
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[3])
for _, id in ipairs(ids) do redis.call('ZADD', KEYS[1], 'XX', now + ARGV[2], id) end
return ids
`)

// OpenLedger puts a job into the ledger unless it is there. It sends the whole script: the script is short, and a
// digest unknown to Redis would leave the record without a ledger entry. It may be part of a pipeline.
func (r *Records) OpenLedger(ctx context.Context, c redis.Scripter, id string) *redis.Cmd {
	return openScript.Eval(ctx, c, []string{LedgerKey}, id, firstSweep.Milliseconds())
}

// Due returns the ids of at most limit jobs of a sorted set (LedgerKey or SettledKey) that are due
// by now plus ahead. Later calls, of any worker, do not return them for half a minute.
func (r *Records) Due(ctx context.Context, key string, ahead time.Duration, limit int) ([]string, error) {
	return dueScript.Run(ctx, r.rdb, []string{key},
		ahead.Milliseconds(), sweepAgain.Milliseconds(), limit).StringSlice()
}

// MarkSettled takes a job whose end needs no more work off the ledger, and lets it be packed after PackAfter.
// Errors: QueueUnavailable.
func (r *Records) MarkSettled(ctx context.Context, id string) error {
	_, err := r.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.ZRem(ctx, LedgerKey, id)
		p.ZAdd(ctx, SettledKey, redis.Z{Score: float64(r.clock.Now().Add(PackAfter).UnixMilli()), Member: id})

		return nil
	})
	if err != nil {
		return Unavailable(err)
	}

	return nil
}
