package cache

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// counters are what a File keeps beside its entries. They are a service to
// people and a shortcut for the cap, so losing them loses nothing else.
type counters struct {
	Version int                `json:"version"`
	Kinds   map[Kind]KindStats `json:"kinds"`
	Totals  totals             `json:"totals"`
}

func (f *File) count(kind Kind, l lookup) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pending.Kinds == nil {
		f.pending.Kinds = map[Kind]KindStats{}
	}
	s := f.pending.Kinds[kind]
	s.count(l)
	f.pending.Kinds[kind] = s
}

func (f *File) load() (counters, error) {
	var c counters
	b, err := os.ReadFile(filepath.Join(f.dir, countersName))
	if errors.Is(err, fs.ErrNotExist) {
		return counters{}, nil
	}
	if err != nil {
		return counters{}, err
	}
	if json.Unmarshal(b, &c) != nil {
		return counters{}, nil // counted anew
	}
	return c, nil
}

// flush adds what this process counted to the counters on the disk; exact, when
// given, replaces the totals. f.mu is held.
func (f *File) flush(exact *totals) error {
	lock, err := os.OpenFile(filepath.Join(f.dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() // which also unlocks
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	c, err := f.load()
	if err != nil {
		return err
	}
	c.Version = fileVersion
	c.Kinds = sum(c.Kinds, f.pending.Kinds)
	c.Totals.add(f.pending.Totals)
	if exact != nil {
		c.Totals = *exact
	}
	b, err := json.Marshal(c)
	if err == nil {
		err = f.write(filepath.Join(f.dir, countersName), b)
	}
	if err == nil {
		f.pending = counters{}
	}
	return err
}

func sum(a, b map[Kind]KindStats) map[Kind]KindStats {
	out := map[Kind]KindStats{}
	for _, k := range Kinds() {
		out[k] = KindStats{Hits: a[k].Hits + b[k].Hits, Misses: a[k].Misses + b[k].Misses, Expired: a[k].Expired + b[k].Expired}
	}
	return out
}

// Stats implements Cache.
func (f *File) Stats(context.Context) (Stats, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, err := f.load()
	if err != nil {
		return Stats{}, err
	}
	kinds := sum(c.Kinds, f.pending.Kinds)
	all, err := f.walk()
	if err != nil {
		return Stats{}, err
	}
	for _, e := range all {
		s := kinds[e.kind]
		s.Entries++
		s.Bytes += e.size
		kinds[e.kind] = s
	}
	return newStats("file", f.dir, kinds), nil
}

// Clean implements Cache.
func (f *File) Clean(context.Context) (int, error) {
	all, err := f.walk()
	if err != nil {
		return 0, err
	}
	removed, now := 0, f.o.Now()
	for _, e := range all {
		content, err := readEntry(e.path)
		switch {
		case errors.Is(err, ErrNewer), errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil && f.o.fresh(e.kind, content.Made, content.TTL, now):
			continue
		case err != nil && !errors.Is(err, errDamaged):
			return removed, err
		}
		f.drop(e.path)
		removed++
	}
	aside, err := os.ReadDir(filepath.Join(f.dir, damagedName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return removed, err
	}
	return removed + len(aside), os.RemoveAll(filepath.Join(f.dir, damagedName))
}

// Clear implements Cache.
func (f *File) Clear(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	all, err := f.walk()
	if err != nil {
		return err
	}
	for _, e := range all {
		if err := os.Remove(e.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	f.pending, f.total = counters{}, &totals{}
	err = os.Remove(filepath.Join(f.dir, countersName))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, os.RemoveAll(filepath.Join(f.dir, damagedName)))
}

// Close implements Cache.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	if len(f.pending.Kinds) == 0 && f.pending.Totals == (totals{}) {
		return nil
	}
	return f.flush(nil)
}
