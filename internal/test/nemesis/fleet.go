package nemesis

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/freeport"
	"presswork/internal/test/redistest"
	"presswork/storage/storagetest"
)

const (
	// The numbers of nodes.
	apis    = 2
	workers = 3
	// script is the model of the scripted model server: 30 tokens, 30 a second.
	script       = "tokens:30@30"
	scriptTokens = 30
	// models is the number of model names. Each completion uses the next name, so that the ledger, which counts by model,
	// has one row per completion.
	models   = 300
	listener = "ears" // the model that transcribes
	// spoken is the length of a recording, in seconds.
	spoken = 3
	// tabs is the number of documents that a worker prints at a time.
	tabs     = 2
	secret   = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	diskSize = 768 << 20
)

// fleet has all that runs: Redis, the store, two APIs, three workers, and the external servers that they call.
type fleet struct {
	t        testing.TB
	dir      string
	disk     string
	programs []string // the version under test, then the others
	form     Redis    // how Redis runs
	rng      *rand.Rand

	redis   servers
	store   *storagetest.MinIO
	nodes   []*node          // APIs first
	wires   map[string]*wire // between nodes and servers, by the names of both
	bases   []string
	victims []string // workers that a fault of another target has stopped
	clock   string   // the file with the lead of the clock of some nodes, in seconds; "" for none
	clocked string   // the program that reads the file

	upstream *inferencetest.Server
	sent     sync.Map // tokens that the model's server has sent, *atomic.Int64 by model
	site     *httptest.Server
	receiver *httptest.Server
}

