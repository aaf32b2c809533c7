package api

import (
	"fmt"
	"io"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"presswork/internal/fault"
)

// intake bounds the request bodies that this node holds at a time: those in memory, and
// those set aside in temporary files.
type intake struct {
	memory, disk *budget
}

func newIntake(o Options, m *metrics) *intake {
	return &intake{
		memory: newBudget("memory", o.HeldMemory, m.bodies.WithLabelValues("memory")),
		disk:   newBudget("disk", o.HeldDisk, m.bodies.WithLabelValues("disk")),
	}
}

// budget is a number of bytes that all requests of a node share. The requests of one key
// may have half of it, so that one key leaves room for the others.
type budget struct {
	where string
	limit int64
	shown prometheus.Gauge

	mu    sync.Mutex
	held  int64
	byKey map[string]int64
}

func newBudget(where string, limit int64, shown prometheus.Gauge) *budget {
	return &budget{where: where, limit: limit, shown: shown, byKey: map[string]int64{}}
}

// take adds n bytes of a key. Errors: RateLimited when the key has its half,
// StoreUnavailable when the node has all; nothing is added then.
func (b *budget) take(key string, n int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()

	switch {
	case b.byKey[key]+n > b.limit/2:
		return fault.Errorf(
			fault.RateLimited,
			"the request bodies of this key take more than %s of this server's %s, the most for one key; "+
				"send fewer at a time",
			megabytes(b.limit/2),
			b.where,
		)
	case b.held+n > b.limit:
		return fault.Errorf(fault.StoreUnavailable,
			"the request bodies at this server take more than %s of its %s, the most that it allows; try again later",
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
	b.shown.Sub(float64(n))

	if b.byKey[key] -= n; b.byKey[key] == 0 {
		delete(b.byKey, key)
	}
}

func megabytes(n int64) string { return fmt.Sprintf("%d MB", n>>20) }

// hold counts the bytes that one request has taken from the node's intake. It is not safe
// for concurrent use.
type hold struct {
	intake       *intake
	key          string
	memory, disk int64
}

// inMemory counts what is read from r as kept in memory. Reads fail with the errors of
// budget.take.
func (h *hold) inMemory(r io.Reader) io.Reader { return &counted{r, h.takeMemory} }

// onDisk counts what is read from r as kept in a temporary file, as inMemory does.
func (h *hold) onDisk(r io.Reader) io.Reader { return &counted{r, h.takeDisk} }

func (h *hold) takeMemory(n int64) error {
	err := h.intake.memory.take(h.key, n)
	if err == nil {
		h.memory += n
	}

	return err
}

func (h *hold) takeDisk(n int64) error {
	err := h.intake.disk.take(h.key, n)
	if err == nil {
		h.disk += n
	}

	return err
}

// toDisk counts n bytes of memory as moved to a temporary file.
func (h *hold) toDisk(n int64) error {
	if err := h.takeDisk(n); err != nil {
		return err
	}
	h.intake.memory.give(h.key, n)
	h.memory -= n

	return nil
}

// release gives everything back. It may be called more than once.
func (h *hold) release() {
	if h.memory > 0 {
		h.intake.memory.give(h.key, h.memory)
		h.memory = 0
	}
	h.releaseDisk()
}

// releaseDisk gives back what lay in temporary files.
func (h *hold) releaseDisk() {
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
