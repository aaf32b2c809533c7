package tasks

import (
	"context"
	"encoding/json"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/tasks/stream"
)

const (
	// offerEvery is how often a worker writes what it offers, and offerTTL how long
	// that holds: a dead worker's tools are missed soon.
	offerEvery = 2 * time.Second
	offerTTL   = 7 * time.Second
)

// Offer is what a worker can do for sessions with built-in tools: by the type of each tool "",
// or the reason why it cannot be had there.
type Offer map[string]string

// Offers is what the living workers of Tools can do, together.
type Offers struct {
	// Workers counts them.
	Workers int
	// Tools holds by type "" where one of them has the tool, else the reason of one
	// that has not.
	Tools Offer
}

// offerScript says what a worker offers. KEYS: offers. ARGV: how long it holds in
// ms, the offer before this one, offer ("" for no more). It is as volatile as the
// sessions that it is for.
var offerScript = redis.NewScript(stream.Volatile + serverTime + `
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', millis())
redis.call('ZREM', KEYS[1], ARGV[2])
if ARGV[3] ~= '' then redis.call('ZADD', KEYS[1], millis() + tonumber(ARGV[1]), ARGV[3]) end
return 1
`)

// offersScript returns the offers that hold. KEYS: offers.
var offersScript = redis.NewScript(serverTime + `return redis.call('ZRANGEBYSCORE', KEYS[1], millis(), '+inf')`)

// offered is an offer as it is written, one for each worker.
type offered struct {
	Worker string `json:"worker"`
	Tools  Offer  `json:"tools"`
}

// offer publishes what this worker offers until ctx ends, and then withdraws it, so
// that a worker that drains is offered no new session.
func (s *Server) offer(ctx context.Context) {
	worker := s.name + " " + NewID() // a process may have several
	s.tell(ctx, offersKey, "offer", func() any { return offered{worker, s.offers()} })
}

// Offers returns what the living workers of Tools can do. Errors: QueueUnavailable.
func (c *Client) Offers(ctx context.Context) (Offers, error) {
	entries, err := offersScript.Run(ctx, c.rdb, []string{offersKey}).StringSlice()
	if err != nil {
		return Offers{}, unavailable(err)
	}

	all := Offers{Workers: len(entries), Tools: Offer{}}
	for _, e := range entries {
		var one offered
		if err := json.Unmarshal([]byte(e), &one); err != nil {
			c.log.Error("a worker's offer cannot be read", "err", err)
			continue
		}

		for tool, why := range one.Tools {
			if had, ok := all.Tools[tool]; !ok || had != "" {
				all.Tools[tool] = why
			}
		}
	}

	return all, nil
}
