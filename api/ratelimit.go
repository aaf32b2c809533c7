package api

import (
	"cmp"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/redis/go-redis/v9"

	"presswork"
)

// limit holds the requests per minute of a key, counted in Redis so that all
// nodes count together; without keys, of a client's address. When Redis does
// not answer, nobody is held back.
func (s *Server) limit(c *fiber.Ctx, call *call) error {
	most := cmp.Or(call.who.rpm, s.RateLimitRPM)
	if most == 0 || s.Redis == nil {
		return nil
	}
	ctx, cancel := s.deadline()
	defer cancel()
	now := time.Now()
	minute := now.Truncate(time.Minute)
	name := "pw:rate:" + clientOf(c.Context()) + ":" + strconv.FormatInt(minute.Unix(), 10)
	var count *redis.IntCmd
	_, err := s.Redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		count = p.Incr(ctx, name)
		p.Expire(ctx, name, 2*time.Minute)
		return nil
	})
	if err != nil {
		s.Log.Warn("the rate limit is not held: Redis did not answer", "error", err)
		return nil
	}
	left := max(0, int64(most)-count.Val())
	reset := minute.Add(time.Minute).Sub(now)
	c.Set("X-Ratelimit-Limit-Requests", strconv.Itoa(most))
	c.Set("X-Ratelimit-Remaining-Requests", strconv.FormatInt(left, 10))
	c.Set("X-Ratelimit-Reset-Requests", reset.Round(time.Millisecond).String())
	if count.Val() <= int64(most) {
		return nil
	}
	seconds := int(reset/time.Second) + 1
	c.Set(fiber.HeaderRetryAfter, strconv.Itoa(seconds))
	return presswork.Errorf(presswork.RateLimited, "this key may make %d requests a minute; try again in %d s", most, seconds)
}
