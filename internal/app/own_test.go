package app

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"presswork/internal/config"
	"presswork/internal/inference/catalogue"
)

func TestOwnAddressesHaveHostAndPort(t *testing.T) {
	t.Parallel()

	for _, tc := range []struct {
		cfg   config.Config
		redis string
		want  []string
	}{
		{
			config.Config{APIHost: "127.0.0.1", APIPort: 8000, WorkerAddr: "127.0.0.1:9090"},
			"unix:///run/r.sock",
			[]string{"127.0.0.1:8000", "127.0.0.1:9090"},
		},
		{
			config.Config{
				APIHost: "::1", APIPort: 0, WorkerAddr: ":9090", S3Endpoint: "s3.amazonaws.com", S3UseTLS: true,
			},
			"redis://u:p@h1/0",
			[]string{"h1:6379", ":9090", "s3.amazonaws.com:443"},
		},
		{
			config.Config{
				APIPort: 0, WorkerAddr: "127.0.0.1:0",
				S3Endpoint: "http://minio:9000", S3PublicEndpoint: "https://files.example",
			},
			"redis://h1:1,redis://h2",
			[]string{"h1:1", "h2:6379", "minio:9000", "files.example:443"},
		},
		{
			config.Config{APIPort: 0, WorkerAddr: "127.0.0.1:0", S3Endpoint: "[::1]"},
			"redis://[::1]/0",
			[]string{"[::1]:6379", "[::1]:80"},
		},
		{
			config.Config{
				WorkerAddr: "127.0.0.1:0",
				SearXNGURL: "http://ann:hush@searx:8888/search", SearchURL: "https://find.example?q={query}",
			},
			"unix:///s",
			[]string{"searx:8888", "find.example:443"},
		},
	} {
		t.Run(tc.redis, func(t *testing.T) {
			got, err := ownAddresses(tc.cfg, tc.redis)
			if err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("got %q (%v), want %q", got, err, tc.want)
			}
		})
	}

	if _, err := ownAddresses(config.Config{}, "http://x"); err == nil {
		t.Error("ownAddresses with an invalid Redis address: got nil, want an error")
	}
}

func TestUpstreamsOfModelsAreOwnServices(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "models.yaml")

	text := "models: [{id: m, upstreams: " +
		"[{base_url: 'http://10.0.0.7:11434/v1'}, {base_url: 'https://models.example/v1'}]}]"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	source, err := catalogue.NewSource(t.Context(), catalogue.SourceOptions{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	c := &changingAddresses{
		redisURLs: []string{"redis://10.0.0.8:7000", ""},
		models:    source.Current,
		log:       slog.New(slog.DiscardHandler),
	}
	c.refreshNodes(t.Context())

	want := []string{"10.0.0.8:7000", "10.0.0.7:11434", "models.example:443"}
	if got := c.current(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
