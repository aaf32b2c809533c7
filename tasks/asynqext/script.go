package asynqext

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"net"

	"github.com/redis/go-redis/v9"
)

// serverTime is Lua that reads the time of Redis, because the clocks of machines differ. Nanoseconds do not fit
// into a Lua number, so they are text.
const serverTime = `
local clock = redis.call('TIME')
local function nanos() return string.format('%s%06d000', clock[1], clock[2]) end
`

// hook is a go-redis hook on single commands. Asynq sends none of the relevant commands in a pipeline.
type hook func(ctx context.Context, cmd redis.Cmder, next redis.ProcessHook) error

// DialHook, ProcessPipelineHook and ProcessHook implement redis.Hook.
func (h hook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (h hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { return h(ctx, cmd, next) }
}

// scriptOf returns the keys and arguments of a script call.
func scriptOf(cmd redis.Cmder) (keys []string, argv []any) {
	args := cmd.Args()
	if name := cmd.Name(); (name != "evalsha" && name != "eval") || len(args) < 3 {
		return nil, nil
	}

	n, ok := args[2].(int)
	if !ok || n < 0 || len(args) < 3+n {
		return nil, nil
	}

	keys = make([]string, n)
	for i := range keys {
		if keys[i], ok = args[3+i].(string); !ok {
			return nil, nil
		}
	}

	return keys, args[3+n:]
}

// digest returns the SHA-1 by which Redis names a script.
func digest(script string) string {
	sum := sha1.Sum([]byte(script))
	return hex.EncodeToString(sum[:])
}

// noScript is Redis's answer to a digest that it does not know.
type noScript struct{}

func (noScript) Error() string { return "NOSCRIPT No matching script. Please use EVAL." }

// RedisError marks it as an answer of the server.
func (noScript) RedisError() {}

// IsOutage reports whether a command that failed with err may succeed if it is sent again in a moment. err is not
// nil. The server's answers of an outage are those of a start, a failover or a lost shard. Every error that is not
// an answer counts as an outage, unless the client was closed.
func IsOutage(err error) bool {
	if _, ok := errors.AsType[redis.Error](err); ok {
		return redis.HasErrorPrefix(err, "LOADING") || redis.HasErrorPrefix(err, "READONLY") ||
			redis.HasErrorPrefix(err, "MASTERDOWN") || redis.HasErrorPrefix(err, "CLUSTERDOWN")
	}

	return !errors.Is(err, net.ErrClosed) && !errors.Is(err, redis.ErrClosed)
}
