package redisdial

import (
	"slices"
	"testing"

	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
)

// The replica of a set with sentinels and the nodes of a Cluster belong to the deployment although REDIS_URL does
// not name them.
func TestNodesHasTheServersThatNoAddressNames(t *testing.T) {
	t.Parallel()
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
		if nodes, err := Nodes(t.Context(), address); err != nil || !slices.Equal(nodes, want) {
			t.Errorf("%s: %q, %v", address, nodes, err)
		}
	}

	if nodes, err := Nodes(
		t.Context(),
		"redis-sentinel://127.0.0.1:1/m",
	); err == nil ||
		!slices.Equal(nodes, []string{"127.0.0.1:1"}) {
		t.Errorf("a sentinel that is away: %q, %v", nodes, err)
	}
}
