// Package runlog keeps a log of the local converter's runs: their duration, their size, and whether the cache had
// the result. The log is one small file of the user, without names or content of documents. This package cannot
// reach a network, so the log stays on the machine.
package runlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// Run is one run of the converter. Times are in milliseconds and are means over its documents. Pages and Bytes are sums
// over its results.
type Run struct {
	// Version is that of this format, 1.
	Version   int       `json:"v"`
	At        time.Time `json:"at"` // the end of the run
	Documents int       `json:"documents"`
	Failures  int       `json:"failures"`
	Pages     int       `json:"pages"`
	Bytes     int64     `json:"bytes"`
	TotalMS   float64   `json:"total_ms"`
	// AnalyzeMS is 0 if no theme was chosen, PrintMS if nothing was printed.
	AnalyzeMS float64 `json:"analyze_ms"`
	RenderMS  float64 `json:"render_ms"`
	PrintMS   float64 `json:"print_ms"`
	// Lookups counts the lookups in the analysis cache, Hits those that succeeded.
	Lookups int `json:"lookups"`
	Hits    int `json:"hits"`
}

// version is the format of a line. Lines in a newer format are skipped.
const version = 1

// The limits of the run log, in bytes. Its two files hold about ten thousand runs.
const (
	maxBytes = 1 << 20 // of a file
	maxLine  = 4 << 10
)

// The files of the run log. A full current file becomes the previous one.
const (
	current  = "telemetry.jsonl"
	previous = "telemetry.1.jsonl"
	lockFile = ".telemetry.lock"
)

// Folder returns the folder of the user's run log. It is "" if PRESSWORK_TELEMETRY is off or there is no home
// directory. Errors: a value of PRESSWORK_TELEMETRY other than on and off.
func Folder(getenv func(string) string) (string, error) {
	switch value := getenv("PRESSWORK_TELEMETRY"); value {
	case "", "on":
	case "off":
		return "", nil
	default:
		return "", fmt.Errorf("PRESSWORK_TELEMETRY=%q: allowed: on, off", value)
	}

	if state := getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, "presswork"), nil
	}

	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "presswork"), nil
	}

	return "", nil
}

// Log is the run log in a folder. Several processes may write to it.
type Log struct{ dir string }

// Open returns the log in a folder. The first Add creates the folder.
func Open(dir string) *Log { return &Log{dir} }

// Add appends a run in one write. Errors: those of the system.
func (d *Log) Add(r Run) error {
	r.Version = version

	line, err := json.Marshal(r)
	if err != nil {
		return err
	}

	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return err
	}

	path := filepath.Join(d.dir, current)
	if full(path, len(line)) {
		if err := d.rotate(path, len(line)); err != nil {
			return err
		}
	}

	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))

	return errors.Join(err, f.Close())
}

// full reports whether a line would make the file too large.
func full(path string, line int) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size()+int64(line) >= maxBytes
}

// rotateWait bounds the wait for a process that begins a new file, because it may be suspended. After that, a run is
// added to the full file.
const rotateWait = 5 * time.Second

// rotate begins a new file. Only one process does that, and the others wait. Otherwise they could write any number of
// lines in the meantime.
func (d *Log) rotate(path string, line int) error {
	lock, err := os.OpenFile(filepath.Join(d.dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() // which also unlocks

	locked := func() bool { return syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil }
	// Flock has no time-out, so poll.
	for until := time.Now().Add(rotateWait); !locked(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			return nil
		}
	}

	if !full(path, line) { // another process was faster
		return nil
	}

	return os.Rename(path, filepath.Join(d.dir, previous))
}

// Runs reads the run log, the oldest run first. It skips and counts lines that are damaged or of a newer version.
// A missing run log is empty. It fails if a file of the log cannot be read.
func (d *Log) Runs() (runs []Run, skipped int, err error) {
	for _, name := range []string{previous, current} {
		b, err := readBounded(filepath.Join(d.dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}

		if err != nil {
			return nil, 0, err
		}

		for line := range bytes.Lines(b) {
			var r Run
			if len(line) > maxLine || json.Unmarshal(line, &r) != nil || !r.sane() {
				skipped++
				continue
			}
			runs = append(runs, r)
		}
	}
	slices.SortStableFunc(runs, func(a, b Run) int { return a.At.Compare(b.At) })

	return runs, skipped, nil
}

// readBounded reads slightly more than the limit of a run log, because each of many writers may exceed it by a
// line.
func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()

	return io.ReadAll(io.LimitReader(f, 2*maxBytes))
}

// sane reports whether a line can come from this program. Other programs can write to the file.
func (r Run) sane() bool {
	const limit = 1e12
	for _, v := range []float64{
		r.TotalMS, r.AnalyzeMS, r.RenderMS, r.PrintMS, float64(r.Bytes), float64(r.Documents),
		float64(r.Failures), float64(r.Pages), float64(r.Lookups), float64(r.Hits),
	} {
		if v < 0 || v > limit {
			return false
		}
	}

	// A record that breaks these rules is damaged, or of another version.
	return r.Version == version && r.Documents > 0 && r.Hits <= r.Lookups && r.Failures <= r.Documents && !r.At.IsZero()
}

// Clear removes the run log. A missing run log is no error.
func (d *Log) Clear() error {
	var errs []error

	for _, name := range []string{current, previous, lockFile} {
		if err := os.Remove(filepath.Join(d.dir, name)); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}

	return errors.Join(errs...)
}
