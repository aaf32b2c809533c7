package api_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fasthttp/websocket"
	"github.com/google/go-cmp/cmp"

	"presswork/api"
	"presswork/internal/fault"
	"presswork/internal/test/wait"
)

// dial opens a WebSocket; headers are "Name: value".
func (h *harness) dial(path string, headers ...string) (*websocket.Conn, *http.Response, error) {
	h.t.Helper()
	header := http.Header{}

	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		header.Set(name, value)
	}

	conn, res, err := websocket.DefaultDialer.DialContext(h.t.Context(), "ws://"+h.server.Address()+path, header)
	if err == nil {
		h.t.Cleanup(func() { conn.Close() })
		conn.SetReadDeadline(time.Now().Add(wait.Patience))
	}

	return conn, res, err
}

// mustDial is dial without an error.
func (h *harness) mustDial(path string, headers ...string) *websocket.Conn {
	h.t.Helper()

	conn, _, err := h.dial(path, headers...)
	if err != nil {
		h.t.Fatal(err)
	}

	return conn
}

// readEvents reads n messages, or all of them when n is negative. The last one may be "close CODE".
func (h *harness) readEvents(conn *websocket.Conn, n int) (got []string) {
	h.t.Helper()

	for ; n != 0; n-- {
		_, data, err := conn.ReadMessage()
		if e, ok := errors.AsType[*websocket.CloseError](err); ok {
			return append(got, fmt.Sprintf("close %d", e.Code))
		}

		if err != nil {
			h.t.Fatalf("reading a message after %q: %v", got, err)
		}
		got = append(got, typeAndSeq(h.t, string(data)))
	}

	return got
}

