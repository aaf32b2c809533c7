package redistest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Cluster is a Redis Cluster of a test, on ports of 127.0.0.1.
type Cluster struct {
	// Address is its comma list, as REDIS_URL takes it.
	Address string
	nodes   []*Server
	ports   []int
}

// StartCluster runs a cluster without replicas. Each node but the last serves
// only the slot of one of the keys, so that a test can take exactly that key
// away; the last one serves all the others. The nodes keep an append-only file,
// and those that live go on while another is down.
func StartCluster(t testing.TB, keys ...string) *Cluster {
	t.Helper()
	c := &Cluster{}
	var addresses []string
	for range len(keys) + 1 {
		port, bus := FreePort(t), FreePort(t)
		node := run(t, "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--cluster-port", strconv.Itoa(bus),
			"--cluster-enabled", "yes", "--cluster-node-timeout", "1000", "--cluster-require-full-coverage", "no",
			"--appendonly", "yes", "--appendfsync", "always")
		c.nodes, c.ports = append(c.nodes, node), append(c.ports, port)
		addresses = append(addresses, "redis://127.0.0.1:"+strconv.Itoa(port))
		if len(c.nodes) > 1 {
			c.do(t, 0, "cluster", "meet", "127.0.0.1", port, bus)
		}
	}
	c.Address = strings.Join(addresses, ",")
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

// Kill ends a node at once; those that are left notice it.
func (c *Cluster) Kill(node int) { c.nodes[node].Kill() }

// Restart starts a killed node on its data and waits until the cluster is whole.
func (c *Cluster) Restart(t testing.TB, node int) {
	t.Helper()
	c.nodes[node].Restart()
	c.wait(t)
}

// wait returns when every node knows every other as reachable and all slots.
func (c *Cluster) wait(t testing.TB) {
	t.Helper()
	whole := func(node int) bool {
		client := c.nodes[node].client()
		defer client.Close()
		info := client.ClusterInfo(t.Context()).Val()
		return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_slots_ok:16384") &&
			strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d\r", len(c.nodes))) &&
			!strings.Contains(client.ClusterNodes(t.Context()).Val(), "fail")
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		all := true
		for node := range c.nodes {
			all = all && whole(node)
		}
		if all {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the cluster was not whole within 30 s")
		}
	}
}

func (c *Cluster) do(t testing.TB, node int, args ...any) *redis.Cmd {
	t.Helper()
	client := c.nodes[node].client()
	defer client.Close()
	cmd := client.Do(context.Background(), args...)
	if err := cmd.Err(); err != nil {
		t.Fatalf("%v: %v", args[:2], err)
	}
	return cmd
}

func (c *Cluster) slot(t testing.TB, key string) int {
	t.Helper()
	slot, err := c.do(t, 0, "cluster", "keyslot", key).Int()
	if err != nil {
		t.Fatal(err)
	}
	return slot
}

// FreePort is a port that nobody listens on now, outside of the range that systems
// take the ports of outgoing connections from.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := 20000 + rand.IntN(10000)
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		return port
	}
	t.Fatal("no free port was found")
	return 0
}
