package api_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/api"
	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/meter"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/tasks/stream"
)

// beginUpload sends the headers of a request with a body of 30 MB, and part of the body.
func (h *harness) beginUpload(path, key, media, part string) net.Conn {
	h.t.Helper()
	conn := h.connect()

	head := "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nX-API-Key: " + key + "\r\nContent-Type: " + media + "\r\n"
	if _, err := io.WriteString(conn, head+"Content-Length: 30000000\r\n\r\n"+part); err != nil {
		h.t.Fatal(err)
	}

	return conn
}

// readAnswer reads an HTTP response from conn.
func readAnswer(t *testing.T, conn net.Conn) reply {
	t.Helper()

	req, err := http.NewRequest(http.MethodPost, "http://localhost/", nil)
	if err != nil {
		t.Fatal(err)
	}

	res, err := http.ReadResponse(bufio.NewReader(conn), req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()

	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}

	return reply{res, body}
}

// awaitHeld waits until the node holds at least so many bytes of bodies in memory or on disk.
func (h *harness) awaitHeld(where string, least float64) {
	h.t.Helper()
	wait.Until(h.t, "the node holds the bodies", func() bool {
		for line := range strings.Lines(string(h.get("/metrics", "X-API-Key: "+testKey).body)) {
			if text, ok := strings.CutPrefix(line, `presswork_http_body_bytes{where="`+where+`"} `); ok {
				held, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
				return err == nil && held >= least
			}
		}

		return false
	})
}

const threeKeys = "keys: [{name: ann, key: anns}, {name: bob, key: bobs}, {name: cid, key: cids}]"

func TestBodiesInMemoryAreBoundedPerKeyAndPerNode(t *testing.T) {
	t.Parallel()
	h := serve(t, keysFile(t, threeKeys), func(o *api.Options) { o.HeldMemory, o.ReadTimeout = 8<<20, wait.Patience })
	// Two bodies of this length fill the node. A key may hold half of it.
	half := `{"content":"` + strings.Repeat("x", 7<<19)
	post := func(key string) reply {
		return h.post(`{"content":"`+strings.Repeat("x", 5<<18)+`"}`, "X-API-Key: "+key)
	}
	ann := h.beginUpload("/api/conversion", "anns", "application/json", half)
	h.awaitHeld("memory", 7<<19)
	post("anns").want(t, http.StatusTooManyRequests, fault.RateLimited)
	post("cids").want(t, http.StatusAccepted, "")

	bob := h.beginUpload("/api/conversion", "bobs", "application/json", half)
	h.awaitHeld("memory", 7<<20)
	rejected := post("cids")
	rejected.want(t, http.StatusServiceUnavailable, fault.StoreUnavailable)

	if rejected.Header.Get("Retry-After") == "" {
		t.Error("the 503 has no Retry-After")
	}

	ann.Close()
	bob.Close()

	for _, key := range []string{"anns", "bobs", "cids"} {
		wait.Until(t, "the node has room for a body of "+key,
			func() bool { return post(key).StatusCode == http.StatusAccepted })
	}
}

func TestFilesOfUploadsAreBoundedPerKey(t *testing.T) {
	t.Parallel()
	h := serve(t, keysFile(t, threeKeys), func(o *api.Options) { o.HeldDisk, o.ReadTimeout = 8<<20, wait.Patience })
	// unfinishedForm returns a form that ends within a file.
	unfinishedForm := func(size int) string {
		return "--x\r\nContent-Disposition: form-data; name=\"content\"\r\n\r\n# Hi\r\n" +
			"--x\r\nContent-Disposition: form-data; name=\"assets\"; filename=\"a.bin\"\r\n\r\n" + strings.Repeat("x", size)
	}
	const media = "multipart/form-data; boundary=x"
	post := func(key string) reply {
		return h.do(http.MethodPost, "/api/conversion", strings.NewReader(unfinishedForm(1<<20)+"\r\n--x--\r\n"),
			"Content-Type: "+media, "X-API-Key: "+key)
	}
	ann := h.beginUpload("/api/conversion", "anns", media, unfinishedForm(7<<19))
	h.awaitHeld("disk", 13<<18) // a buffer of the parser may hold the rest
	post("anns").want(t, http.StatusTooManyRequests, fault.RateLimited)
	post("bobs").want(t, http.StatusAccepted, "")
	ann.Close()
	wait.Until(t, "the node has room for another body",
		func() bool { return post("anns").StatusCode == http.StatusAccepted })
}

