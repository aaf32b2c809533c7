package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/api"
	"presswork/internal/fault"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/storage"
	"presswork/storage/retention"
	"presswork/tasks"
	"presswork/tasks/redisdial"
)

// queuedServer is a server with a real queue and the keeper of its store. It shows what happens to sources between a
// request and a worker.
type queuedServer struct {
	*harness
	queue  *tasks.Client
	rdb    redis.UniversalClient
	keeper *retention.Keeper
	// ahead is how far the keeper's clock is set forward.
	ahead atomic.Int64
}

// serveWithQueue starts a server with a real queue and no worker.
func serveWithQueue(t *testing.T, o tasks.Options, change ...func(*api.Options)) *queuedServer {
	t.Helper()
	address := redistest.Start(t)
	a := &queuedServer{}

	var err error
	if a.queue, err = tasks.NewClient(address, o); err != nil {
		t.Fatal(err)
	}

	if err := a.queue.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.queue.Stop(context.Background()) })

	if a.rdb, err = redisdial.Dial(address, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.rdb.Close() })
	a.harness = serve(t, append(change, func(o *api.Options) {
		a.keeper = retention.New(retention.Options{
			Store: o.Store, Redis: a.rdb, MaxBytes: 1 << 30,
			Now: func() time.Time { return time.Now().Add(time.Duration(a.ahead.Load())) },
			Live: func(ctx context.Context, id string) (bool, error) {
				rec, err := a.queue.Job(ctx, id)
				if fault.CodeOf(err) == fault.NotFound {
					return false, nil
				}

				return !rec.Status.Terminal(), err
			},
		})
		o.Queue, o.Keeper = a.queue, a.keeper
	})...)

	return a
}

// sweep sets the keeper's clock 2 h forward and runs the sweeper.
func (a *queuedServer) sweep() {
	a.t.Helper()
	a.ahead.Add(int64(2 * time.Hour))

	if err := a.keeper.Sweep(a.t.Context()); err != nil {
		a.t.Fatal(err)
	}
}

// sources returns the store's keys that the job's task refers to.
func (a *queuedServer) sources(id string) (keys []string) {
	a.t.Helper()

	payload, err := a.rdb.Get(a.t.Context(), "pw:{"+id+"}:task").Bytes()
	if err != nil {
		a.t.Fatal(err)
	}

	var task tasks.Convert
	if err := json.Unmarshal(payload, &task); err != nil {
		a.t.Fatal(err)
	}

	if task.ContentKey != "" {
		keys = append(keys, task.ContentKey)
	}

	for _, asset := range task.Assets {
		keys = append(keys, asset.Key)
	}

	return keys
}

// checkSources runs the sweeper. It fails the test unless the job's task refers to want sources and the store has
// them.
func (a *queuedServer) checkSources(id string, want int) {
	a.t.Helper()
	a.sweep()

	keys := a.sources(id)
	if len(keys) != want {
		a.t.Errorf("job %s reads %q, want %d sources", id, keys, want)
	}

	for _, key := range keys {
		if _, err := a.store.Stat(a.t.Context(), key); err != nil {
			a.t.Errorf("job %s waits, but its source is missing: %v", id, err)
		}
	}
}

// longText is a document that does not fit into a task.
func longText(n int) string {
	return strings.Repeat(fmt.Sprintf("Paragraph of document %d.\n\n", n), 1400)
}

// longDocument returns a request with a long document.
func longDocument(n int) (body, contentType string) { return longText(n), "text/markdown" }

// withAssets returns a form with two files, whose order varies with n.
func withAssets(n int) (body, contentType string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	w.WriteField("content", "# Hi\n\n![a](a.png) ![b](b.png)\n")

	for i := range 2 {
		name := []string{"a.png", "b.png"}[(i+n)%2]
		out, _ := w.CreateFormFile("assets", name)
		io.WriteString(out, strings.Repeat(name, 100))
	}
	w.Close()

	return b.String(), w.FormDataContentType()
}

