package redistest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"presswork/internal/test/freeport"
	"presswork/internal/test/wait"
)

// Replicated is a primary, a replica, and the sentinel that knows which is which.
type Replicated struct {
	// Address is its redis-sentinel:// address.
	Address string

	t       testing.TB
	servers [2]*Server
	watcher *redis.SentinelClient
}

// primaryName is the name under which the sentinel knows the primary.
const primaryName = "presswork"

// StartReplicated runs two durable servers with their files below dir. The sentinel promotes the replica only when
// Failover requests it, because a test starts a killed primary again.
func StartReplicated(t testing.TB, dir string) *Replicated {
	t.Helper()

	r := &Replicated{t: t}
	for i := range r.servers {
		own := filepath.Join(dir, fmt.Sprintf("redis%d", i))
		if err := os.Mkdir(own, 0o700); err != nil {
			t.Fatal(err)
		}
		r.servers[i] = StartDurableIn(t, own)
	}

	if err := r.servers[1].Client().Do(t.Context(), "replicaof", "127.0.0.1", r.servers[0].port).Err(); err != nil {
		t.Fatal(err)
	}
	port := freeport.Take(t)
	config := filepath.Join(dir, "sentinel.conf")

	text := fmt.Sprintf("port %s\nbind 127.0.0.1\ndir %s\nsentinel monitor %s 127.0.0.1 %s 1\n"+
		"sentinel down-after-milliseconds %s 3600000\nsentinel failover-timeout %s 5000\n",
		port, dir, primaryName, r.servers[0].port, primaryName, primaryName)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	cmd := exec.Command("redis-server", config, "--sentinel")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	r.watcher = redis.NewSentinelClient(&redis.Options{Addr: "127.0.0.1:" + port})
	t.Cleanup(func() { r.watcher.Close() })
	r.await("the sentinel knows the replica", func(ctx context.Context) bool {
		replicas, err := r.watcher.Replicas(ctx, primaryName).Result()

		return err == nil && len(replicas) == 1 && replicas[0]["flags"] == "slave" &&
			replicas[0]["master-link-status"] == "ok"
	})
	r.Address = fmt.Sprintf("redis-sentinel://127.0.0.1:%s/%s", port, primaryName)

	return r
}

// Primary returns the server that accepts writes now.
func (r *Replicated) Primary() *Server {
	r.t.Helper()

	address, err := r.watcher.GetMasterAddrByName(r.t.Context(), primaryName).Result()
	if err != nil || len(address) != 2 {
		r.t.Fatalf("the sentinel names no primary: %v", err)
	}

	if address[1] == r.servers[1].port {
		return r.servers[1]
	}

	return r.servers[0]
}

// Servers returns both servers in arbitrary order.
func (r *Replicated) Servers() []*Server { return r.servers[:] }

// Failover makes the replica the primary, as a careful operator does. It first waits until the replica's file is
// complete, then pauses writes until the replica has all of them. Replication is asynchronous, so that a promotion
// without the pause may lose the last writes.
func (r *Replicated) Failover() {
	r.t.Helper()
	before := r.Primary()

	old := before.Client()
	defer old.Close()
	r.await("the replica follows, and its file is complete", func(ctx context.Context) bool {
		return strings.Contains(old.Info(ctx, "replication").Val(), "state=online") && r.servers[0].fileComplete(ctx) &&
			r.servers[1].fileComplete(ctx)
	})

	if err := old.Do(r.t.Context(), "client", "pause", 60_000, "write").Err(); err != nil {
		r.t.Fatal(err)
	}
	r.await("the replica has every write", func(ctx context.Context) bool {
		var offset, copied int64

		for line := range strings.Lines(old.Info(ctx, "replication").Val()) {
			if rest, ok := strings.CutPrefix(line, "master_repl_offset:"); ok {
				fmt.Sscan(rest, &offset)
			} else if _, rest, ok := strings.Cut(line, ",offset="); ok {
				fmt.Sscan(strings.Split(rest, ",")[0], &copied)
			}
		}

		return offset > 0 && offset == copied
	})

	if err := r.watcher.Failover(r.t.Context(), primaryName).Err(); err != nil {
		r.t.Fatal(err)
	}
	r.await("the replica is the primary", func(context.Context) bool { return r.Primary() != before })
	// The sentinel demotes the old primary only after the pause, because it cannot publish there. Until then
	// clients could read old states.
	for _, command := range [][]any{
		{"replicaof", "127.0.0.1", r.Primary().port},
		{"client", "kill", "type", "normal"},
	} {
		if err := old.Do(r.t.Context(), command...).Err(); err != nil {
			r.t.Fatal(err)
		}
	}
	r.await("the old primary is the replica", func(ctx context.Context) bool {
		return strings.Contains(old.Info(ctx, "replication").Val(), "role:slave")
	})

	if err := old.Do(r.t.Context(), "client", "unpause").Err(); err != nil {
		r.t.Fatal(err)
	}
}

// await waits until the condition holds. what names it.
func (r *Replicated) await(what string, condition func(context.Context) bool) {
	r.t.Helper()
	wait.Until(r.t, what, func() bool { return condition(r.t.Context()) })
}