func TestRunningCompletionHoldsNoBody(t *testing.T) {
	t.Parallel()
	started, release := make(chan struct{}, 1), make(chan struct{})
	h := serveChat(t, func(ctx context.Context, run *stream.Run) error {
		started <- struct{}{}

		select {
		case <-release:
		case <-ctx.Done():
		}

		return answerHello(t, run)
	}, func(o *api.Options) { o.HeldMemory = 8 << 20 })
	large := strings.Replace(chatBody, "Hi", strings.Repeat("x", 3<<20), 1)
	done := make(chan reply)

	for range 2 {
		go func() { done <- h.chat(large) }()
		wait.Receive(t, "the completion starts", started) // two bodies are more than the key's half
	}
	close(release)

	for range 2 {
		(<-done).want(t, http.StatusOK, "")
	}
}

func TestWaitingExportHoldsNoBody(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.HeldMemory = 1 << 20 })
	export := func() reply {
		return h.export("/export-pdf", strings.Repeat(" ", 300<<10)+`{"url":"https://example.com/"}`)
	}
	watched, answered := make(chan string, 1), make(chan reply, 1)
	h.queue.onNextWatch(func(id string) { watched <- id })

	go func() { answered <- export() }()
	first := wait.Receive(t, "the first export waits", watched)
	h.finishNext("application/pdf", []byte("two"))
	export().want(t, http.StatusOK, "") // both bodies are more than the key's half
	h.finishAs(first, "application/pdf", []byte("one"))
	wait.Receive(t, "the first export's answer", answered).want(t, http.StatusOK, "")
}

func TestTricklingBodyIsRejected(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.ReadTimeout = time.Second })

	const head = "POST /api/conversion HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
		"X-API-Key: " + testKey + "\r\n"

	for name, tc := range map[string]struct{ start, piece string }{
		"with its length": {"Content-Length: 50000000\r\n\r\n" + strings.Repeat(" ", 1<<20), " "},
		"in chunks": {
			"Transfer-Encoding: chunked\r\n\r\n100000\r\n" + strings.Repeat(" ", 1<<20) + "\r\n", "1\r\n \r\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			conn := h.connect()
			if _, err := io.WriteString(conn, head+tc.start); err != nil {
				t.Fatal(err)
			}

			ended := make(chan struct{})
			go func() {
				defer close(ended)

				for range time.Tick(100 * time.Millisecond) {
					if _, err := io.WriteString(conn, tc.piece); err != nil {
						return
					}
				}
			}()
			res := readAnswer(t, conn)
			res.want(t, http.StatusRequestTimeout, fault.InvalidRequest)

			if !strings.Contains(string(res.body), "too slowly") {
				t.Errorf("the error is %s, want \"too slowly\"", res.body)
			}
			conn.Close()
			<-ended
		})
	}
}

func TestSlowSteadyBodyIsAccepted(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.ReadTimeout = 3 * time.Second })

	r, w := io.Pipe()
	go func() {
		_, err := io.WriteString(w, `{"content":"`)

		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()

		for n := 0; n < 20 && err == nil; n++ {
			<-tick.C
			_, err = io.WriteString(w, strings.Repeat("x", 20<<10))
		}

		if err == nil {
			_, err = io.WriteString(w, `"}`)
		}
		w.CloseWithError(err)
	}()
	h.do(http.MethodPost, "/api/conversion", r, "Content-Type: application/json").want(t, http.StatusAccepted, "")
}

