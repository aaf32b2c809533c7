package redisdial

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/redis/go-redis/v9"
)

// Nodes returns the host:port of every server behind a Redis address. For a Cluster these are all its nodes, and
// for sentinels all sentinels, the primary and the replicas. With an error it returns the servers that it has
// found so far.
func Nodes(ctx context.Context, address string) ([]string, error) {
	o, err := readAddress(address)
	if err != nil || o.unix {
		return nil, err
	}
	var further []string

	switch {
	case o.MasterName != "":
		further, err = sentinelNodes(ctx, o)
	case o.IsClusterMode:
		further, err = clusterNodes(ctx, address)
	}

	return append(o.Addrs, further...), err
}

// clusterNodes returns the nodes of a cluster that hold slots, primaries and replicas.
func clusterNodes(ctx context.Context, address string) (nodes []string, err error) {
	client, err := Dial(address, 0)
	if err != nil {
		return nil, err
	}
	defer client.Close()

	slots, err := client.ClusterSlots(ctx).Result()
	if err != nil {
		return nil, fmt.Errorf("the nodes of the Redis cluster: %w", err)
	}

	for _, slot := range slots {
		for _, node := range slot.Nodes {
			nodes = append(nodes, node.Addr)
		}
	}

	return nodes, nil
}

// sentinelNodes returns what the first sentinel that answers knows: the primary, its replicas and the other
// sentinels. The error names every sentinel that did not answer.
func sentinelNodes(ctx context.Context, o *address) (nodes []string, err error) {
	var errs []error

	for _, addr := range o.Addrs {
		nodes, err := nodesOfSentinel(ctx, addr, o)
		if err == nil {
			return nodes, nil
		}
		errs = append(errs, fmt.Errorf("the sentinel %s: %w", addr, err))
	}

	return nil, errors.Join(errs...)
}

// nodesOfSentinel returns the addresses that a Sentinel knows: primary, replicas and other Sentinels.
func nodesOfSentinel(ctx context.Context, addr string, o *address) (nodes []string, err error) {
	sentinel := redis.NewSentinelClient(&redis.Options{
		Addr:                  addr,
		DialTimeout:           dialTimeout,
		ReadTimeout:           IOTimeout,
		ContextTimeoutEnabled: true,
		DisableIdentity:       true,
	})
	defer sentinel.Close()

	primary, err := sentinel.GetMasterAddrByName(ctx, o.MasterName).Result()
	if err != nil {
		return nil, err
	}
	nodes = append(nodes, net.JoinHostPort(primary[0], primary[1]))

	for _, list := range []*redis.MapStringStringSliceCmd{
		sentinel.Replicas(ctx, o.MasterName), sentinel.Sentinels(ctx, o.MasterName),
	} {
		if list.Err() != nil {
			return nil, list.Err()
		}

		for _, node := range list.Val() {
			nodes = append(nodes, net.JoinHostPort(node["ip"], node["port"]))
		}
	}

	return nodes, nil
}
