package retention_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/internal/test/redistest"
	"presswork/storage"
	"presswork/storage/retention"
)

// site is a Redis with a name of its own.
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
	dial := redis.NewDialer(o)
	o.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		return lingering{conn}, err
	}
	s := site{redis.NewClient(o), rand.Text()}
	t.Cleanup(func() { s.rdb.Close() })
	return s
}

// lingering is a connection that ends a moment after it was closed, as one does that somebody
// still reads from.
type lingering struct{ net.Conn }

func (l lingering) Close() error {
	time.AfterFunc(300*time.Millisecond, func() { l.Conn.Close() })
	return nil
}

func (s site) deployment(context.Context) (string, error) { return s.id, nil }

// claim starts a node that goes on until the test ends.
func (s site) claim(t *testing.T, store storage.Store, name string) (*retention.Claim, error) {
	t.Helper()
	c := retention.NewClaim(retention.ClaimOptions{Store: store, Redis: s.rdb, Deployment: s.deployment, StoreName: name, RedisName: s.id})
	t.Cleanup(func() { c.Stop(context.Background()) })
	return c, c.Start(t.Context())
}

func TestNodesOnOneRedisWorkOnOneStore(t *testing.T) {
	t.Parallel()
	a, b := newSite(t), newSite(t)
	store, other := openDisk(t, t.TempDir()), openDisk(t, t.TempDir())
	nodes := make([]*retention.Claim, 6)
	var starts sync.WaitGroup
	for i := range nodes { // at once, by two addresses
		starts.Go(func() {
			var err error
			if nodes[i], err = a.claim(t, store, fmt.Sprint("bucket a ", i%2)); err != nil {
				t.Error(err)
			}
		})
	}
	starts.Wait()
	_, err := a.claim(t, other, "bucket b")
	if err == nil {
		t.Fatal("another store was taken")
	}
	for _, want := range []string{"bucket a", "bucket b", a.id} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %q", want, err)
		}
	}
	if _, err := b.claim(t, other, "bucket b"); err != nil {
		t.Errorf("each with its own: %v", err)
	}
	// The store may be another one once nobody uses the first.
	for _, c := range nodes {
		if err := c.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if _, err := a.claim(t, other, "bucket b"); err != nil {
		t.Errorf("after the end of the others: %v", err)
	}
	if _, err := a.claim(t, openDisk(t, t.TempDir()), "bucket b"); err != nil {
		t.Errorf("the store was emptied: %v", err)
	}
}

// A database of Redis is a Redis of its own, though it hears the same channels.
func TestDeploymentsMayShareARedisServer(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	b := site{a.rdb, rand.Text()}
	for name, s := range map[string]site{"bucket a": a, "bucket b": b} {
		if _, err := s.claim(t, openDisk(t, t.TempDir()), name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNothingIsDeletedWhileAnotherDeploymentUsesTheStore(t *testing.T) {
	t.Parallel()
	a, b := newKeeping(t, retention.Options{}), newKeeping(t, retention.Options{})
	b.store, b.opts.Store = a.store, a.store
	keepers := map[*keeping]*retention.Keeper{}
	for name, k := range map[string]*keeping{"a": a, "b": b} {
		k.opts.Deployment = func(context.Context) (string, error) { return name, nil }
		k.opts.RedisName = "the Redis of " + name
		keepers[k] = k.keeper()
	}
	turn := func(ks ...*keeping) {
		t.Helper()
		for _, k := range ks {
			sweep(t, keepers[k])
		}
		for _, k := range []*keeping{a, b} {
			k.pass(time.Minute)
		}
	}
	there := func() bool {
		_, err := a.store.Stat(t.Context(), "artifacts/old.pdf")
		return err == nil
	}
	turn(a)
	a.add(t, keepers[a], "artifacts/old.pdf")
	turn(b)
	for _, k := range []*keeping{a, b} {
		k.pass(31 * day)
	}
	for range 30 {
		turn(a, b)
	}
	if !there() {
		t.Error("an artifact was deleted while two deployments used the store")
	}
	for range 10 { // b has ended
		if !there() {
			t.Error("an artifact was deleted while it was not known whether another deployment had ended")
		}
		turn(a)
	}
	turn(a)
	if there() {
		t.Error("nothing is deleted after the other deployment has ended")
	}
	for info, err := range a.store.List(t.Context(), storage.Deployments) {
		if err != nil || !strings.HasPrefix(info.Key, storage.Deployments+"a/") {
			t.Errorf("left: %s %v", info.Key, err)
		}
	}
}

func TestANodeIsNotForgottenOnTheFormerStore(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	former, store := openDisk(t, t.TempDir()), openDisk(t, t.TempDir())
	node, err := a.claim(t, former, "former")
	if err == nil {
		err = node.Stop(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.claim(t, store, "new"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.claim(t, former, "former"); err == nil {
		t.Error("a node works on the store that the others have left")
	}
}

// full is a store without space.
type full struct{ storage.Store }

func (full) Put(context.Context, string, io.Reader, int64, storage.Attrs) (storage.Info, error) {
	return storage.Info{}, storage.ErrFull
}

func TestAStoreWithoutSpaceIsSwept(t *testing.T) {
	t.Parallel()
	k := newKeeping(t, retention.Options{Deployment: func(context.Context) (string, error) { return "a", nil }})
	sweep(t, k.keeper()) // leaves a mark
	k.opts.Store = full{k.store}
	keeper := k.keeper()
	k.add(t, keeper, "artifacts/old.pdf")
	k.pass(31 * day)
	sweep(t, keeper)
	if _, err := k.store.Stat(t.Context(), "artifacts/old.pdf"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("what is past its retention was left in a full store: %v", err)
	}
}
