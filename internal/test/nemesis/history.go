package nemesis

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"presswork"
)

// The operations in a history.
const (
	opSubmit     = "submit"
	opGet        = "get"
	opCancel     = "cancel"
	opWatch      = "watch"
	opWebhook    = "webhook"
	opCompletion = "completion"
	opFault      = "fault"
	opRecovery   = "recovery"
)

// Entry is one line of a history: a request with its response, a fault, or the wait of a job for its next run.
type Entry struct {
	Op string `json:"op"`
	// Call and Return are the begin and the end, as time since the start of the run.
	Call   time.Duration `json:"call"`
	Return time.Duration `json:"return"`
	// Job is the caller's number of the job, or 0.
	Job int `json:"job,omitempty"`
	// Kind is the kind of the job or of the fault.
	Kind string `json:"kind,omitempty"`
	// Key is the idempotency key of a submission.
	Key string `json:"key,omitempty"`
	// Code is the HTTP status, or 0 without a response.
	Code int `json:"code,omitempty"`
	// ID is the job's id.
	ID string `json:"id,omitempty"`
	// Status and Seq are those of the job in the response.
	Status presswork.Status `json:"status,omitempty"`
	Seq    int64            `json:"seq,omitempty"`
	// Since is the sequence number at which a watcher began. Seqs are the events that it received, and End is the type of
	// the last event.
	Since int64   `json:"since,omitempty"`
	Seqs  []int64 `json:"seqs,omitempty"`
	End   string  `json:"end,omitempty"`
	// Message is the id of a webhook's message.
	Message string `json:"message,omitempty"`
	// Tokens is the number of tokens that the caller of a completion received. Whole means that it received the
	// end.
	Tokens int  `json:"tokens,omitempty"`
	Whole  bool `json:"whole,omitempty"`
	// Target is the target of a fault.
	Target string `json:"target,omitempty"`
	Error  string `json:"error,omitempty"`
}

// history keeps entries in memory and in a file with a line for each.
type history struct {
	began time.Time

	mu      sync.Mutex
	entries []Entry
	out     *bufio.Writer
	enc     *json.Encoder
}

// newHistory returns a history that starts now and writes to a file until the test ends.
func newHistory(t testing.TB, path string) *history {
	t.Helper()

	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	h := &history{began: time.Now(), out: bufio.NewWriter(f)}
	h.enc = json.NewEncoder(h.out)
	t.Cleanup(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.out.Flush()
		f.Close()
	})

	return h
}

// now returns the time since the start of the run.
func (h *history) now() time.Duration { return time.Since(h.began) }

// add adds an entry to the memory and the file.
func (h *history) add(e Entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.entries = append(h.entries, e)
	h.enc.Encode(e)
}

// all returns the entries so far.
func (h *history) all() []Entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.out.Flush()

	return slices.Clip(h.entries)
}