// newFleet starts the fleet and waits until its nodes listen.
func newFleet(t testing.TB, o Options, hooks http.Handler) *fleet {
	t.Helper()
	f := &fleet{
		t:        t,
		dir:      o.Dir,
		form:     o.Redis,
		wires:    map[string]*wire{},
		programs: append([]string{o.Program}, o.Others...),
		rng:      rand.New(rand.NewPCG(o.Seed, 1)),
	}

	f.disk = filepath.Join(f.dir, "disk")
	for _, dir := range []string{f.disk, filepath.Join(f.dir, "tmp")} {
		// The user of the browser must be able to enter the folders, whatever the umask.
		if err := errors.Join(os.Mkdir(dir, 0o755), os.Chmod(dir, 0o755)); err != nil {
			t.Fatal(err)
		}
	}

	if o.SmallDisk {
		out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%d", diskSize), "none", f.disk).
			CombinedOutput()
		if err != nil {
			t.Fatalf("a disk that can be filled needs root: %v %s", err, out)
		}
		t.Cleanup(func() { exec.Command("umount", "-l", f.disk).Run() })
	}
	f.startExternalServers(hooks)
	f.startRedis(o.Redis)

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

// servers is the Redis of a fleet.
type servers struct {
	address string
	all     []*redistest.Server
	// primaries returns the servers that accept writes now.
	primaries func() []*redistest.Server
	// faults has the faults that only this form of Redis supports.
	faults []injection
}

// startRedis starts Redis in one of its forms, with the faults that this form can have.
func (f *fleet) startRedis(form Redis) {
	switch form {
	case Replicated:
		r := redistest.StartReplicated(f.t, f.disk)
		f.redis = servers{
			r.Address,
			r.Servers(),
			func() []*redistest.Server { return []*redistest.Server{r.Primary()} },
			append(killAndPauseRedis(),
				injection{"fail over", []string{"redis"}, 0, func(*fleet, string) { r.Failover() }, nil}),
		}
	case Cluster:
		c := redistest.StartReplicatedCluster(f.t, f.disk)
		lost := 0
		f.redis = servers{c.Address, c.Servers(), c.Primaries, []injection{
			// This is longer than the replica waits before it replaces the primary.
			{
				"lose a node of redis",
				[]string{"redis"},
				12 * time.Second,
				func(f *fleet, _ string) { lost = f.rng.IntN(len(f.redis.all)); c.Kill(lost) },
				func(f *fleet, _ string) { c.Restart(f.t, lost) },
			},
		}}
	default:
		own := filepath.Join(f.disk, "redis")
		if err := os.Mkdir(own, 0o700); err != nil {
			f.t.Fatal(err)
		}
		one := redistest.StartDurableIn(f.t, own)
		all := []*redistest.Server{one}
		f.redis = servers{one.Address, all, func() []*redistest.Server { return all }, killAndPauseRedis()}
	}
}

// startExternalServers starts a model server that counts what it sends, a page to export and a receiver of webhooks.
func (f *fleet) startExternalServers(hooks http.Handler) {
	f.upstream = inferencetest.NewServer()
	counting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := f.sent.LoadOrStore(r.Header.Get(modelHeader), &atomic.Int64{})
		f.upstream.ServeHTTP(&counter{ResponseWriter: w, sent: sent.(*atomic.Int64)}, r)
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

	catalogue := fmt.Appendf(nil,
		"models:\n  - {id: %s, capabilities: [transcription], upstreams: [{base_url: %q}]}\n", listener,
		counting.URL+"/v1")
	for n := range models {
		catalogue = fmt.Appendf(catalogue, "  - {id: %s, upstreams: [{base_url: %q, model: %q, headers: {%s: %s}}]}\n",
			modelOf(n), counting.URL+"/v1", script, modelHeader, modelOf(n))
	}

	if err := os.WriteFile(filepath.Join(f.dir, "models.yaml"), catalogue, 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// modelHeader is the header with the requested model name.
const modelHeader = "Nemesis-Model"

// modelOf returns the model name of the n-th completion.
func modelOf(n int) string { return fmt.Sprintf("model-%d", n%models) }

// counter counts the tokens in a stream.
type counter struct {
	http.ResponseWriter
	sent *atomic.Int64
}

// Write counts the tokens that the model sends.
func (c *counter) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	if err == nil {
		c.sent.Add(int64(strings.Count(string(b), `"content":" t`)))
	}

	return n, err
}

// Flush passes the flush of a stream on.
func (c *counter) Flush() { c.ResponseWriter.(http.Flusher).Flush() }

// startNodes starts the API nodes and the workers.
func (f *fleet) startNodes() {
	host := func(s *httptest.Server) string { return strings.TrimPrefix(s.URL, "http://") }

	common := []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + f.dir,
		"TMPDIR=" + filepath.Join(f.dir, "tmp"),
		"LOG_FORMAT=json",
		"S3_BUCKET=presswork",
		"S3_ACCESS_KEY=" + f.store.AccessKey,
		"S3_SECRET_KEY=" + f.store.SecretKey,
		"THEMES_DIR=" + filepath.Join(f.dir, "themes"),
		"INFERENCE_CONFIG=" + filepath.Join(f.dir, "models.yaml"),
		"EXPORT_ALLOW_PRIVATE=" + host(f.site),
		"OUTBOUND_ALLOW_PRIVATE=" + host(f.receiver),
		"WEBHOOK_SECRET=" + secret,
		fmt.Sprintf("WORKERS=%d", tabs),
		"WORKER_QUEUES=render,export,text,audio,infer,bulk",
	}
	for i := range apis + workers {
		n := &node{t: f.t, dir: f.dir, name: fmt.Sprintf("api%d", i+1), role: "api"}
		port := freeport.Take(f.t)

		own := []string{"API_PORT=" + port}
		if i < apis {
			f.bases = append(f.bases, "http://127.0.0.1:"+port)
		} else {
			n.name, n.role = fmt.Sprintf("worker%d", i-apis+1), "worker"
			n.ops = "http://127.0.0.1:" + port
			own = []string{"WORKER_ADDR=" + strings.TrimPrefix(n.ops, "http://")}
		}
		own = append(own, "CACHE_DIR="+filepath.Join(f.dir, n.name))
		// The clocks of the last API and of the last worker can be set.
		if n.clocked = f.clock != "" && (i == apis-1 || i == apis+workers-1); n.clocked {
			own = append(own, "NEMESIS_CLOCK="+f.clock)
		}
		n.env = append(
			append(own, "REDIS_URL="+f.wireRedis(n.name), "S3_ENDPOINT="+f.wire(n.name, "store", f.store.Address)),
			common...)
		f.nodes = append(f.nodes, n)
		f.t.Cleanup(func() {
			n.signal(syscall.SIGCONT)

			if n.cmd != nil && !n.ended() {
				n.kill()
			}
		})
		n.start(f.programOf(n, 0), false)
	}

	for _, n := range f.nodes {
		n.awaitListening()
	}
}

// wire returns the address at which a node reaches a server through its own wire.
func (f *fleet) wire(node, name, server string) string {
	w := newWire(f.t, server)
	f.wires[node+" "+name] = w

	return w.address
}

// wireRedis is wire for a single Redis server. Sentinels and the nodes of a Cluster announce their own addresses, so
// wires cannot replace those.
func (f *fleet) wireRedis(node string) string {
	const scheme = "redis://"

	if f.form != Single {
		return f.redis.address
	}

	return scheme + f.wire(node, "redis", strings.TrimPrefix(f.redis.address, scheme))
}

// programOf returns the program of a node: a version, or the program with a clock that can be set.
func (f *fleet) programOf(n *node, version int) string {
	if n.clocked {
		return f.clocked
	}

	if n.name == allNodes[apis-1] { // watchers need an API that replays events
		return f.programs[0]
	}

	return f.programs[version%len(f.programs)]
}

// replays reports whether an API replays the past events of a job. An API of 0.1 cannot replay those of jobs that a newer
// API accepted.
func (f *fleet) replays(api int) bool { return !f.nodes[api].older.Load() }

// setClock sets the lead of the clocks that can be set.
func (f *fleet) setClock(seconds int) {
	f.t.Helper()
	// Write another file and rename it, so that no reader sees a partial file.
	if err := os.WriteFile(f.clock+".new", fmt.Appendf(nil, "%d", seconds), 0o600); err != nil {
		f.t.Fatal(err)
	}

	if err := os.Rename(f.clock+".new", f.clock); err != nil {
		f.t.Fatal(err)
	}
}