func TestSimultaneousDuplicatesKeepTheirSources(t *testing.T) {
	t.Parallel()
	a := serveWithQueue(t, tasks.Options{})

	// Each round sends 20 requests with one idempotency key at the same time.
	for round := range 15 {
		request, sources := longDocument, 1
		if round%3 == 2 {
			request, sources = withAssets, 2
		}
		var ids sync.Map
		var wg sync.WaitGroup
		start := make(chan struct{})

		for n := range 20 {
			wg.Go(func() {
				variant := round
				if sources == 2 {
					variant = n // the order of the files may differ
				}
				body, contentType := request(variant)
				<-start
				r := a.do(http.MethodPost, "/api/conversion", strings.NewReader(body),
					"Content-Type: "+contentType, fmt.Sprintf("Idempotency-Key: round-%d", round))
				r.want(t, http.StatusAccepted, "")
				ids.Store(jobIDOf(t, r), true)
			})
		}
		close(start)
		wg.Wait()

		for id := range ids.Range {
			a.checkSources(id.(string), sources)
		}
		jobs := 0
		ids.Range(func(any, any) bool { jobs++; return true })

		if jobs != 1 {
			t.Errorf("round %d made %d jobs, want 1", round, jobs)
		}
	}
}

// jobIDOf returns the job id of an accepted submission.
func jobIDOf(t *testing.T, r reply) string {
	t.Helper()
	var accepted struct {
		JobID string `json:"job_id"`
	}
	r.decode(t, &accepted)

	return accepted.JobID
}

func TestRetryAfterACrashBeforeTheRecordHasItsSources(t *testing.T) {
	t.Parallel()
	a := serveWithQueue(t, tasks.Options{})

	for name, request := range map[string]func(int) (string, string){"content": longDocument, "assets": withAssets} {
		sources := map[string]int{"content": 1, "assets": 2}[name]
		body, contentType := request(0)
		headers := []string{"Content-Type: " + contentType, "Idempotency-Key: " + name}
		r := a.do(http.MethodPost, "/api/conversion", strings.NewReader(body), headers...)
		r.want(t, http.StatusAccepted, "")
		id := jobIDOf(t, r)
		// The first request crashed before it wrote the record.
		a.rdb.Del(t.Context(), "pw:{"+id+"}:job", "pw:{"+id+"}:log", "pw:{"+id+"}:task")
		a.rdb.ZRem(t.Context(), "pw:open", id)
		r = a.do(http.MethodPost, "/api/conversion", strings.NewReader(body), headers...)
		r.want(t, http.StatusAccepted, "")

		if again := jobIDOf(t, r); again != id {
			t.Errorf("%s: the retry is job %s, the key is bound to %s", name, again, id)
		}
		a.checkSources(id, sources)
	}
}

func TestFullQueueStoresNothing(t *testing.T) {
	t.Parallel()
	store := &failingStore{}
	a := serveWithQueue(t, tasks.Options{MaxPending: 1}, store.wrap)
	a.post(`{"content":"# Hi"}`).want(t, http.StatusAccepted, "")
	body, contentType := withAssets(0)

	for deadline := time.Now().Add(wait.Patience); ; {
		before := store.puts.Load()

		r := a.do(http.MethodPost, "/api/conversion", strings.NewReader(body), "Content-Type: "+contentType)
		if r.StatusCode != http.StatusAccepted {
			r.want(t, http.StatusTooManyRequests, fault.QueueFull)

			if n := store.puts.Load() - before; n != 0 {
				t.Errorf("%d files of a rejected submission were stored", n)
			}

			return
		}
		// The server caches the length of the queue for 0.1 s.
		if time.Now().After(deadline) {
			t.Fatal("the queue was never full")
		}
	}
}

