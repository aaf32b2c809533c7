package tasks

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// volatile keeps what a script writes out of the append-only file and from
// replicas. A call lives as long as its caller's connection, so there is nothing
// to bring back after a restart of Redis: the caller hears that the call is
// lost. Where every write is synced, the nine on the way to a first token would
// cost as many syncs of the disk, and every token one more.
const volatile = "if redis.set_repl then redis.set_repl(redis.REPL_NONE) end\n"

// volatileTickets is a go-redis hook that does the same to Asynq's scripts on
// Infer: a ticket without its call is worth nothing. Asynq sends a script by its
// digest first and whole when Redis does not know it; the hook answers for Redis
// until it has seen the whole, and sends its own form from then on.
type volatileTickets struct {
	// ours holds the digest of our form by that of Asynq's.
	ours sync.Map
}

func (v *volatileTickets) DialHook(next redis.DialHook) redis.DialHook { return next }

func (v *volatileTickets) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (v *volatileTickets) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	prefix := strings.TrimSuffix(asynqPending(Infer), "pending")
	return func(ctx context.Context, cmd redis.Cmder) error {
		keys, _ := scriptOf(cmd)
		if len(keys) == 0 || !strings.HasPrefix(keys[0], prefix) {
			return next(ctx, cmd)
		}
		args := cmd.Args()
		script, _ := args[1].(string)
		if cmd.Name() == "eval" {
			args[1] = volatile + script
			v.ours.Store(digest(script), digest(volatile+script))
			return next(ctx, cmd)
		}
		ours, known := v.ours.Load(script)
		if !known {
			cmd.SetErr(noScript{})
			return noScript{}
		}
		args[1] = ours
		return next(ctx, cmd)
	}
}

// digest is how Redis names a script.
func digest(script string) string {
	sum := sha1.Sum([]byte(script))
	return hex.EncodeToString(sum[:])
}

// noScript is Redis's answer to a digest that it does not know.
type noScript struct{}

func (noScript) Error() string { return "NOSCRIPT No matching script. Please use EVAL." }

// RedisError marks it as an answer of the server.
func (noScript) RedisError() {}
