package redisdial

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
)

func TestParseAddressReadsEveryForm(t *testing.T) {
	t.Parallel()

	type parsed struct {
		Addrs                        []string
		DB                           int
		User, Password, Master, Name string
		TLS, Cluster, Unix           bool
	}
	for address, want := range map[string]parsed{
		"redis://localhost":                {Addrs: []string{"localhost:6379"}},
		"redis://u:p%40ss@h:7000/3":        {Addrs: []string{"h:7000"}, DB: 3, User: "u", Password: "p@ss"},
		"redis://:pw@[::1]:7000":           {Addrs: []string{"[::1]:7000"}, Password: "pw"},
		"rediss://h:7000":                  {Addrs: []string{"h:7000"}, TLS: true, Name: "h"},
		"unix:///run/redis.sock":           {Addrs: []string{"/run/redis.sock"}, Unix: true},
		"unix://:pw@/run/redis.sock?db=2":  {Addrs: []string{"/run/redis.sock"}, DB: 2, Password: "pw", Unix: true},
		"redis://:pw@a:1,b:2,redis://c:3":  {Addrs: []string{"a:1", "b:2", "c:3"}, Password: "pw", Cluster: true},
		"rediss://a:1, rediss://b:2":       {Addrs: []string{"a:1", "b:2"}, TLS: true, Cluster: true},
		"redis-sentinel://:pw@a:1,b/m/4":   {Addrs: []string{"a:1", "b:26379"}, DB: 4, Password: "pw", Master: "m"},
		"redis-sentinel://a:1/main-master": {Addrs: []string{"a:1"}, Master: "main-master"},
	} {
		t.Run(address, func(t *testing.T) {
			a, err := parseAddress(address)
			if err != nil {
				t.Errorf("parseAddress: %v", err)
				return
			}

			got := parsed{
				Addrs: a.Addrs, DB: a.DB, User: a.Username, Password: a.Password, Master: a.MasterName,
				TLS: a.TLSConfig != nil, Cluster: a.IsClusterMode, Unix: a.unix,
			}
			if a.TLSConfig != nil {
				got.Name = a.TLSConfig.ServerName
			}

			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", address, diff)
			}
		})
	}
}

func TestErrorsOfInvalidAddressesContainNoPassword(t *testing.T) {
	t.Parallel()

	for _, address := range []string{
		"", "localhost:6379", "http://hunter2@h", "redis://", "redis://:hunter2@", "redis://:hunter2@h:port",
		"redis://:hunter2@h:99999",
		"redis://:hunter2@h/x", "redis://:hunter2@h/-1", "redis://:hunter2/@h:1", "redis://:hunter2%zz@h",
		"redis://h?password=hunter2",
		"unix://relative/hunter2", "redis-sentinel://:hunter2@a:1", "redis-sentinel://:hunter2@/m",
		"redis://:hunter2@a:1,b:2/3",
		"redis://:hunter2@a:1,", "redis-sentinel://:hunter2@a:1/m/x",
	} {
		t.Run(address, func(t *testing.T) {
			_, err := Dial(address, 0)
			if err == nil {
				t.Errorf("Dial(%q) returned no error", address)
				return
			}

			if strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "redis-sentinel://") {
				t.Errorf("got %v; want the allowed forms without the password", err)
			}
		})
	}
}

func TestDialSetsBoundedTimeouts(t *testing.T) {
	t.Parallel()

	for _, address := range []string{"redis://h", "unix:///s"} {
		client, err := Dial(address, 7)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()

		o := client.(*redis.Client).Options()
		if !o.ContextTimeoutEnabled || o.ReadTimeout != IOTimeout || o.WriteTimeout != IOTimeout ||
			o.DialTimeout != dialTimeout ||
			o.MaxRetries != maxRetries ||
			o.PoolSize != 7 {
			t.Errorf("Dial(%s): got options %+v, want the package's timeouts and 7 connections", address, o)
		}
	}

	for address, want := range map[string]bool{"redis://a,b": true, "redis-sentinel://a/m": false} {
		t.Run(address, func(t *testing.T) {
			client, err := Dial(address, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()

			if _, cluster := client.(*redis.ClusterClient); cluster != want {
				t.Errorf("Dial(%s) is a %T, want a cluster client: %v", address, client, want)
			}
		})
	}
}

func TestHostsNamesEveryServer(t *testing.T) {
	t.Parallel()

	for address, want := range map[string][]string{
		"redis://localhost":                           {"localhost:6379"},
		"redis://u:p%40ss@h:7000/3":                   {"h:7000"},
		"redis://[::1]":                               {"[::1]:6379"},
		"redis://:pw@[::1]:7000":                      {"[::1]:7000"},
		"rediss://h":                                  {"h:6379"},
		"rediss://a:1, rediss://b":                    {"a:1", "b:6379"},
		"redis://:pw@a:1,b,redis://c:3,[::2],[::3]:4": {"a:1", "b:6379", "c:3", "[::2]:6379", "[::3]:4"},
		"redis-sentinel://:pw@a:1,b/m/4":              {"a:1", "b:26379"},
		"redis-sentinel://[::1],[::2]:7,c/m":          {"[::1]:26379", "[::2]:7", "c:26379"},
		"unix:///run/redis.sock":                      nil,
		"unix://:pw@/run/redis.sock?db=2":             nil,
	} {
		t.Run(address, func(t *testing.T) {
			got, err := Hosts(address)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s: %v (-want +got):\n%s", address, err, diff)
			}
		})
	}

	if _, err := Hosts("redis://:hunter2@h:port"); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("an invalid address: got %v, want an error without the password", err)
	}
}