func TestKeyLimitsApplyBeforeTheBodyIsRead(t *testing.T) {
	t.Parallel()

	o, err := redis.ParseURL(redistest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(o)
	t.Cleanup(func() { client.Close() })
	h := serve(t, keysFile(t, "keys: [{name: ann, key: anns, rpm: 1}]"), func(o *api.Options) {
		o.Meter, o.ReadTimeout = meter.New(client, slog.New(slog.DiscardHandler)), wait.Patience
	})
	h.post(`{"content":"x"}`, "X-API-Key: anns").want(t, http.StatusAccepted, "")

	for _, path := range []string{"/api/conversion", "/api/preview", "/api/analysis", "/export-pdf"} {
		res := readAnswer(t, h.beginUpload(path, "anns", "application/json", strings.Repeat(" ", 64<<10)))
		res.want(t, http.StatusTooManyRequests, fault.RateLimited)
	}
}

func TestConcurrencyCountsFromTheRequestHead(t *testing.T) {
	t.Parallel()
	h := serveChat(t, sayHello(t),
		keysFile(t, "keys: [{name: ann, key: anns, concurrency: 1}]"),
		func(o *api.Options) { o.ReadTimeout = wait.Patience })
	first := h.beginUpload("/v1/chat/completions", "anns", "application/json", strings.Repeat(" ", 64<<10))
	wait.Until(t, "the first request counts",
		func() bool { return len(h.redis.Keys(t.Context(), "*:running").Val()) == 1 })
	h.chat(chatBody, "X-API-Key: anns").want(t, http.StatusTooManyRequests, inference.RateLimitExceeded)
	first.Close()
	wait.Until(t, "the first request is no longer counted",
		func() bool { return h.chat(chatBody, "X-API-Key: anns").StatusCode == http.StatusOK })
}

func TestKeysFileGrantsTiers(t *testing.T) {
	t.Parallel()
	tiers := make(chan stream.Tier, 1)
	recordTier := func(_ context.Context, run *stream.Run) error {
		tiers <- run.Call.Tier
		return answerHello(t, run)
	}
	h := serveChat(
		t,
		recordTier,
		keysFile(
			t,
			"keys: [{name: ann, key: anns}, {name: bob, key: bobs, tiers: [performance]}, {name: cid, key: cids, tiers: [flex]}]",
		),
	)

	lax := serveChat(t, recordTier, keysFile(t, "keys: [{name: ann, key: anns}]"),
		func(o *api.Options) { o.Inference.Lax = true })
	for _, tc := range []struct {
		h         *harness
		key, tier string
		want      stream.Tier // "" if the request is rejected
	}{
		{h, "anns", "performance", ""},
		{h, "anns", "priority", ""},
		{h, "anns", "flex", ""},
		{h, "bobs", "flex", ""},
		{h, "cids", "performance", ""},
		{h, "anns", "auto", stream.OnDemand},
		{h, "anns", "on_demand", stream.OnDemand},
		{h, "anns", "default", stream.OnDemand},
		{h, "bobs", "performance", stream.Performance},
		{h, "bobs", "scale", stream.Performance},
		{h, "cids", "flex", stream.Flex},
		{h, testKey, "performance", stream.Performance},
		{h, testKey, "flex", stream.Flex},
		{lax, "anns", "performance", stream.OnDemand},
	} {
		t.Run(fmt.Sprintf("%s as %s", tc.tier, tc.key), func(t *testing.T) {
			res := tc.h.chat(strings.Replace(chatBody, "{", `{"service_tier":"`+tc.tier+`",`, 1), "X-API-Key: "+tc.key)
			if tc.want == "" {
				e := res.want(t, http.StatusBadRequest, fault.InvalidOption)
				if e["param"] != "service_tier" || !strings.Contains(e["message"], "not available for this key") {
					t.Errorf("the error is %v, want service_tier is not available", e)
				}

				return
			}
			res.want(t, http.StatusOK, "")

			if got := <-tiers; got != tc.want {
				t.Errorf("the call has the tier %s, want %s", got, tc.want)
			}

			if tc.want == stream.OnDemand && tc.tier == "performance" &&
				!strings.Contains(string(res.body), `"service_tier":"on_demand"`) {
				t.Errorf("the response is %s, want the tier on_demand", res.body)
			}
		})
	}
}

// TestModelIsCheckedBeforeTheMessages matters because checking 200 000 messages takes seconds.
func TestModelIsCheckedBeforeTheMessages(t *testing.T) {
	t.Parallel()
	h := serveChat(t, sayHello(t))
	h.chat(`{"model":"none","messages":[{"role":"wrong"}],"temperature":9}`).
		want(t, http.StatusNotFound, inference.ModelNotFound)
}

func TestRecordingsBeingStoredAreBounded(t *testing.T) {
	t.Parallel()
	h := serve(t, withTranscription(t), func(o *api.Options) { o.HeldDisk = 80_000 })

	for size, status := range map[int]int{20_000: http.StatusAccepted, 60_000: http.StatusTooManyRequests} {
		parts := []part{{`form-data; name="model"`, "ears"}, {`form-data; name="file"; filename="a.wav"`, wavOf(size)}}
		if res := h.transcribe("/v1/audio/transcriptions", parts, "Prefer: respond-async"); res.StatusCode != status {
			t.Errorf("%d bytes: got %d %s, want status %d", size, res.StatusCode, res.body, status)
		}
	}
}
