// Package upload reads the documents and files that clients send, within limits. Small files stay in memory and large
// ones go to temporary files; a node-wide budget counts both.
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
	// ShownMemory and ShownDisk show the bytes that are held.
	ShownMemory, ShownDisk Gauge
}

// NewIntake returns an Intake that holds nothing.
func NewIntake(o IntakeOptions) *Intake {
	return &Intake{
		memory: newBudget("memory", o.Memory, o.ShownMemory),
		disk:   newBudget("disk", o.Disk, o.ShownDisk),
	}
}

// Hold returns the account of one request of a key. Call Release at the end of the request.
func (i *Intake) Hold(key string) Hold { return Hold{intake: i, key: key} }

// budget is a number of bytes that all requests of a node share. The requests of one key may have half of it, so that
// one key leaves room for the others.
type budget struct {
	where string
	limit int64
	shown Gauge

	mu    sync.Mutex
	held  int64
	byKey map[string]int64
}

func newBudget(where string, limit int64, shown Gauge) *budget {
	return &budget{where: where, limit: limit, shown: shown, byKey: map[string]int64{}}
}

// take adds n bytes of a key. Errors: RateLimited when the key would hold more than half, StoreUnavailable when the
// node would hold more than the limit. Then nothing is added.
func (b *budget) take(key string, n int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()

	switch {
	case b.byKey[key]+n > b.limit/2:
		return fault.Errorf(fault.RateLimited,
			"the request bodies of this key need more than %s of this server's %s, the most for one key; "+
				"send fewer at a time",
			megabytes(b.limit/2), b.where)
	case b.held+n > b.limit:
		return fault.Errorf(fault.StoreUnavailable,
			"the request bodies at this server need more than %s of %s, the most that it allows; try again later",
			megabytes(b.limit), b.where)
	}
	b.held += n
	b.byKey[key] += n
	b.shown.Add(float64(n))

	return nil
}

// give returns n bytes of a key to the budget.
func (b *budget) give(key string, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held -= n
	b.shown.Add(-float64(n))

	if b.byKey[key] -= n; b.byKey[key] == 0 {
		delete(b.byKey, key)
	}
}

func megabytes(n int64) string { return fmt.Sprintf("%d MB", n>>20) }

// Hold counts the bytes that one request holds of the node's Intake. It is not safe for concurrent use.
type Hold struct {
	intake       *Intake
	key          string
	memory, disk int64
}

// InMemory returns a reader that counts the bytes read from r as held in memory. Reads fail with RateLimited or
// StoreUnavailable when the budget is spent.
func (h *Hold) InMemory(r io.Reader) io.Reader { return &counted{r, h.takeMemory} }

// OnDisk returns a reader that counts the bytes read from r as held in a temporary file. Reads fail as those of
// InMemory.
func (h *Hold) OnDisk(r io.Reader) io.Reader { return &counted{r, h.takeDisk} }

// takeMemory counts n more bytes as held in memory. Errors: as budget.take.
func (h *Hold) takeMemory(n int64) error {
	err := h.intake.memory.take(h.key, n)
	if err == nil {
		h.memory += n
	}

	return err
}

// takeDisk counts n more bytes as held on disk. Errors: as budget.take.
func (h *Hold) takeDisk(n int64) error {
	err := h.intake.disk.take(h.key, n)
	if err == nil {
		h.disk += n
	}

	return err
}

// toDisk counts n bytes of memory as moved to a temporary file.
func (h *Hold) toDisk(n int64) error {
	if err := h.takeDisk(n); err != nil {
		return err
	}
	h.intake.memory.give(h.key, n)
	h.memory -= n

	return nil
}

// Release gives all bytes back. It may be called more than once.
func (h *Hold) Release() {
	if h.memory > 0 {
		h.intake.memory.give(h.key, h.memory)
		h.memory = 0
	}
	h.ReleaseDisk()
}

// ReleaseDisk gives back the bytes of temporary files.
func (h *Hold) ReleaseDisk() {
	if h.disk > 0 {
		h.intake.disk.give(h.key, h.disk)
		h.disk = 0
	}
}

// counted is a reader whose bytes are taken from a budget.
type counted struct {
	from io.Reader
	take func(n int64) error
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	if n > 0 {
		if full := c.take(int64(n)); full != nil {
			return 0, full
		}
	}

	return n, err
}
