package retention

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/storage"
)

// ClaimOptions say which Redis and which store belong together.
type ClaimOptions struct {
	// Store and Redis are what this node works on. Mandatory.
	Store storage.Store
	Redis redis.UniversalClient
	// Deployment returns the name that this Redis has given itself: of letters and
	// digits, lost with its data. Mandatory.
	Deployment func(context.Context) (string, error)
	// StoreName and RedisName are for people; they hold no passwords.
	StoreName, RedisName string
	// Interval is the time between two renewals. Default 15 s.
	Interval time.Duration
	// Log gets what a start waits for. Default: discard.
	Log *slog.Logger
}

// Claim keeps two deployments from sharing a Redis or a store, where they would take each
// other's jobs and delete each other's sources. While nodes run, one of them puts a new
// object into the store every Interval, below the deployment's name, and notes its key in
// Redis. A node that starts must find in its store the object that Redis names, and no
// other deployment's. What it finds instead may be left from nodes that were killed, so it
// watches whether that is renewed. Nothing depends on clocks, and nothing has to be
// cleared by hand after a loss, a move or a restored backup.
type Claim struct {
	ClaimOptions
	cancel context.CancelFunc // ends the loop; nil until Start
	done   chan struct{}
	last   string // the key of the object that this node put last; the loop's
}

const (
	claimKey   = "pw:{keep}:claim"   // the key of the latest object, and the name of its store
	renewerKey = "pw:{keep}:renewer" // is there until the claim is to be renewed
)

// dropScript gives back a claim that no other node has renewed since.
var dropScript = redis.NewScript(`
local claim = redis.call('GET', KEYS[1])
return claim and string.sub(claim, 1, #ARGV[1]) == ARGV[1] and redis.call('DEL', KEYS[1], KEYS[2]) or 0`)

