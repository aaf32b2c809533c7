package main

import (
	"slices"
	"testing"

	"presswork/internal/config"
)

func TestOwnAddressesAreHostAndPortWhateverTheSettingsForm(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		cfg   config.Config
		redis string
		want  []string
	}{
		{config.Config{APIHost: "127.0.0.1", APIPort: 8000, WorkerAddr: "127.0.0.1:9090"}, "unix:///run/r.sock",
			[]string{"127.0.0.1:8000", "127.0.0.1:9090"}},
		{config.Config{APIHost: "::1", APIPort: 0, WorkerAddr: ":9090", S3Endpoint: "s3.amazonaws.com", S3UseTLS: true}, "redis://u:p@h1/0",
			[]string{"h1:6379", ":9090", "s3.amazonaws.com:443"}},
		{config.Config{APIPort: 0, WorkerAddr: "127.0.0.1:0", S3Endpoint: "http://minio:9000", S3PublicEndpoint: "https://files.example"}, "redis://h1:1,redis://h2",
			[]string{"h1:1", "h2:6379", "minio:9000", "files.example:443"}},
		{config.Config{APIPort: 0, WorkerAddr: "127.0.0.1:0", S3Endpoint: "[::1]"}, "redis://[::1]/0",
			[]string{"[::1]:6379", "[::1]:80"}},
	} {
		got, err := ownAddresses(tc.cfg, tc.redis)
		if err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("%s %+v: got %q (%v), want %q", tc.redis, tc.cfg.S3Endpoint, got, err, tc.want)
		}
	}
	if _, err := ownAddresses(config.Config{}, "http://x"); err == nil {
		t.Error("a wrong Redis address is taken")
	}
}
