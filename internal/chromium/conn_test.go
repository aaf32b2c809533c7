package chromium

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/cdp"
)

func TestSplitReplyReadsOnlyTheUsualForm(t *testing.T) {
	t.Parallel()

	for msg, want := range map[string]string{
		`{"id":7,"result":{"data":"JVBE"},"sessionId":"4F2A"}`: `{"data":"JVBE"}`,
		`{"id":7,"result":{}}`:                                 `{}`,
		`{"id":7,"result":{},"sessionId":"4F2A"}`:              `{}`,
		`{"id":7,"result":{"sessionId":"4F2A"}}`:               `{"sessionId":"4F2A"}`,
		`{"id":7,"result":{"a":1,"sessionId":"4F2A"}}`:         `{"a":1,"sessionId":"4F2A"}`,
		`{"id":7,"error":{"code":-32000,"message":"no"}}`:      "",
		`{"method":"Target.targetCrashed","params":{"id":7}}`:  "",
		`{"id":7}`:            "",
		`{"id":,"result":{}}`: "",
		``:                    "",
	} {
		t.Run(msg, func(t *testing.T) {
			id, result, ok := splitReply([]byte(msg))
			if ok != (want != "") || string(result) != want || (ok && id != 7) {
				t.Errorf("splitReply(%s) = %d, %s, %v; want 7, %q", msg, id, result, ok, want)
			}
		})
	}
}

// If splitReply accepts a well-formed response, its result must be that of the JSON decoder.
func FuzzSplitReply(f *testing.F) {
	f.Add(`{"data":"JVBE"}`, "4F2A")
	f.Add(`{"a":1,"sessionId":"x"}`, "")
	f.Add(`{"a":{"b":"},\"sessionId\":\""}}`, "1")
	f.Fuzz(func(t *testing.T, result, session string) {
		msg := `{"id":1,"result":` + result

		if session != "" {
			s, _ := json.Marshal(session)
			msg += `,"sessionId":` + string(s)
		}
		msg += "}"

		var want struct {
			Result json.RawMessage `json:"result"`
		}
		if json.Unmarshal([]byte(msg), &want) != nil || strings.Contains(session, "}") || len(session) > 40 {
			t.Skip()
		}

		_, got, ok := splitReply([]byte(msg))
		if !ok {
			return
		}

		var a, b any
		if err := json.Unmarshal(got, &a); err != nil {
			t.Fatalf("%s: the result %s is not JSON: %v", msg, got, err)
		}

		if json.Unmarshal([]byte(result), &b) == nil && !reflect.DeepEqual(a, b) {
			t.Fatalf("%s: got %s, want %s", msg, got, result)
		}
	})
}

// peer is the browser's side of a conn.
type peer struct {
	in  *bufio.Reader
	out *os.File
}

// connect returns a conn and the browser's side of it. The conn rejects answers longer than limit bytes. It passes
// events to watch.
func connect(t *testing.T, limit int64, watch func(*cdp.Event)) (*conn, *peer) {
	t.Helper()

	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}

	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, f := range []*os.File{theirIn, ourOut, ourIn, theirOut} {
			f.Close()
		}
	})

	return newConn(ourOut, ourIn, limit, watch), &peer{bufio.NewReader(theirIn), theirOut}
}

// receive reads the next message from the conn.
func (p *peer) receive(t *testing.T) string {
	t.Helper()

	msg, err := p.in.ReadString(0)
	if err != nil {
		t.Error(err)
	}

	return strings.TrimSpace(strings.TrimSuffix(msg, "\x00"))
}

// send writes messages to the conn.
func (p *peer) send(messages ...string) {
	for _, m := range messages {
		p.out.WriteString(m + "\x00")
	}
}

func TestCallsReturnTheirAnswerOrTheErrorOfTheBrowser(t *testing.T) {
	t.Parallel()
	var seen []string
	c, p := connect(t, 1000, func(e *cdp.Event) { seen = append(seen, e.Method) })
	call := func(method string, answers ...string) ([]byte, error) {
		go func() {
			p.receive(t)
			p.send(answers...)
		}()

		return c.Call(t.Context(), "S", method, map[string]string{"html": "<b>&</b>"})
	}

	got, err := call("A", `{"method":"E.one","params":{}}`, `{"method":"E.two"}`,
		`{"id":1,"result":{"x":1},"sessionId":"S"}`)
	if err != nil || string(got) != `{"x":1}` {
		t.Errorf("call A: got %s, %v; want the result", got, err)
	}

	if want := []string{"E.one", "E.two"}; !slices.Equal(seen, want) {
		t.Errorf("events before the answer: %v, want %v", seen, want)
	}

	if e := <-c.Event(); e.Method != "E.one" {
		t.Errorf("the next event for rod is %+v, want E.one", e)
	}

	_, err = call("B", `{"id":99,"result":{}}`, `{"id":2,"error":{"code":-32000,"message":"no"}}`)
	if e, ok := errors.AsType[*cdp.Error](err); !ok || e.Message != "no" {
		t.Errorf("call B: error %v, want the one of the browser", err)
	}

	_, err = call("C", `{"id":3,"result":{"data":"`+strings.Repeat("x", 5000)+`"}}`)
	if !errors.Is(err, errTooLarge) {
		t.Errorf("large answer: error %v, want %v", err, errTooLarge)
	}

	if got, err = call("D", `{ "result": {"y":2}, "id":4 }`); err != nil || string(got) != `{"y":2}` {
		t.Errorf("after a large answer, with the id at the end: got %s, %v; want the result", got, err)
	}

	if _, err = call("E", `this is not JSON`); !errors.Is(err, errConnClosed) {
		t.Errorf("not JSON: error %v, want %v", err, errConnClosed)
	}

	if _, err = c.Call(t.Context(), "", "F", nil); !errors.Is(err, errConnClosed) {
		t.Errorf("closed: error %v, want %v", err, errConnClosed)
	}
}

