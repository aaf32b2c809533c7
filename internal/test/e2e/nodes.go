package e2e

import (
	"maps"
	"testing"
)

// Serve starts `presswork serve` on embedded services with private directories and waits until it listens. Settings in
// env override the defaults.
func Serve(t testing.TB, env map[string]string) (*Process, *Client) {
	t.Helper()
	p := Run(t, "serve", merge(serveEnv(t), env)).Listening()

	return p, NewClient(t, p.Address, env["API_KEY"])
}

// serveEnv returns settings of `presswork serve` with private folders and a free port.
func serveEnv(t testing.TB) map[string]string {
	dir := t.TempDir()

	return map[string]string{
		"API_PORT":       "0",
		"DATA_DIR":       dir + "/data",
		"PDF_OUTPUT_DIR": dir + "/output",
		"THEMES_DIR":     dir + "/themes",
	}
}

// Fleet is one Redis and one S3 store, with the settings of nodes that use them.
type Fleet struct {
	t   testing.TB
	env map[string]string
}

// NewFleet returns a fleet without nodes. env has the settings of its store, if it has one.
func NewFleet(t testing.TB, redisURL string, env map[string]string) *Fleet {
	dir := t.TempDir()

	return &Fleet{t: t, env: merge(map[string]string{
		"REDIS_URL":   redisURL,
		"API_PORT":    "0",
		"WORKER_ADDR": "127.0.0.1:0",
		"THEMES_DIR":  dir + "/themes",
	}, env)}
}

// API starts one API node.
func (f *Fleet) API(env map[string]string) (*Process, *Client) {
	f.t.Helper()
	env = merge(f.env, env)
	p := Run(f.t, "api", env).Listening()

	return p, NewClient(f.t, p.Address, env["API_KEY"])
}

// Worker starts one worker and waits until it serves its operations listener.
func (f *Fleet) Worker(env map[string]string) *Process {
	f.t.Helper()
	return Run(f.t, "worker", merge(f.env, env)).Listening()
}

// merge returns the entries of both maps. Those of over override those of base.
func merge(base, over map[string]string) map[string]string {
	out := maps.Clone(base)
	maps.Copy(out, over)

	return out
}
