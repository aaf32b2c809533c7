package cache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// fileVersion is the version of the entries. Entries of a newer version stay unchanged.
const fileVersion = 1

// touchEvery is the precision of "recently used": a second hit within it does not write.
const touchEvery = time.Minute

// Names in the folder of a File.
const (
	lockName     = ".lock"
	countersName = "counters.json"
	damagedName  = "damaged"
	unfinished   = ".new-"
)

// File keeps one JSON file per entry: KIND/xx/KEY.json in a folder. Entries are created by renaming, so readers
// never see half of one. An entry's modification time is its last use.
type File struct {
	dir string
	o   Options

	mu      sync.Mutex
	pending counters // not yet written to the counters on disk
	total   *totals  // known to this process; nil before the first Put
	closed  bool
}

// totals is the size of the whole cache.
type totals struct {
	Entries int   `json:"entries"`
	Bytes   int64 `json:"bytes"`
}

// fileEntry is the content of an entry's file.
type fileEntry struct {
	Version int             `json:"version"`
	Made    time.Time       `json:"made"`
	TTL     time.Duration   `json:"ttl"` // in nanoseconds
	Value   json.RawMessage `json:"value"`
}

// OpenFile opens the cache in a folder and creates the folder if necessary. The error contains the reason why the
// folder is unusable.
func OpenFile(dir string, o Options) (*File, error) {
	f := &File{dir: dir, o: o.withDefaults(), pending: counters{}}
	for _, k := range Kinds() {
		if err := os.MkdirAll(filepath.Join(dir, string(k)), 0o700); err != nil {
			return nil, fmt.Errorf("the cache folder cannot be used: %w", err)
		}
	}

	return f, nil
}

// path returns the file of an entry. The first two characters of the key name a folder, so that no folder has too many
// files. Shorter keys are filled up.
func (f *File) path(kind Kind, key string) string {
	prefix := (key + "__")[:2]
	return filepath.Join(f.dir, string(kind), prefix, key+".json")
}

// Get implements Cache.
func (f *File) Get(_ context.Context, kind Kind, key string) (json.RawMessage, bool, error) {
	if err := checkKey(kind, key); err != nil {
		return nil, false, err
	}
	path := f.path(kind, key)

	e, err := readEntry(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, ErrNewer):
		f.count(kind, miss)
		return nil, false, nil
	case errors.Is(err, errDamaged):
		f.setAside(path, err)
		f.count(kind, miss)

		return nil, false, nil
	case err != nil:
		return nil, false, err
	}

	now := f.o.Now()
	if !f.o.isFresh(kind, e.Made, e.TTL, now) {
		f.count(kind, expired)
		// Another process may have replaced the entry since. At worst the value is computed again; an expired
		// value is never served.
		f.removeEntry(path)

		return nil, false, nil
	}
	f.count(kind, hit)

	if info, err := os.Stat(path); err == nil && now.Sub(info.ModTime()) > touchEvery {
		_ = os.Chtimes(path, now, now) // a read-only cache still serves
	}

	return e.Value, true, nil
}

// errDamaged is in the chain of the error of an entry that cannot be read.
var errDamaged = errors.New("damaged")

// readEntry reads an entry. Errors: errDamaged, ErrNewer for an entry of a later version, errors of the file.
func readEntry(path string) (fileEntry, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return fileEntry{}, err
	}

	var e fileEntry
	switch err := json.Unmarshal(b, &e); {
	case err != nil:
		return e, fmt.Errorf("%w: %w", errDamaged, err)
	case e.Version > fileVersion:
		return e, ErrNewer
	case e.Version < 1 || e.Made.IsZero() || len(e.Value) == 0:
		return e, fmt.Errorf("%w: it is not a cache entry", errDamaged)
	}

	return e, nil
}

// setAside moves a damaged entry to a separate folder for inspection. Clean and Clear remove it there.
func (f *File) setAside(path string, why error) {
	to := filepath.Join(f.dir, damagedName, fmt.Sprintf("%s-%d", filepath.Base(path), f.o.Now().UnixNano()))

	err := os.MkdirAll(filepath.Dir(to), 0o700)
	if err == nil {
		err = os.Rename(path, to)
	}
	f.o.Log.Warn("set aside a damaged cache entry", "entry", path, "to", to, "reason", why, "error", err)
}

