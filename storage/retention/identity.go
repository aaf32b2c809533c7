package retention

import (
	"context"
	"crypto/rand"
	"strings"

	"github.com/redis/go-redis/v9"
)

// FenceKey is the Redis key of a hash with the identity of a deployment. A Redis without
// it belongs to a new deployment.
const FenceKey = "pw:{keep}:fence"

// identity is the content of the hash FenceKey.
type identity struct {
	Name string `redis:"name"` // of the deployment, in messages
	// Token is the token of the fence, and Next the token of its successor. Redis has it one interval before the store
	// does, so that a failover does not lose it.
	Token string `redis:"token"`
	Next  string `redis:"next"`
	// Store is the name of the store, and At when the fence was last renewed, in
	// Unix milliseconds.
	Store string `redis:"store"`
	At    int64  `redis:"at"`
}

// identity returns the identity in Redis. The first node of a deployment creates it.
func (k *Keeper) identity(ctx context.Context) (id identity, err error) {
	var all *redis.MapStringStringCmd

	_, err = k.Redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.HSetNX(ctx, FenceKey, "name", strings.ToLower(rand.Text()[:8]))
		p.HSetNX(ctx, FenceKey, "token", rand.Text())
		p.HSetNX(ctx, FenceKey, "next", rand.Text())
		p.HSetNX(ctx, FenceKey, "store", k.StoreName)
		p.HSetNX(ctx, FenceKey, "at", k.Now().UnixMilli())
		all = p.HGetAll(ctx, FenceKey)

		return nil
	})
	if err != nil {
		return id, err
	}

	return id, all.Scan(&id)
}

// advanceToken records that the fence with the next token is in the store.
func (k *Keeper) advanceToken(ctx context.Context, id identity) error {
	return k.Redis.HSet(ctx, FenceKey,
		"token", id.Next, "next", rand.Text(), "store", k.StoreName, "at", k.Now().UnixMilli()).Err()
}
