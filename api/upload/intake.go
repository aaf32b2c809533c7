// Package upload reads the documents and files that clients send, within limits. Small files stay in memory and large
// ones go to temporary files.
//
// An Intake is the budget of a node for both. Each request has a Hold, which reserves the bytes as they arrive and
// releases them at the end. ReadForm, ReadArchive and ReadPDF return a request with its files as Assets, which the
// caller must discard. A client may send a document as JSON, form, text or archive; Conversion is the same for all.
package upload

import (
	"fmt"
	"io"
	"sync"

	"presswork/internal/fault"
)

// Gauge shows a number of bytes to operators.
type Gauge interface{ Add(change float64) }

// Intake bounds the request bodies that this node holds at a time, in memory and in temporary files.
type Intake struct {
	memory, disk *budget
}

// IntakeOptions are the limits of an Intake. All fields are mandatory.
type IntakeOptions struct {
	// Memory and Disk are bytes. One key may hold half of each.
	Memory, Disk int64
	// MemoryGauge and DiskGauge show the bytes held now.
	MemoryGauge, DiskGauge Gauge
}

// NewIntake returns an Intake that holds nothing.
func NewIntake(o IntakeOptions) *Intake {
	return &Intake{
		memory: newBudget("memory", o.Memory, o.MemoryGauge),
		disk:   newBudget("disk", o.Disk, o.DiskGauge),
	}
}

// Hold returns the account of one request of a key. Call Release at the end of the request.
func (i *Intake) Hold(key string) Hold { return Hold{intake: i, key: key} }

// budget is a number of bytes that all requests of a node share. The requests of one key may have half of it, so that
// one key leaves room for the others.
type budget struct {
	where string // "memory" or "disk", for errors
	limit int64
	gauge Gauge

	// mu guards held and byKey.
	mu    sync.Mutex
	held  int64 // by all keys
	byKey map[string]int64
}

// newBudget returns a budget of which nothing is held.
func newBudget(where string, limit int64, gauge Gauge) *budget {
	return &budget{where: where, limit: limit, gauge: gauge, byKey: map[string]int64{}}
}

// reserve counts n more bytes for a key. Errors: RateLimited when the key would hold more than half of the limit,
// StoreUnavailable when the node would hold more than the limit. After an error nothing is counted.
func (b *budget) reserve(key string, n int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()

	switch {
	case b.byKey[key]+n > b.limit/2:
		return fault.Errorf(fault.RateLimited,
			"the request bodies of this key would take more than %s of this server's %s, the limit for one key; "+
				"send fewer at a time",
			mebibytes(b.limit/2), b.where)
	case b.held+n > b.limit:
		return fault.Errorf(fault.StoreUnavailable,
			"the request bodies on this server would take more than %s of %s, its limit; try again later",
			mebibytes(b.limit), b.where)
	}
	b.held += n
	b.byKey[key] += n
	b.gauge.Add(float64(n))

	return nil
}

// release stops counting n bytes of a key.
func (b *budget) release(key string, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held -= n
	b.gauge.Add(-float64(n))

	if b.byKey[key] -= n; b.byKey[key] == 0 {
		delete(b.byKey, key)
	}
}

// mebibytes returns a number of bytes for a message, rounded down.
func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }

// Hold counts the bytes that one request holds of the node's Intake. It is not safe for concurrent use.
type Hold struct {
	intake *Intake
	key    string
	// memory and disk are the bytes that this request holds.
	memory, disk int64
}

// InMemory returns a reader that counts the bytes read from r as held in memory. Reads fail with RateLimited or
// StoreUnavailable when the budget is spent.
func (h *Hold) InMemory(r io.Reader) io.Reader { return &counted{r, h.reserveMemory} }

// OnDisk returns a reader that counts the bytes read from r as held in a temporary file. Reads fail as those of
// InMemory.
func (h *Hold) OnDisk(r io.Reader) io.Reader { return &counted{r, h.reserveDisk} }

// reserveMemory counts n more bytes as held in memory. Errors: as budget.reserve.
func (h *Hold) reserveMemory(n int64) error {
	err := h.intake.memory.reserve(h.key, n)
	if err == nil {
		h.memory += n
	}

	return err
}

// reserveDisk counts n more bytes as held on disk. Errors: as budget.reserve.
func (h *Hold) reserveDisk(n int64) error {
	err := h.intake.disk.reserve(h.key, n)
	if err == nil {
		h.disk += n
	}

	return err
}

// moveToDisk counts n bytes on disk instead of in memory.
func (h *Hold) moveToDisk(n int64) error {
	if err := h.reserveDisk(n); err != nil {
		return err
	}
	h.intake.memory.release(h.key, n)
	h.memory -= n

	return nil
}

// Release stops counting all bytes of the request. It may be called more than once.
func (h *Hold) Release() {
	if h.memory > 0 {
		h.intake.memory.release(h.key, h.memory)
		h.memory = 0
	}
	h.ReleaseDisk()
}

// ReleaseDisk stops counting the bytes in temporary files.
func (h *Hold) ReleaseDisk() {
	if h.disk > 0 {
		h.intake.disk.release(h.key, h.disk)
		h.disk = 0
	}
}

// counted is a reader that reserves each byte in a budget.
type counted struct {
	from    io.Reader
	reserve func(n int64) error
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	if n > 0 {
		if full := c.reserve(int64(n)); full != nil {
			return 0, full
		}
	}

	return n, err
}