// Put implements Cache.
func (f *File) Put(_ context.Context, kind Kind, key string, value json.RawMessage) error {
	if err := checkKey(kind, key); err != nil {
		return err
	}

	if err := checkValue(value); err != nil {
		return err
	}
	path := f.path(kind, key)

	b, err := json.Marshal(fileEntry{fileVersion, f.o.Now().UTC(), f.o.ttl(kind), value})
	if err != nil {
		return err
	}

	before, _ := os.Stat(path)
	if err := f.write(path, b); err != nil {
		return fmt.Errorf("the cache cannot store the entry: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()

	if f.total == nil {
		known, found, _ := f.load()
		if !found {
			return f.shrink() // shrink also counts
		}
		f.total = &known.Totals
	}

	change := totals{1, int64(len(b))}
	if before != nil {
		change = totals{0, int64(len(b)) - before.Size()}
	}
	f.total.add(change)
	f.pending.Totals.add(change)

	if f.o.exceedsCap(f.total.Entries, f.total.Bytes) {
		return f.shrink()
	}

	return nil
}

// add adds a change, which may be negative.
func (t *totals) add(o totals) { t.Entries, t.Bytes = t.Entries+o.Entries, t.Bytes+o.Bytes }

// write replaces the file at path by a complete one, so that no reader sees a part of it.
func (f *File) write(path string, b []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}

	tmp, err := os.CreateTemp(dir, unfinished+"*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(b)
	now := f.o.Now()

	// The time of the file is the time of its last use.
	err = errors.Join(err, tmp.Close(), os.Chtimes(tmp.Name(), now, now))
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}

	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}

	return nil
}

// removeEntry deletes an entry and updates the totals.
func (f *File) removeEntry(path string) {
	info, err := os.Stat(path)
	if err != nil || os.Remove(path) != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	change := totals{-1, -info.Size()}
	f.pending.Totals.add(change)

	if f.total != nil {
		f.total.add(change)
	}
}

// found is an entry that walk has found.
type found struct {
	path string
	kind Kind
	size int64     // of the file, in bytes
	used time.Time // the last use, by the time of the file
}

// walk lists the entries. It skips files that are deleted during the walk, and files that cannot be entries, because
// the folder may hold other files.
func (f *File) walk() ([]found, error) {
	var all []found

	for _, kind := range Kinds() {
		err := filepath.WalkDir(filepath.Join(f.dir, string(kind)), func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}

			key, isEntry := strings.CutSuffix(filepath.Base(path), ".json")
			// Skip files that are not entries. A file in a wrong folder would never be read.
			if err != nil || d.IsDir() || !isEntry || checkKey(kind, key) != nil || path != f.path(kind, key) {
				return err
			}

			if info, err := d.Info(); err == nil {
				all = append(all, found{path, kind, info.Size(), info.ModTime()})
			}

			return nil
		})
		if err != nil {
			return nil, err
		}
	}

	return all, nil
}

// totalOf returns the number and the size of the entries.
func totalOf(all []found) (sum totals) {
	for _, e := range all {
		sum.add(totals{1, e.size})
	}

	return sum
}

// shrink counts the entries. If they exceed the cap, it removes the least recently used ones until a tenth of the cap
// is free. The next Puts therefore need not walk the folder. The caller holds f.mu.
func (f *File) shrink() error {
	all, err := f.walk()
	if err != nil {
		return err
	}

	now := totalOf(all)
	if !f.o.exceedsCap(now.Entries, now.Bytes) {
		f.total = &now
		return f.flush(&now)
	}
	slices.SortFunc(all, func(a, b found) int { return a.used.Compare(b.used) })

	for _, e := range all {
		if !f.o.exceedsCap(now.Entries+f.o.MaxEntries/10, now.Bytes+f.o.MaxBytes/10) {
			break
		}

		if err := os.Remove(e.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		now.add(totals{-1, -e.size})
	}
	f.total = &now

	return f.flush(&now)
}
