package nemesis

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/redistest"
	"presswork/storage/storagetest"
)

const (
	apis    = 2
	workers = 3
	// model is what completions ask for: so many tokens, with so many milliseconds
	// between them.
	model     = "tokens:30@30"
	modelSaid = 30
	listener  = "ears"
	secret    = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	diskSize  = 768 << 20
)

// fleet is everything that runs: Redis, the store, two APIs, three workers, and what
// of the world they speak with.
type fleet struct {
	t        testing.TB
	dir      string
	disk     string
	programs []string
	rng      *rand.Rand

	redis    *redistest.Server
	replicas *redistest.Replicated // nil without a sentinel
	store    *storagetest.MinIO
	nodes    []*node // APIs first
	bases    []string
	victims  []string // workers that are down beside the target of a fault
	clock    string   // the file with how far the clock of some nodes is ahead; "" without one
	clocked  string   // the program that reads it

	upstream *inferencetest.Server
	sent     atomic.Int64 // tokens that the model's server has sent
	site     *httptest.Server
	receiver *httptest.Server
}

// newFleet starts everything and waits until it serves.
func newFleet(t testing.TB, o Options, hooks http.Handler) *fleet {
	t.Helper()
	f := &fleet{t: t, dir: o.Dir, programs: append([]string{o.Program}, o.Others...), rng: rand.New(rand.NewPCG(o.Seed, 1))}
	f.disk = filepath.Join(f.dir, "disk")
	for _, dir := range []string{f.disk, filepath.Join(f.dir, "tmp")} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if o.SmallDisk {
		if out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%d", diskSize), "none", f.disk).CombinedOutput(); err != nil {
			t.Fatalf("a disk that can be filled needs root: %v %s", err, out)
		}
		t.Cleanup(func() { exec.Command("umount", "-l", f.disk).Run() })
	}
	f.outside(hooks)
	f.startRedis(o.Sentinel)
	objects := filepath.Join(f.disk, "objects")
	if err := os.Mkdir(objects, 0o700); err != nil {
		t.Fatal(err)
	}
	f.store = storagetest.StartMinIOIn(t, objects)
	if o.Clocked != "" {
		f.clock, f.clocked = filepath.Join(f.dir, "clock"), o.Clocked
		f.setClock(0)
	}
	f.startNodes()
	return f
}

func (f *fleet) startRedis(sentinel bool) {
	if sentinel {
		f.replicas = redistest.StartReplicated(f.t, f.disk)
		return
	}
	own := filepath.Join(f.disk, "redis")
	if err := os.Mkdir(own, 0o700); err != nil {
		f.t.Fatal(err)
	}
	f.redis = redistest.StartDurableIn(f.t, own)
}

// primary is the Redis that takes writes.
func (f *fleet) primary() *redistest.Server {
	if f.replicas != nil {
		return f.replicas.Primary()
	}
	return f.redis
}

func (f *fleet) address() string {
	if f.replicas != nil {
		return f.replicas.Address
	}
	return f.redis.Address
}

// outside starts a model server that counts what it sends, a page to export and
// a receiver of webhooks.
func (f *fleet) outside(hooks http.Handler) {
	f.upstream = inferencetest.NewServer()
	counting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.upstream.ServeHTTP(&counter{ResponseWriter: w, sent: &f.sent}, r)
	}))
	f.site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<!doctype html><title>Page</title><h1>Page %s</h1>", strings.Trim(r.URL.Path, "/"))
	}))
	f.receiver = httptest.NewServer(hooks)
	f.t.Cleanup(func() {
		for _, s := range []*httptest.Server{counting, f.site, f.receiver} {
			s.CloseClientConnections()
			s.Close()
		}
	})
	catalogue := fmt.Sprintf("models:\n  - {id: %q, upstreams: [{base_url: %q}]}\n  - {id: %q, capabilities: [transcription], upstreams: [{base_url: %q}]}\n",
		model, counting.URL+"/v1", listener, counting.URL+"/v1")
	if err := os.WriteFile(filepath.Join(f.dir, "models.yaml"), []byte(catalogue), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// counter counts the tokens in a stream.
type counter struct {
	http.ResponseWriter
	sent *atomic.Int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	if err == nil {
		c.sent.Add(int64(strings.Count(string(b), `"content":" t`)))
	}
	return n, err
}

func (c *counter) Flush() { c.ResponseWriter.(http.Flusher).Flush() }

var _ io.Writer = (*counter)(nil)

func (f *fleet) startNodes() {
	host := func(s *httptest.Server) string { return strings.TrimPrefix(s.URL, "http://") }
	common := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + f.dir, "TMPDIR=" + filepath.Join(f.dir, "tmp"), "LOG_FORMAT=json",
		"REDIS_URL=" + f.address(), "S3_ENDPOINT=" + f.store.Address, "S3_BUCKET=presswork",
		"S3_ACCESS_KEY=" + f.store.AccessKey, "S3_SECRET_KEY=" + f.store.SecretKey,
		"THEMES_DIR=" + filepath.Join(f.dir, "themes"), "INFERENCE_CONFIG=" + filepath.Join(f.dir, "models.yaml"),
		"EXPORT_ALLOW_PRIVATE=" + host(f.site), "OUTBOUND_ALLOW_PRIVATE=" + host(f.receiver), "WEBHOOK_SECRET=" + secret,
		"WORKERS=2", "WORKER_QUEUES=render,export,text,audio,infer,bulk",
	}
	for i := range apis + workers {
		n := &node{t: f.t, dir: f.dir, name: fmt.Sprintf("api%d", i+1), role: "api"}
		port := redistest.FreePort(f.t)
		own := []string{fmt.Sprintf("API_PORT=%d", port)}
		if i < apis {
			f.bases = append(f.bases, fmt.Sprintf("http://127.0.0.1:%d", port))
		} else {
			n.name, n.role = fmt.Sprintf("worker%d", i-apis+1), "worker"
			own = []string{fmt.Sprintf("WORKER_ADDR=127.0.0.1:%d", port)}
		}
		own = append(own, "CACHE_DIR="+filepath.Join(f.dir, n.name))
		// The clocks of the last API and of the last worker can be set.
		if n.clocked = f.clock != "" && (i == apis-1 || i == apis+workers-1); n.clocked {
			own = append(own, "NEMESIS_CLOCK="+f.clock)
		}
		n.env = append(own, common...)
		f.nodes = append(f.nodes, n)
		f.t.Cleanup(func() {
			n.signal(syscall.SIGCONT)
			if n.cmd != nil && !n.ended() {
				n.kill()
			}
		})
		n.start(f.programOf(n, 0))
	}
	for _, n := range f.nodes {
		n.listening()
	}
}

// programOf is what a node runs: a worker one of the versions, and a node whose clock
// can be set the program for that.
func (f *fleet) programOf(n *node, version int) string {
	if n.clocked {
		return f.clocked
	}
	if n.role == "api" { // older ones do not replay what newer ones accept
		return f.programs[0]
	}
	return f.programs[version%len(f.programs)]
}

func (f *fleet) setClock(seconds int) {
	f.t.Helper()
	// Written beside and renamed, so that no reader sees half of it.
	if err := os.WriteFile(f.clock+".new", fmt.Appendf(nil, "%d", seconds), 0o600); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Rename(f.clock+".new", f.clock); err != nil {
		f.t.Fatal(err)
	}
}
