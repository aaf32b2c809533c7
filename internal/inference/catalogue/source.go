package catalogue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"presswork/internal/inference"
	"presswork/internal/input"
)

// maxFile is the largest models.yaml, in bytes.
const maxFile = 1 << 20

// SourceOptions configure a Source.
type SourceOptions struct {
	// Path names the models.yaml, of at most 1 MiB. Default: no file, so Discover is asked.
	Path string
	// Optional allows the file to be absent. Until it appears, Discover is asked. Default: a missing file is an error.
	Optional bool
	// Getenv returns the values of ${NAME} in the file. Default: os.Getenv.
	Getenv func(string) string
	// Discover lists functions that return the models of servers on this machine. An error means that the server has no
	// models. After a time-out the server is busy, and keeps the models that it had. Default: none.
	Discover []func(context.Context) ([]inference.Model, error)
	// Interval is how often the file is checked for a change. Default: 2 s.
	Interval time.Duration
	// DiscoverInterval is how often Discover is asked. Default: 15 s.
	DiscoverInterval time.Duration
	// Log records reloads and files that cannot be read. Default: discard.
	Log *slog.Logger
}

// Source holds the current catalogue and keeps it up to date. It is safe for concurrent use, except that Run must run
// only once.
type Source struct {
	opts    SourceOptions
	current atomic.Pointer[inference.Catalogue]
	// seen is the state of the file when it was last read.
	seen fileState
	// found lists the models that each function of Discover returned.
	found [][]inference.Model
}

// fileState detects that a file has changed. The zero value is a file that does not exist.
type fileState struct {
	modified time.Time
	size     int64
}

// NewSource reads the models once. It returns an error if the file is missing or invalid, but not if this machine has
// no models.
func NewSource(ctx context.Context, o SourceOptions) (*Source, error) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}

	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}

	if o.Interval <= 0 {
		o.Interval = 2 * time.Second
	}

	if o.DiscoverInterval <= 0 {
		o.DiscoverInterval = 15 * time.Second
	}
	s := &Source{opts: o, found: make([][]inference.Model, len(o.Discover))}
	s.current.Store(inference.NewCatalogue(nil))

	// The state is taken before the file is read, so that a change in between is seen at the next check.
	s.seen = stateOf(o.Path)
	if s.discovers() {
		s.discover(ctx)
		return s, nil
	}

	return s, s.readFile()
}

// discovers reports whether the models come from Discover: no file is configured, or the optional file has never
// existed.
func (s *Source) discovers() bool {
	return s.opts.Path == "" || s.opts.Optional && s.seen == fileState{}
}

// Current returns the catalogue that was last read without an error.
func (s *Source) Current() *inference.Catalogue { return s.current.Load() }

// Run follows the file, or the servers of this machine, until ctx ends. It logs the error of an invalid file and keeps
// the models that it had.
func (s *Source) Run(ctx context.Context) {
	fileTick, discoverTick := time.NewTicker(s.opts.Interval), time.NewTicker(s.opts.DiscoverInterval)
	defer fileTick.Stop()
	defer discoverTick.Stop()

	for {
		select {
		case <-ctx.Done():
			return
		case <-discoverTick.C:
			if s.discovers() {
				s.discover(ctx)
			}
		case <-fileTick.C:
			s.reloadIfChanged(ctx)
		}
	}
}

// reloadIfChanged reads the file again if its time or size has changed.
func (s *Source) reloadIfChanged(ctx context.Context) {
	now := stateOf(s.opts.Path)
	if now == s.seen || now == (fileState{}) && s.opts.Optional {
		// A file that disappears may be about to be replaced: its models stay.
		return
	}

	s.seen = now
	if err := s.readFile(); err != nil {
		s.opts.Log.ErrorContext(ctx, "could not reload models.yaml; the models stay as they were", "error", err)
		return
	}
	s.opts.Log.InfoContext(ctx, "reloaded models.yaml",
		"path", s.opts.Path, "models", len(s.Current().Models()))
}

// discover asks the servers of this machine for their models.
func (s *Source) discover(ctx context.Context) {
	for i, find := range s.opts.Discover {
		models, err := find(ctx)
		// After a time-out the server is only busy, so its models stay.
		if slow, ok := errors.AsType[net.Error](err); !ok || !slow.Timeout() {
			s.found[i] = models
		}
	}
	before := s.Current()
	found := inference.NewCatalogue(slices.Concat(s.found...))

	for _, m := range found.Models() {
		// A model keeps the time when it was first found.
		if old, err := before.Find(m.ID); err == nil {
			m.Created = old.Created
		}
	}
	s.current.Store(found)

	if n := len(found.Models()); n != len(before.Models()) {
		s.opts.Log.InfoContext(ctx, "found models on this machine", "models", n)
	}
}

// readFile replaces the catalogue with that of the file. After an error the old one stays.
func (s *Source) readFile() error {
	data, err := input.ReadFile(s.opts.Path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist", s.opts.Path)
	case err != nil:
		return fmt.Errorf("%s: %w", s.opts.Path, err)
	}

	c, err := Parse(s.opts.Path, data, s.opts.Getenv)
	if err != nil {
		return err
	}
	s.current.Store(c)

	return nil
}

// stateOf returns the time and the size of a file; zero if it does not exist.
func stateOf(path string) fileState {
	info, err := os.Stat(path)
	if err != nil {
		return fileState{}
	}

	return fileState{info.ModTime(), info.Size()}
}
