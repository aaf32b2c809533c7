package retention

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/storage"
)

// ClaimOptions say which Redis and which store belong together.
type ClaimOptions struct {
	// Store and Redis are what this node works on. Mandatory.
	Store storage.Store
	Redis redis.UniversalClient
	// Deployment returns the name that this Redis has given itself, see Options.
	// Mandatory.
	Deployment func(context.Context) (string, error)
	// StoreName and RedisName are for people; they hold no passwords.
	StoreName, RedisName string
	// Log gets why it was not found out whether Redis is shared. Default: discard.
	Log *slog.Logger
}

// Claim keeps two deployments from sharing a Redis, where they would take each other's
// jobs, whose sources lie in another store. Each node subscribes to a channel that is named
// after its store, so that Redis knows at any moment which stores its nodes work on; what a
// node that was killed claimed ends with its connection.
type Claim struct {
	ClaimOptions
	sub   *redis.PubSub // nil until Start
	given chan struct{} // closed when Redis has taken the claim back
}

// patience is how long Redis has to answer.
const patience = 5 * time.Second

// NewClaim wires a Claim.
func NewClaim(o ClaimOptions) *Claim {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Claim{ClaimOptions: o}
}

// Start fails when nodes on the same Redis work on another store. Where it cannot find
// out, the node starts: an outage is reported elsewhere.
func (c *Claim) Start(ctx context.Context) error {
	own, err := c.Deployment(ctx)
	if err != nil {
		c.Log.WarnContext(ctx, "whether another deployment uses this Redis is not known", "error", err)
		return nil
	}
	id, err := c.identify(ctx, own)
	if err == nil {
		var other string
		if other, err = c.other(ctx, own, id); other != "" {
			return errors.Join(fmt.Errorf("nodes on the same Redis (%s) keep their objects in %s, this one in %s: nodes of one deployment need the "+
				"same store, two deployments a Redis or a database of Redis each; to change the store, stop all nodes first", c.RedisName, other, c.StoreName), c.Stop(ctx))
		}
	}
	if err != nil {
		c.Log.WarnContext(ctx, "whether another deployment uses this Redis is not known", "error", err)
	}
	return nil
}

// identify returns what tells this store from others, whatever its address: what the first
// node of the deployment has put there.
func (c *Claim) identify(ctx context.Context, own string) (string, error) {
	key, id := storage.Deployments+own+identity, rand.Text()
	_, err := c.Store.Put(ctx, key, strings.NewReader(id), int64(len(id)), storage.Attrs{ContentType: "text/plain"})
	if errors.Is(err, storage.ErrExists) {
		id, err = read(ctx, c.Store, key)
	}
	return id, err
}

// other says that this node works on a store, and returns the name of another one on which
// nodes do, if any: one with another identity and another address, since a store may be
// emptied and may have two addresses.
func (c *Claim) other(ctx context.Context, own, id string) (other string, err error) {
	// Channels are not parted by Redis' databases, so they have the deployment's name.
	prefix := "pw:store:" + own + ":"
	c.sub = c.Redis.Subscribe(context.WithoutCancel(ctx), prefix+id+":"+c.StoreName)
	_, err = c.sub.ReceiveTimeout(ctx, patience)
	c.given = make(chan struct{})
	go c.listen(c.sub.ChannelWithSubscriptions()) // subscribes again when the connection is lost
	if err != nil {
		return "", err
	}
	var mu sync.Mutex
	ask := func(ctx context.Context, one redis.Cmdable) error {
		channels, err := one.PubSubChannels(ctx, prefix+"*").Result()
		mu.Lock()
		defer mu.Unlock()
		for _, channel := range channels {
			if itsID, name, _ := strings.Cut(strings.TrimPrefix(channel, prefix), ":"); itsID != id && name != c.StoreName {
				other = name
			}
		}
		return err
	}
	if cluster, ok := c.Redis.(*redis.ClusterClient); ok { // a server knows its own subscribers
		err = cluster.ForEachMaster(ctx, func(ctx context.Context, one *redis.Client) error { return ask(ctx, one) })
		return other, err
	}
	err = ask(ctx, c.Redis)
	return other, err
}

func (c *Claim) listen(messages <-chan any) {
	defer close(c.given)
	for m := range messages {
		if s, ok := m.(*redis.Subscription); ok && s.Kind == "unsubscribe" {
			return
		}
	}
}

// Stop gives the claim back, and waits until Redis has taken it: the end of the connection
// may come to Redis after the next node has asked.
func (c *Claim) Stop(ctx context.Context) error {
	if c.sub == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if c.sub.Unsubscribe(ctx) == nil {
		select {
		case <-c.given:
		case <-ctx.Done():
		}
	}
	return c.sub.Close()
}
