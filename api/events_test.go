package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"presswork"
	"presswork/api"
	"presswork/internal/fault"
	"presswork/internal/test/wait"
)

// eventStream reads server-sent events.
type eventStream struct {
	t   testing.TB
	res *http.Response
	r   *bufio.Reader
}

// events opens the event stream of a job.
func (h *harness) events(path string, headers ...string) *eventStream {
	h.t.Helper()

	req, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, h.url(path), nil)
	if err != nil {
		h.t.Fatal(err)
	}

	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		req.Header.Set(name, value)
	}

	res, err := h.client.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { res.Body.Close() })

	return &eventStream{h.t, res, bufio.NewReader(res.Body)}
}

// next returns one block of the stream: "id type/seq" for an event, the text of a comment, or "end".
func (s *eventStream) next() string {
	s.t.Helper()
	id := "-"

	for {
		line, err := s.r.ReadString('\n')
		if err == io.EOF {
			return "end"
		}

		if err != nil {
			s.t.Fatal(err)
		}

		line = strings.TrimSuffix(line, "\n")
		if v, ok := strings.CutPrefix(line, "id: "); ok {
			id = v
		}

		if strings.HasPrefix(line, "event:") {
			s.t.Errorf("the stream names an event: %s", line)
		}

		if strings.HasPrefix(line, ":") {
			return line
		}

		if data, ok := strings.CutPrefix(line, "data: "); ok {
			return id + " " + typeAndSeq(s.t, data)
		}
	}
}

// rest returns the remaining blocks of the stream up to "end".
func (s *eventStream) rest() (all []string) {
	s.t.Helper()

	for {
		next := s.next()

		all = append(all, next)
		if next == "end" {
			return all
		}
	}
}

// typeAndSeq returns "type/seq" of an event's JSON.
func typeAndSeq(t testing.TB, data string) string {
	t.Helper()

	var e presswork.Event
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		t.Fatalf("%v in %s", err, data)
	}

	if e.Type == presswork.EventCompleted && !strings.Contains(data, "/download?token=") {
		t.Errorf("the artifact has no address: %s", data)
	}

	return string(e.Type) + "/" + string('0'+rune(e.Seq))
}

func TestEventStreamFollowsAJobToItsEnd(t *testing.T) {
	t.Parallel()
	h := serve(t)
	a := h.submit()

	s := h.events(a.EventsURL)
	if got := s.res.Header.Get("Content-Type"); !strings.HasPrefix(got, "text/event-stream") {
		t.Errorf("Content-Type is %q, want text/event-stream", got)
	}
	got := []string{s.next()}
	h.queue.progress(a.JobID, 20)
	got = append(got, s.next())
	h.queue.progress(a.JobID, 60)
	h.finish(a.JobID, []byte("%PDF-"))

	got = append(got, s.rest()...)

	diff := cmp.Diff([]string{"1 snapshot/1", "2 progress/2", "3 progress/3", "4 completed/4", "end"}, got)
	if diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestEventStreamResumes(t *testing.T) {
	t.Parallel()
	h := serve(t)
	a := h.submit()
	h.queue.progress(a.JobID, 20)
	h.queue.progress(a.JobID, 40)
	h.finish(a.JobID, []byte("%PDF-"))

	for name, tc := range map[string]struct {
		query  string
		header []string
		want   []string
	}{
		"Last-Event-ID": {"", []string{"Last-Event-ID: 2"}, []string{"- snapshot/4", "3 progress/3", "4 completed/4", "end"}},
		"since":         {"&since=1", nil, []string{"- snapshot/4", "2 progress/2", "3 progress/3", "4 completed/4", "end"}},
		"header wins":   {"&since=1", []string{"Last-Event-ID: 3"}, []string{"- snapshot/4", "4 completed/4", "end"}},
		"finished":      {"", nil, []string{"4 snapshot/4", "4 completed/4", "end"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, h.events(a.EventsURL+tc.query, tc.header...).rest()); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
	h.get(a.EventsURL, "Last-Event-ID: 4").want(t, http.StatusNoContent, "")
	h.get(a.EventsURL+"&since=9").want(t, http.StatusNoContent, "")
	h.get(a.EventsURL+"&since=x").want(t, http.StatusBadRequest, fault.InvalidOption)
}

func TestQuietEventStreamGetsPings(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.PingInterval = 20 * time.Millisecond })
	s := h.events(h.submit().EventsURL)
	s.next()

	if got := s.next(); got != ": ping" {
		t.Errorf("got %q, want a ping", got)
	}
}

func TestWatchEndsWhenTheClientDisconnects(t *testing.T) {
	t.Parallel()
	h := serve(t)
	a := h.submit()
	s := h.events(a.EventsURL)
	s.next()

	if n := h.queue.openWatches(); n != 1 {
		t.Fatalf("%d watches are open, want 1", n)
	}
	s.res.Body.Close()
	wait.Until(t, "the stream's watch is closed", func() bool { return h.queue.openWatches() == 0 })

	req, _ := http.NewRequest(http.MethodGet, h.url(a.StatusURL+"?wait=60s"), nil)
	req.Header.Set("X-API-Key", testKey)
	ctx, disconnect := context.WithCancel(t.Context())
	ended := make(chan error, 1)

	go func() {
		_, err := h.client.Do(req.WithContext(ctx))
		ended <- err
	}()
	wait.Until(t, "the long poll waits", func() bool { return h.queue.openWatches() == 1 })
	disconnect()

	if err := <-ended; err == nil {
		t.Fatal("the long poll was answered")
	}
	wait.Until(t, "the long poll's watch is closed", func() bool { return h.queue.openWatches() == 0 })
}

func TestStreamsEndWhenTheServerStops(t *testing.T) {
	t.Parallel()
	h := serve(t)
	a := h.submit()
	s := h.events(a.EventsURL)
	s.next()

	poll := make(chan reply, 1)
	go func() { poll <- h.get(a.StatusURL + "?wait=60s") }()
	wait.Until(t, "both wait", func() bool { return h.queue.openWatches() == 2 })
	h.mustDial(a.WSURL)
	wait.Until(t, "all three are counted", func() bool {
		metrics := string(h.get("/metrics").body)

		return strings.Contains(metrics, `presswork_streams_open{kind="events"} 1`) &&
			strings.Contains(metrics, `presswork_streams_open{kind="wait"} 1`) &&
			strings.Contains(metrics, `presswork_streams_open{kind="websocket"} 1`)
	})
	began := time.Now()

	if err := h.server.Stop(t.Context()); err != nil {
		t.Error(err)
	}

	if took := time.Since(began); took > 50*time.Second { // the long poll may take a minute
		t.Errorf("Stop took %s, want less than the long poll's minute", took)
	}

	if rest := s.rest(); !slices.Equal(rest, []string{"end"}) {
		t.Errorf("the stream continued with %q, want its end", rest)
	}
	(<-poll).want(t, http.StatusOK, "")
}
