package redistest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"presswork/internal/test/freeport"
	"presswork/internal/test/wait"
)

// Cluster is a Redis Cluster of a test, on ports of 127.0.0.1.
type Cluster struct {
	// Address is the comma list for REDIS_URL.
	Address string
	nodes   []*Server
}

// StartCluster runs a cluster without replicas. Each node but the last serves only the slot of one of the keys, so
// that a test can make one key unavailable. The last node serves the other slots. The nodes keep an append-only file,
// and other nodes keep serving while one is down.
func StartCluster(t testing.TB, keys ...string) *Cluster {
	t.Helper()

	c := &Cluster{}
	for range len(keys) + 1 {
		// A node that receives nothing for so many milliseconds rejects all commands. A busy machine needs them.
		c.add(t, "--cluster-node-timeout", "5000")
	}
	last := len(keys)
	taken := map[int]bool{}

	for i, key := range keys {
		slot := c.slot(t, key)
		c.do(t, i, "cluster", "addslots", slot)
		taken[slot] = true
	}
	rest := []any{"cluster", "addslots"}

	for slot := range 16384 {
		if !taken[slot] {
			rest = append(rest, slot)
		}
	}
	c.do(t, last, rest...)
	c.wait(t)

	return c
}

// StartReplicatedCluster runs three primaries and a replica of each with their files
// below dir. The cluster promotes a replica when its primary has not answered for five seconds.
func StartReplicatedCluster(t testing.TB, dir string) *Cluster {
	t.Helper()
	const primaries = 3
	c := &Cluster{}

	for n := range 2 * primaries {
		own := filepath.Join(dir, fmt.Sprintf("redis%d", n))
		if err := os.Mkdir(own, 0o700); err != nil {
			t.Fatal(err)
		}
		// With the factor 0, a replica is promoted however long it was without its primary.
		c.add(t, "--cluster-node-timeout", "5000", "--cluster-replica-validity-factor", "0", "--dir", own)
	}

	for n := range primaries {
		c.do(t, n, "cluster", "addslotsrange", n*16384/primaries, (n+1)*16384/primaries-1)
	}
	c.wait(t)

	for n := range primaries {
		c.do(t, n+primaries, "cluster", "replicate", c.do(t, n, "cluster", "myid").Val())
	}
	c.wait(t)

	return c
}

// add starts a node and introduces it to the first.
func (c *Cluster) add(t testing.TB, args ...string) {
	t.Helper()
	port, bus := freeport.Take(t), freeport.Take(t)

	c.nodes = append(c.nodes, run(t, append([]string{
		"--port", port, "--bind", "127.0.0.1", "--cluster-port", bus, "--cluster-enabled", "yes",
		"--cluster-require-full-coverage", "no", "--appendonly", "yes", "--appendfsync", "always",
	}, args...)...))
	if len(c.nodes) > 1 {
		c.Address += ","
		c.do(t, 0, "cluster", "meet", "127.0.0.1", port, bus)
	}
	c.Address += "redis://127.0.0.1:" + port
}

// Servers returns all nodes in arbitrary order.
func (c *Cluster) Servers() []*Server { return c.nodes }

// Primaries returns the nodes that accept writes now.
func (c *Cluster) Primaries() (primaries []*Server) {
	for _, node := range c.nodes {
		client := node.Client()
		if strings.Contains(client.Info(context.Background(), "replication").Val(), "role:master") {
			primaries = append(primaries, node)
		}
		client.Close()
	}

	return primaries
}

// Kill ends a node at once, as kill -9 does.
func (c *Cluster) Kill(node int) { c.nodes[node].Kill() }

// Restart starts a killed node on its data and waits until the cluster is complete.
func (c *Cluster) Restart(t testing.TB, node int) {
	t.Helper()
	c.nodes[node].Restart()
	c.wait(t)
}

// wait returns when every node can reach every other node and knows all slots. Each replica then has all data of
// its primary, in memory and in its file.
func (c *Cluster) wait(t testing.TB) {
	t.Helper()
	complete := func(node int) bool {
		client := c.nodes[node].Client()
		defer client.Close()
		info := client.ClusterInfo(t.Context()).Val()

		return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_slots_ok:16384") &&
			!strings.Contains(client.Info(t.Context(), "replication").Val(), "master_link_status:down") &&
			strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d\r", len(c.nodes))) &&
			!strings.Contains(client.ClusterNodes(t.Context()).Val(), "fail") && c.nodes[node].fileComplete(t.Context())
	}
	wait.Until(t, "the cluster is complete", func() bool {
		for node := range c.nodes {
			if !complete(node) {
				return false
			}
		}

		return true
	})
}

// do runs a command on a node. It fails the test if the command fails.
func (c *Cluster) do(t testing.TB, node int, args ...any) *redis.Cmd {
	t.Helper()

	client := c.nodes[node].Client()
	defer client.Close()

	cmd := client.Do(context.Background(), args...)
	if err := cmd.Err(); err != nil {
		t.Fatalf("%v: %v", args[:2], err)
	}

	return cmd
}

// slot returns the slot of a key.
func (c *Cluster) slot(t testing.TB, key string) int {
	t.Helper()

	slot, err := c.do(t, 0, "cluster", "keyslot", key).Int()
	if err != nil {
		t.Fatal(err)
	}

	return slot
}