// NewClaim wires a Claim.
func NewClaim(o ClaimOptions) *Claim {
	if o.Interval == 0 {
		o.Interval = 15 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Claim{ClaimOptions: o, done: make(chan struct{})}
}

// lasts is how long a claim that nobody renews counts. The next renewal is due after an
// Interval, is tried every third of one, and takes a moment.
func (c *Claim) lasts() time.Duration { return c.Interval * 5 / 2 }

// Start fails when the store is another deployment's, or this Redis' nodes work on another
// store. Where it cannot find out, the node starts: an outage is reported elsewhere.
func (c *Claim) Start(ctx context.Context) error {
	if err := c.check(ctx); err != nil {
		return err
	}
	ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go c.loop(ctx)
	return nil
}

// Stop gives the claim back unless another node has renewed it since.
func (c *Claim) Stop(ctx context.Context) error {
	if c.cancel == nil {
		return nil
	}
	c.cancel()
	<-c.done
	if c.last == "" {
		return nil
	}
	dropped, err := dropScript.Run(ctx, c.Redis, []string{claimKey, renewerKey}, c.last+" ").Int()
	if err == nil && dropped > 0 {
		err = c.Store.Delete(ctx, c.last)
	}
	if err != nil {
		c.Log.DebugContext(ctx, "the claim of the store was not given back; it ends by itself", "after", c.lasts(), "error", err)
	}
	return nil
}

// conflict is a claim that is not this node's deployment's on this store.
type conflict struct {
	objects []string // of another deployment, in this store
	noted   string   // in this Redis, of another store
	err     error
}

// renewed reports whether nodes that run have made one conflict of the other.
func (c conflict) renewed(since conflict) bool {
	return c.noted != since.noted || !slices.Equal(c.objects, since.objects)
}

// check watches conflicts until they are gone, renewed or old.
func (c *Claim) check(ctx context.Context) error {
	first, err := c.conflicts(ctx)
	now := first
	for until := time.Now().Add(c.lasts()); len(now) > 0 || err != nil; {
		switch {
		case err != nil && time.Now().After(until):
			c.Log.WarnContext(ctx, "whether another deployment shares the Redis or the store is not known", "error", err)
			return nil
		case time.Now().After(until):
			return c.clear(ctx, now)
		}
		for _, found := range now {
			c.Log.WarnContext(ctx, "waiting whether other nodes still run", "limit", c.lasts().String(), "error", found.err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(c.Interval / 3):
		}
		if now, err = c.conflicts(ctx); first == nil {
			first = now
		}
		for name, found := range now {
			if before, seen := first[name]; seen && found.renewed(before) {
				return found.err
			}
		}
	}
	return nil
}

// clear deletes what deployments have left that are gone.
func (c *Claim) clear(ctx context.Context, left map[string]conflict) error {
	var errs []error
	for _, old := range left {
		for _, key := range old.objects {
			errs = append(errs, c.Store.Delete(ctx, key))
		}
	}
	return errors.Join(errs...)
}

// conflicts returns those of the moment, by the name of the other deployment, which of
// those on the same Redis is empty.
func (c *Claim) conflicts(ctx context.Context) (map[string]conflict, error) {
	own, err := c.Deployment(ctx)
	if err != nil {
		return nil, err
	}
	noted, err := c.noted(ctx)
	if err != nil {
		return nil, err
	}
	object, store, _ := strings.Cut(noted, " ")
	here, out := noted == "", map[string]conflict{}
	for info, err := range c.Store.List(ctx, storage.Deployments) {
		if err != nil {
			return nil, err
		}
		here = here || info.Key == object
		name, _, _ := strings.Cut(strings.TrimPrefix(info.Key, storage.Deployments), "/")
		if name == own {
			continue
		}
		other := out[name]
		other.objects = append(other.objects, info.Key)
		other.err = fmt.Errorf("%s is in use by the nodes of another Redis (%s), this one has %s: "+
			"nodes of one deployment need the same REDIS_URL, two deployments a store each", c.StoreName, c.redisOf(ctx, info.Key), c.RedisName)
		out[name] = other
	}
	if here {
		return out, nil
	}
	// It may have been renewed before the store was listed.
	if now, err := c.noted(ctx); err != nil || now != noted {
		return out, err
	}
	out[""] = conflict{noted: noted, err: fmt.Errorf("nodes on the same Redis (%s) keep their objects in %s, this one in %s: nodes of one deployment "+
		"need the same store, two deployments a Redis or a database of Redis each; when a store is moved, stop all nodes first", c.RedisName, store, c.StoreName)}
	return out, nil
}

// noted returns the claim of the nodes on this Redis, empty when none run.
func (c *Claim) noted(ctx context.Context) (string, error) {
	noted, err := c.Redis.Get(ctx, claimKey).Result()
	if errors.Is(err, redis.Nil) {
		err = nil
	}
	return noted, err
}

// redisOf is the name of the Redis whose nodes put a claim.
func (c *Claim) redisOf(ctx context.Context, key string) string {
	r, _, err := c.Store.Get(ctx, key, storage.Range{})
	if err != nil {
		return "unknown"
	}
	defer r.Close()
	name, _ := io.ReadAll(io.LimitReader(r, 1<<10))
	return string(name)
}

func (c *Claim) loop(ctx context.Context) {
	defer close(c.done)
	ticker := time.NewTicker(c.Interval / 3)
	defer ticker.Stop()
	for {
		if err := c.renew(ctx); err != nil && ctx.Err() == nil {
			c.Log.DebugContext(ctx, "the claim of the store was not renewed; it will be tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// renew puts a new object and notes it, when that is due and no other node does it.
func (c *Claim) renew(ctx context.Context) error {
	due, err := c.Redis.SetNX(ctx, renewerKey, "", c.Interval).Result()
	if err != nil || !due {
		return err
	}
	own, err := c.Deployment(ctx)
	if err != nil {
		return err
	}
	key := storage.Deployments + own + "/" + rand.Text()
	if _, err := c.Store.Put(ctx, key, strings.NewReader(c.RedisName), int64(len(c.RedisName)), storage.Attrs{ContentType: "text/plain"}); err != nil {
		return err
	}
	// After a loss of Redis' data, what this node put before is another deployment's.
	outdated := []string{c.last}
	c.last = key
	noted, err := c.Redis.SetArgs(ctx, claimKey, key+" "+c.StoreName, redis.SetArgs{TTL: c.lasts(), Get: true}).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	before, _, _ := strings.Cut(noted, " ")
	var errs []error
	for _, key := range append(outdated, before) {
		if key != "" {
			errs = append(errs, c.Store.Delete(ctx, key))
		}
	}
	return errors.Join(errs...)
}
