package cache

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// counters is the file of counters next to the entries. It serves Stats and saves counting for the cap. If it is
// lost, the entries are counted again.
type counters struct {
	Version int                `json:"version"`
	Kinds   map[Kind]KindStats `json:"kinds"`
	Totals  totals             `json:"totals"`
}

// count records a lookup in memory; flush writes the counters to disk.
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

// load reads the counters. found is false if there are none or they are damaged. The error is that of reading the file.
func (f *File) load() (c counters, found bool, err error) {
	b, err := os.ReadFile(filepath.Join(f.dir, countersName))
	if errors.Is(err, fs.ErrNotExist) {
		return c, false, nil
	}

	if err != nil {
		return c, false, err
	}

	if json.Unmarshal(b, &c) != nil || c.Version < 1 || c.Totals.Entries < 0 || c.Totals.Bytes < 0 {
		return counters{}, false, nil
	}

	return c, true, nil
}

// flush adds this process's counts to the counters on disk, unless a newer version wrote them. exact replaces the
// totals if it is not nil. The caller holds f.mu.
func (f *File) flush(exact *totals) error {
	lock, err := os.OpenFile(filepath.Join(f.dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() // closing releases the lock

	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}

	c, found, err := f.load()
	if err != nil || c.Version > fileVersion {
		return err
	}

	if !found && exact == nil {
		all, err := f.walk()
		if err != nil {
			return err
		}
		exact = new(totalOf(all))
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

// sum adds the counters of two maps for every kind.
func sum(a, b map[Kind]KindStats) map[Kind]KindStats {
	out := map[Kind]KindStats{}
	for _, k := range Kinds() {
		out[k] = KindStats{
			Hits:    a[k].Hits + b[k].Hits,
			Misses:  a[k].Misses + b[k].Misses,
			Expired: a[k].Expired + b[k].Expired,
		}
	}

	return out
}

// Stats implements Cache.
func (f *File) Stats(context.Context) (Stats, error) {
	f.mu.Lock()
	defer f.mu.Unlock()

	c, _, err := f.load()
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
		// Entries of a newer version stay. Another process may have removed the file meanwhile.
		case errors.Is(err, ErrNewer), errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil && f.o.isFresh(e.kind, content.Made, content.TTL, now):
			continue
		case err != nil && !errors.Is(err, errDamaged):
			return removed, err
		}
		f.removeEntry(e.path)
		removed++
	}
	aside, err := f.removeAside()

	return removed + aside, errors.Join(err, f.removeUnfinished())
}

// removeAside removes the damaged entries that setAside moved. It leaves any other file.
func (f *File) removeAside() (removed int, err error) {
	dir := filepath.Join(f.dir, damagedName)

	aside, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}

	for _, entry := range aside {
		if strings.Contains(entry.Name(), ".json-") {
			err = errors.Join(err, os.Remove(filepath.Join(dir, entry.Name())))
			removed++
		}
	}

	if removed == len(aside) {
		err = errors.Join(err, os.Remove(dir))
	}

	return removed, err
}

// removeUnfinished removes partial files left by processes that were killed.
func (f *File) removeUnfinished() error {
	const abandoned = time.Hour

	remove := func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasPrefix(d.Name(), unfinished) {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil && f.o.Now().Sub(info.ModTime()) > abandoned {
				err = os.Remove(path)
			}
		}

		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}

		return err
	}

	var errs []error
	for _, kind := range Kinds() {
		errs = append(errs, filepath.WalkDir(filepath.Join(f.dir, string(kind)), remove))
	}
	// The counters are written in the folder itself. Its other folders may not belong to the cache.
	files, err := os.ReadDir(f.dir)
	errs = append(errs, err)

	for _, file := range files {
		errs = append(errs, remove(filepath.Join(f.dir, file.Name()), file, nil))
	}

	return errors.Join(errs...)
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
	_, aside := f.removeAside()

	return errors.Join(err, aside, f.removeUnfinished())
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
