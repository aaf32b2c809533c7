package app

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"presswork/internal/config"
	"presswork/internal/guard"
	"presswork/internal/inference"
	"presswork/tasks/redisdial"
)

// newPolicies makes two policies: outbound covers the addresses in requests, exports the pages to export. Neither
// policy ever allows the addresses in own, nor those that ownNow returns; ownNow may be nil.
func newPolicies(cfg config.Config, own []string, ownNow func() []string) (outbound, exports *guard.Policy, err error) {
	outbound, err = guard.New(guard.Options{
		Allow: cfg.OutboundAllowPrivate, Setting: "OUTBOUND_ALLOW_PRIVATE", Never: own, NeverNow: ownNow,
	})
	if err != nil {
		return nil, nil, UsageError{fmt.Errorf("OUTBOUND_ALLOW_PRIVATE: %w", err)}
	}

	exports, err = guard.New(guard.Options{
		Allow: cfg.ExportAllowPrivate, Setting: "EXPORT_ALLOW_PRIVATE", Never: own, NeverNow: ownNow,
		AllowHosts: cfg.ExportAllowHosts, DenyHosts: cfg.ExportDenyHosts,
	})
	if err != nil {
		return nil, nil, UsageError{fmt.Errorf("EXPORT_ALLOW_PRIVATE, EXPORT_ALLOW_HOSTS, EXPORT_DENY_HOSTS: %w", err)}
	}

	return outbound, exports, nil
}

// ownAddresses returns the addresses of Presswork's own services that stay the same. No document and no webhook may
// reach them, even if OUTBOUND_ALLOW_PRIVATE names them.
func ownAddresses(cfg config.Config, redisURL string) ([]string, error) {
	own, err := redisdial.Hosts(redisURL)
	if err != nil {
		return nil, fmt.Errorf("REDIS_URL: %w", err)
	}

	if cfg.CacheRedisURL != "" {
		cacheHosts, err := redisdial.Hosts(cfg.CacheRedisURL)
		if err != nil {
			return nil, fmt.Errorf("CACHE_REDIS_URL: %w", err)
		}
		own = append(own, cacheHosts...)
	}
	// The listeners of the API and the worker, and the services that only the operator names.
	own = append(own, net.JoinHostPort(cfg.APIHost, strconv.Itoa(cfg.APIPort)), cfg.WorkerAddr,
		endpoint(cfg.S3Endpoint, cfg.S3UseTLS), endpoint(cfg.S3PublicEndpoint, cfg.S3UseTLS),
		endpoint(cfg.OTLPEndpoint, false), endpoint(cfg.SearXNGURL, false), endpoint(cfg.SearchURL, false))
	// Port 0 stands for a free port, which is not known yet.
	return slices.DeleteFunc(own, func(a string) bool { return a == "" || strings.HasSuffix(a, ":0") }), nil
}

const (
	// nodesInterval is how often Presswork asks for the nodes of a Redis cluster, or for those that sentinels know.
	nodesInterval = 30 * time.Second
	// nodesTimeout bounds one listing.
	nodesTimeout = 5 * time.Second
)

// changingAddresses are the addresses of Presswork's own services that change while it runs: the nodes of Redis and
// the upstreams of models. No caller may reach them through Presswork.
type changingAddresses struct {
	redisURLs []string // empty ones are skipped
	// models returns the current models, whose upstreams are addresses of Presswork's own.
	models func() *inference.Catalogue
	log    *slog.Logger
	nodes  atomic.Pointer[[]string] // the servers of Redis that the last refresh found
}

// followNodes refreshes the nodes of Redis at intervals, until ctx ends.
func (c *changingAddresses) followNodes(ctx context.Context) {
	tick := time.NewTicker(nodesInterval)
	defer tick.Stop()

	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			c.refreshNodes(ctx)
		}
	}
}

// refreshNodes lists the nodes once. It keeps the earlier nodes of a Redis that does not answer.
func (c *changingAddresses) refreshNodes(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, nodesTimeout)
	defer cancel()
	var found []string

	for _, address := range c.redisURLs {
		if address == "" {
			continue
		}

		nodes, err := redisdial.Nodes(ctx, address)
		if err != nil {
			c.log.WarnContext(ctx, "the nodes of Redis could not be listed; the guard keeps the earlier list",
				"error", err)
			found = append(found, c.foundNodes()...)
		}
		found = append(found, nodes...)
	}
	slices.Sort(found)
	found = slices.Compact(found)
	c.nodes.Store(&found)
}

// foundNodes returns the nodes that the last refresh found.
func (c *changingAddresses) foundNodes() []string {
	if nodes := c.nodes.Load(); nodes != nil {
		return *nodes
	}

	return nil
}

// current returns the addresses at this moment. The guard asks for them at each check, so it must not block.
func (c *changingAddresses) current() []string {
	own := slices.Clone(c.foundNodes())
	for _, m := range c.models().Models() {
		for _, u := range m.Upstreams {
			own = append(own, endpoint(u.BaseURL, false))
		}
	}

	return own
}

// endpoint returns the host:port of an endpoint, which may be a bare host or a URL.
func endpoint(s string, secure bool) string {
	if s == "" {
		return ""
	}

	if scheme, rest, found := strings.Cut(s, "://"); found {
		s, secure = rest, scheme == "https"
	}

	if end := strings.IndexAny(s, "/?#"); end >= 0 {
		s = s[:end]
	}

	host := s[strings.LastIndex(s, "@")+1:]
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}

	port := "80"
	if secure {
		port = "443"
	}

	return net.JoinHostPort(strings.Trim(host, "[]"), port)
}
