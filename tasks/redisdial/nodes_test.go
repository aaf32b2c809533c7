package redisdial

import (
	"slices"
	"testing"

	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
)

// REDIS_URL does not name the replicas behind sentinels and all nodes of a Cluster.
func TestNodesIncludesServersThatTheAddressDoesNotName(t *testing.T) {
	t.Parallel()
	// hostport returns the TCP address of a server.
	hostport := func(s *redistest.Server) string {
		client := s.Client()
		defer client.Close()

		return "127.0.0.1:" + client.ConfigGet(t.Context(), "port").Val()["port"]
	}

	for name, start := range map[string]func(t *testing.T) (address string, servers []*redistest.Server){
		"sentinel": func(t *testing.T) (string, []*redistest.Server) {
			r := redistest.StartReplicated(t, t.TempDir())
			return r.Address, r.Servers()
		},
		"cluster": func(t *testing.T) (string, []*redistest.Server) {
			c := redistest.StartReplicatedCluster(t, t.TempDir())
			first := hostport(c.Servers()[0])

			return "redis://" + first + ",redis://" + first, c.Servers()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			address, servers := start(t)
			for _, s := range servers {
				want := hostport(s)
				wait.Until(t, want+" is among the nodes", func() bool {
					nodes, err := Nodes(t.Context(), address)
					if err != nil {
						t.Error(err)
					}

					return slices.Contains(nodes, want)
				})
			}
		})
	}

	for address, want := range map[string][]string{"redis://h": {"h:6379"}, "unix:///s": nil} {
		t.Run(address, func(t *testing.T) {
			if nodes, err := Nodes(t.Context(), address); err != nil || !slices.Equal(nodes, want) {
				t.Errorf("Nodes(%s) = %q, %v; want %q", address, nodes, err, want)
			}
		})
	}

	nodes, err := Nodes(t.Context(), "redis-sentinel://127.0.0.1:1/m")
	if err == nil || !slices.Equal(nodes, []string{"127.0.0.1:1"}) {
		t.Errorf("an unreachable sentinel: got %q, %v; want its address and an error", nodes, err)
	}
}
