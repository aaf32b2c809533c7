package record

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func TestSubmissionsRenewTheirOwnersListEveryHour(t *testing.T) {
	t.Parallel()
	r := newRecords(t, 24*time.Hour)
	ctx := t.Context()

	for _, owner := range []string{"ann", "bob", "bob"} {
		// Pretend that an hour has passed and that the list is about to expire.
		r.mu.Lock()
		r.owners[owner] = r.owners[owner].Add(-renewOwnerEvery)
		r.mu.Unlock()
		r.rdb.Expire(ctx, OwnerKey(owner), time.Minute)
		createJob(t, r, owner)

		if ttl := r.rdb.TTL(ctx, OwnerKey(owner)).Val(); ttl < 2*r.ttl-time.Minute {
			t.Errorf("the list of %s expires in %s, want about %s", owner, ttl, 2*r.ttl)
		}
	}
}

// scriptsOnly is a go-redis hook that fails the commands of a pipeline other than scripts.
type scriptsOnly struct{}

func (scriptsOnly) DialHook(next redis.DialHook) redis.DialHook { return next }

func (scriptsOnly) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

// ProcessPipelineHook sends only scripts, as if the process had died before the other commands.
func (scriptsOnly) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		var scripts []redis.Cmder

		for _, cmd := range cmds {
			if strings.HasPrefix(cmd.Name(), "eval") {
				scripts = append(scripts, cmd)
			} else {
				cmd.SetErr(redis.ErrClosed)
			}
		}

		if err := next(ctx, scripts); err != nil || len(scripts) == len(cmds) {
			return err
		}

		return redis.ErrClosed
	}
}

func TestASubmissionSucceedsIfOnlyItsScriptIsExecuted(t *testing.T) {
	t.Parallel()
	r := newRecords(t, 24*time.Hour)
	r.rdb.AddHook(scriptsOnly{})
	createJob(t, r, "ann")

	if ttl := r.rdb.TTL(t.Context(), OwnerKey("ann")).Val(); ttl < 2*r.ttl-time.Minute {
		t.Errorf("the owner's list expires in %s, want about %s", ttl, 2*r.ttl)
	}

	if !r.renewalDue("ann") {
		t.Error("the list counts as renewed although the command failed")
	}
}
