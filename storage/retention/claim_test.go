package retention_test

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/storage"
	"presswork/storage/retention"
)

// site is a Redis with a name of its own; where names a store.
type site struct {
	rdb *redis.Client
	id  string
}

func newSite(t *testing.T) site {
	t.Helper()
	o, err := redis.ParseURL(redistest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	s := site{redis.NewClient(o), rand.Text()}
	t.Cleanup(func() { s.rdb.Close() })
	return s
}

func (s site) claim(store storage.Store, where string, interval time.Duration) *retention.Claim {
	return retention.NewClaim(retention.ClaimOptions{
		Store: store, Redis: s.rdb, Deployment: func(context.Context) (string, error) { return s.id, nil },
		StoreName: where, RedisName: s.id, Interval: interval,
	})
}

// claimed starts a node that goes on until the test ends.
func claimed(t *testing.T, c *retention.Claim) {
	t.Helper()
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Stop(context.Background()) })
}

// objects waits until a store has n claims, and returns them.
func objects(t *testing.T, store storage.Store, n int) (keys []string) {
	t.Helper()
	wait.Until(t, "claims", func() bool {
		keys = nil
		for info, err := range store.List(t.Context(), storage.Deployments) {
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, info.Key)
		}
		return len(keys) == n
	})
	return keys
}

const often = 300 * time.Millisecond

func TestTwoDeploymentsMayShareNeitherRedisNorStore(t *testing.T) {
	t.Parallel()
	a, b := newSite(t), newSite(t)
	store, other := openDisk(t, t.TempDir()), openDisk(t, t.TempDir())
	claimed(t, a.claim(store, "bucket a", often))
	objects(t, store, 1)
	claimed(t, a.claim(store, "bucket a", often)) // a second node of the same deployment

	for name, c := range map[string]struct {
		claim *retention.Claim
		want  []string
	}{
		"the same Redis": {a.claim(other, "bucket b", often), []string{"bucket a", "bucket b", a.id}},
		"the same store": {b.claim(store, "bucket a", often), []string{"bucket a", a.id, b.id}},
	} {
		err := c.claim.Start(t.Context())
		if err == nil {
			c.claim.Stop(t.Context())
			t.Errorf("%s: the second deployment started", name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q is not in %q", name, want, err)
			}
		}
	}
	claimed(t, b.claim(other, "bucket b", often)) // each with its own
}

// Nodes that were killed leave their claims, and so do a Redis that has lost its data, a
// store that was made anew, and a backup.
func TestAClaimThatNobodyRenewsIsInNobodysWay(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(t *testing.T, s site, store storage.Store) (site, storage.Store){
		"Redis lost its data": func(t *testing.T, s site, store storage.Store) (site, storage.Store) {
			put(t, store, storage.Deployments+"before/ONE", "an older Redis")
			put(t, store, storage.Deployments+"before/TWO", "an older Redis")
			return s, store
		},
		"the store was made anew": func(t *testing.T, s site, _ storage.Store) (site, storage.Store) {
			if err := s.rdb.Set(t.Context(), "pw:{keep}:claim", storage.Deployments+s.id+"/ONE bucket a", often*5/2).Err(); err != nil {
				t.Fatal(err)
			}
			return s, openDisk(t, t.TempDir())
		},
		"nodes were killed": func(t *testing.T, s site, store storage.Store) (site, storage.Store) {
			key := storage.Deployments + s.id + "/ONE"
			put(t, store, key, s.id)
			if err := s.rdb.Set(t.Context(), "pw:{keep}:claim", key+" bucket a", time.Hour).Err(); err != nil {
				t.Fatal(err)
			}
			return s, store
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, store := leave(t, newSite(t), openDisk(t, t.TempDir()))
			claimed(t, s.claim(store, "bucket a", often))
			if keys := objects(t, store, 1); !strings.HasPrefix(keys[0], storage.Deployments+s.id+"/") {
				t.Errorf("%q was left", keys)
			}
		})
	}
}

// What waited for long would fail this test by its time-out: the claims last an hour.
func TestAStoppedDeploymentLeavesItsRedisAndStoreAtOnce(t *testing.T) {
	t.Parallel()
	a, b := newSite(t), newSite(t)
	store, other := openDisk(t, t.TempDir()), openDisk(t, t.TempDir())
	for range 2 {
		first := a.claim(store, "bucket a", time.Hour)
		if err := first.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		objects(t, store, 1)
		if err := first.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		objects(t, store, 0)
	}
	claimed(t, a.claim(other, "bucket b", time.Hour))
	claimed(t, b.claim(store, "bucket a", time.Hour))
}