func TestFailedWriteLeavesNothingInTheStore(t *testing.T) {
	t.Parallel()
	store := &failingStore{}
	a := serveWithQueue(t, tasks.Options{}, store.wrap)
	a.sweep() // this runs the daily comparison of index and store
	body, contentType := withAssets(0)
	headers := []string{"Content-Type: " + contentType, "Idempotency-Key: k"}
	store.fails.Store(true)
	a.do(http.MethodPost, "/api/conversion", strings.NewReader(body), headers...).
		want(t, http.StatusServiceUnavailable, fault.StoreUnavailable)

	if keys := a.storedKeys(); len(keys) != 0 {
		t.Errorf("the store has %q, want nothing", keys)
	}
	// A write that timed out arrives late. The store works again, and the sweep renews its fence there.
	store.fails.Store(false)

	if _, err := a.store.Put(t.Context(), store.failedKey, strings.NewReader("late"), 4, storage.Attrs{}); err != nil {
		t.Fatal(err)
	}

	if a.sweep(); len(a.storedKeys()) != 0 {
		t.Errorf("the sweep left %q", a.storedKeys())
	}

	r := a.do(http.MethodPost, "/api/conversion", strings.NewReader(body), headers...)
	r.want(t, http.StatusAccepted, "")
	a.checkSources(jobIDOf(t, r), 2)
}

// failingStore is a store that counts writes and can fail every second one.
type failingStore struct {
	storage.Store
	puts      atomic.Int64
	fails     atomic.Bool
	failedKey string // of the last failed write
}

func (b *failingStore) wrap(o *api.Options) { b.Store, o.Store = o.Store, b }

// Put fails for every second object while fails is set.
func (b *failingStore) Put(
	ctx context.Context,
	key string,
	r io.Reader,
	size int64,
	attrs storage.Attrs,
) (storage.Info, error) {
	if n := b.puts.Add(1); b.fails.Load() && n%2 == 0 {
		b.failedKey = key
		return storage.Info{}, errors.New("the disk is gone")
	}

	return b.Store.Put(ctx, key, r, size, attrs)
}

func TestRejectedSubmissionLeavesNothingInTheStore(t *testing.T) {
	t.Parallel()
	h := serve(t)
	h.queue.submitErr = fault.Errorf(fault.QueueFull, "too many jobs wait")
	res := h.form(field("content", strings.Repeat("x", 20_000)), file("assets", "a.png", "PNG"))
	res.want(t, http.StatusTooManyRequests, fault.QueueFull)

	if got := res.Header.Get("Retry-After"); got != "5" {
		t.Errorf("Retry-After is %q, want the default of 5", got)
	}

	h.queue.submitErr = fault.Errorf(fault.QueueFull, "too many jobs wait").WithAfter(41 * time.Second)
	if got := h.post(`{"content":"x"}`).Header.Get("Retry-After"); got != "41" {
		t.Errorf("Retry-After is %q, want 41", got)
	}

	if keys := h.storedKeys(); len(keys) != 0 {
		t.Errorf("the store has %q, want nothing", keys)
	}
	// The job may have been accepted, so its sources must stay.
	h.queue.submitErr = fault.Errorf(fault.QueueUnavailable, "the queue did not answer")
	h.post(`{"content":"`+strings.Repeat("x", 20_000)+`"}`).
		want(t, http.StatusServiceUnavailable, fault.QueueUnavailable)

	if keys := h.storedKeys(); len(keys) != 1 {
		t.Errorf("the store has %q, want the document", keys)
	}
}

func TestFullStoreRejectsSubmissions(t *testing.T) {
	t.Parallel()

	o, err := redis.ParseURL(redistest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(o)
	t.Cleanup(func() { client.Close() })
	h := serve(t, func(o *api.Options) {
		o.Keeper = retention.New(retention.Options{Store: o.Store, Redis: client, MaxBytes: 10})
		if err := o.Keeper.Record(t.Context(), storage.ArtifactKeyOf(tasks.NewID(), ""), 11); err != nil {
			t.Fatal(err)
		}
	})
	res := h.post(`{"content":"x"}`)
	res.want(t, http.StatusServiceUnavailable, fault.StoreFull)

	if res.Header.Get("Retry-After") == "" || h.queue.count() != 0 {
		t.Errorf("Retry-After is %q, %d jobs were submitted; want a time and no job",
			res.Header.Get("Retry-After"), h.queue.count())
	}

	metrics := string(h.get("/metrics").body)
	if !strings.Contains(metrics, "presswork_store_bytes 11\n") ||
		!strings.Contains(metrics, "presswork_store_max_bytes 10\n") {
		t.Errorf("the metrics lack 11 of 10 bytes in the store:\n%s", metrics)
	}
}