func TestDocumentsAreSentWithoutHTMLEscapes(t *testing.T) {
	t.Parallel()

	c, p := connect(t, 1000, func(*cdp.Event) {})
	go c.Call(t.Context(), "S", "A", map[string]string{"html": "<b>&</b>\x00"})

	const want = `{"id":1,"sessionId":"S","method":"A","params":{"html":"<b>&</b>\u0000"}}`
	if got := p.receive(t); got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
	p.out.Close()
	<-c.done
}

func TestCallsEndWithTheirContextIfTheBrowserDoesNotRead(t *testing.T) {
	t.Parallel()
	c, p := connect(t, 1000, func(*cdp.Event) {})
	cancelCall := func(written func()) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)

		go func() {
			written()
			cancel(errors.New("enough"))
		}()

		_, err := c.Call(ctx, "", "A", strings.Repeat("x", 1<<20)) // the peer does not read it
		if err == nil || err.Error() != "enough" {
			t.Errorf("error %v, want the cause of the cancellation", err)
		}
	}
	// The wait must end both after the first bytes are written and before, while another message is being written.
	cancelCall(func() { p.in.Peek(1) })
	cancelCall(func() {})
	// The half-written message must still arrive complete, followed by the next one.
	if first := p.receive(t); len(first) < 1<<20 {
		t.Errorf("the first message has %d bytes, want all of them", len(first))
	}
	go func() {
		for !strings.Contains(p.receive(t), `"B"`) {
		}
		p.send(`{"id":3,"result":{}}`)
	}()

	if _, err := c.Call(t.Context(), "", "B", nil); err != nil {
		t.Error(err)
	}
}

func TestCallsFailWhenTheBrowserEnds(t *testing.T) {
	t.Parallel()

	c, p := connect(t, 1000, func(*cdp.Event) {})
	go func() {
		p.receive(t)
		p.out.Close()
	}()

	if _, err := c.Call(t.Context(), "", "A", nil); !errors.Is(err, errConnClosed) {
		t.Errorf("error %v, want %v", err, errConnClosed)
	}

	for range c.Event() {
		t.Error("got an event that the peer did not send")
	}
}

func TestDecodePDFRejectsMalformedAndLargeAnswers(t *testing.T) {
	t.Parallel()

	pdf, err := decodeData([]byte(`{"data":"JVBERi0=","stream":""}`), 5)
	if err != nil || !bytes.Equal(pdf, []byte("%PDF-")) {
		t.Errorf("got %q, %v; want %%PDF-", pdf, err)
	}

	for _, answer := range []string{`{}`, `{"data":"`, `{"data":"?"}`} {
		t.Run(answer, func(t *testing.T) {
			if _, err := decodeData([]byte(answer), 5); err == nil {
				t.Errorf("decodeData(%s) succeeds, want an error", answer)
			}
		})
	}

	if _, err := decodeData([]byte(`{"data":"JVBERi0xMjM0NTY3"}`), 5); !errors.Is(err, errTooLarge) {
		t.Errorf("error %v, want %v", err, errTooLarge)
	}
}

// Chromium reports "Printing failed" before it reports the crash of the renderer.
func TestFailedPrintOfACrashedTabIsALostTab(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		answer string
		lost   bool
	}{
		"crashed":     {`{"method":"Target.targetCrashed","params":{"targetId":"T"}}`, true},
		"not crashed": {`{"id":2,"result":{"id":"1"},"sessionId":"S"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			i := &instance{tabs: map[string]*tab{}}
			connection, p := connect(t, 1000, i.watch)
			tab := &tab{inst: i, conn: connection, target: "T", session: "S"}
			tab.life, tab.end = context.WithCancelCause(t.Context())
			i.tabs["T"] = tab

			go func() {
				p.receive(t)
				p.send(`{"id":1,"error":{"code":-32000,"message":"Printing failed"}}`)
				p.receive(t)
				p.send(c.answer)
			}()
			_, err := tab.printOnce(t.Context(), printParams{}, 1000)

			err = tab.refusalCause(t.Context(), err)
			if _, refused := errors.AsType[*cdp.Error](
				err,
			); refused == c.lost ||
				errors.Is(err, errTabCrashed) != c.lost {
				t.Errorf("error %v, want errTabCrashed: %v", err, c.lost)
			}
		})
	}
}