func TestSocketFollowsAJobToItsEnd(t *testing.T) {
	t.Parallel()
	h := serve(t)
	a := h.submit()
	conn := h.mustDial(a.WSURL)

	got := h.readEvents(conn, 1)
	for i := range 3 {
		h.queue.progress(a.JobID, 20*i)
	}
	h.finish(a.JobID, []byte("%PDF-"))
	got = append(got, h.readEvents(conn, -1)...)

	want := []string{"snapshot/1", "progress/2", "progress/3", "progress/4", "completed/5", "close 1000"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestSocketReplaysMissedEvents(t *testing.T) {
	t.Parallel()
	h := serve(t)
	a := h.submit()
	h.queue.progress(a.JobID, 20)
	h.queue.progress(a.JobID, 40)

	conn := h.mustDial(a.WSURL + "&since=1")
	if diff := cmp.Diff([]string{"snapshot/3", "progress/2", "progress/3"}, h.readEvents(conn, 3)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	h.do(http.MethodDelete, a.StatusURL, nil).want(t, http.StatusOK, "")

	if diff := cmp.Diff([]string{"cancelled/4", "close 1000"}, h.readEvents(conn, -1)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}

	for since, want := range map[string][]string{
		"":         {"snapshot/4", "cancelled/4", "close 1000"},
		"&since=3": {"snapshot/4", "cancelled/4", "close 1000"},
		"&since=4": {"snapshot/4", "close 1000"},
	} {
		t.Run(since, func(t *testing.T) {
			if diff := cmp.Diff(want, h.readEvents(h.mustDial(a.WSURL+since), -1)); diff != "" {
				t.Errorf("events of the finished job (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSocketsAreRejectedBeforeTheUpgrade(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.AllowedOrigins = []string{"https://app.example"} })
	a := h.submit()

	bare, _, _ := strings.Cut(a.WSURL, "?")
	for name, tc := range map[string]struct {
		path    string
		headers []string
		status  int
	}{
		"no key":         {bare, nil, 401},
		"bad key":        {bare, []string{"X-API-Key: nope"}, 401},
		"bad token":      {bare + "?token=nope", nil, 401},
		"unknown job":    {"/api/conversion/ws/01J9ZZZZZZZZZZZZZZZZZZZZZZ", []string{"X-API-Key: " + testKey}, 404},
		"no id":          {"/api/conversion/ws/x", []string{"Authorization: Bearer " + testKey}, 404},
		"foreign origin": {a.WSURL, []string{"Origin: https://evil.example"}, 403},
		"null origin":    {a.WSURL, []string{"Origin: null"}, 403},
		"bad since":      {a.WSURL + "&since=-1", nil, 400},
	} {
		t.Run(name, func(t *testing.T) {
			_, res, err := h.dial(tc.path, tc.headers...)
			if err == nil || res == nil || res.StatusCode != tc.status {
				t.Errorf("got %v, %v; want status %d", res, err, tc.status)
			}
		})
	}

	for _, header := range []string{"Origin: https://app.example", "Origin: http://" + h.server.Address(), "X-Nothing: x"} {
		h.readEvents(h.mustDial(a.WSURL, header), 1)
	}
	h.get(bare).want(t, http.StatusUpgradeRequired, fault.InvalidRequest)
	r := h.get(bare, "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 8")
	r.want(t, http.StatusUpgradeRequired, fault.InvalidRequest)

	if r.Header.Get("Upgrade") != "websocket" || r.Header.Get("Sec-WebSocket-Version") != "13" {
		t.Errorf("the headers are %v, want the upgrade that the server offers", r.Header)
	}
}

func TestSlowSocketIsClosedWithTryAgainLater(t *testing.T) {
	t.Parallel()
	h := serve(t)
	h.queue.slow = 2
	a := h.submit()
	conn := h.mustDial(a.WSURL)
	h.readEvents(conn, 1)

	for i := range 3 {
		h.queue.progress(a.JobID, i)
	}

	if diff := cmp.Diff([]string{"progress/2", "progress/3", "close 1013"}, h.readEvents(conn, -1)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestSocketsAreClosedWhenTheServerStops(t *testing.T) {
	t.Parallel()
	h := serve(t)
	a := h.submit()
	var conns []*websocket.Conn

	for range 20 {
		conn := h.mustDial(a.WSURL)
		h.readEvents(conn, 1)
		conns = append(conns, conn)
	}

	stopped := make(chan error, 1)
	go func() { stopped <- h.server.Stop(t.Context()) }()

	for _, conn := range conns {
		if diff := cmp.Diff([]string{"close 1001"}, h.readEvents(conn, -1)); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	}

	if err := <-stopped; err != nil {
		t.Error(err)
	}

	if err := h.server.Stop(t.Context()); err != nil {
		t.Errorf("the second Stop returned %v", err)
	}
	wait.Until(t, "every watch is closed", func() bool { return h.queue.openWatches() == 0 })
}

func TestSocketsArePinged(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.PingInterval = 2 * time.Second })
	a := h.submit()
	conn := h.mustDial(a.WSURL)
	pinged := make(chan struct{}, 1000)
	answer := conn.PingHandler()
	conn.SetPingHandler(func(s string) error {
		pinged <- struct{}{}
		return answer(s)
	})

	go func() {
		for {
			if _, _, err := conn.ReadMessage(); err != nil {
				return
			}
		}
	}()
	// Longer than the three intervals after which a silent client is dropped.
	for range 4 {
		wait.Receive(t, "a ping", pinged)
	}
}

func TestSilentSocketIsDropped(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.PingInterval = 30 * time.Millisecond })
	// The client never reads, so it never answers a ping.
	h.mustDial(h.submit().WSURL)
	wait.Until(t, "the watch is opened and closed",
		func() bool { return h.queue.allWatches() == 1 && h.queue.openWatches() == 0 })
}

func TestSocketThatSendsTooMuchIsDropped(t *testing.T) {
	t.Parallel()
	h := serve(t)

	conn := h.mustDial(h.submit().WSURL)
	if err := conn.WriteMessage(websocket.TextMessage, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	h.readEvents(conn, 1)

	if err := conn.WriteMessage(websocket.TextMessage, make([]byte, 5000)); err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff([]string{"close 1009"}, h.readEvents(conn, -1)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	wait.Until(t, "the watch is closed", func() bool { return h.queue.openWatches() == 0 })
}

func TestWatchEndsWhenTheSocketCloses(t *testing.T) {
	t.Parallel()
	h := serve(t)
	conn := h.mustDial(h.submit().WSURL)
	h.readEvents(conn, 1)
	conn.Close()
	wait.Until(t, "the watch is closed", func() bool { return h.queue.openWatches() == 0 })
}
