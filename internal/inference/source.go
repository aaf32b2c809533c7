package inference

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

	"presswork/internal/input"
)

// maxCatalogueFile is the largest models.yaml, in bytes.
const maxCatalogueFile = 1 << 20

// SourceOptions wire a Source: they are where the models come from.
type SourceOptions struct {
	// Path is the models.yaml, of at most 1 MiB. Default: none, and then Discover
	// is asked.
	Path string
	// Optional lets the file be absent: until it appears Discover is asked.
	// Default: a missing file is an error.
	Optional bool
	// Getenv gives the values of ${NAME} in the file. Default os.Getenv.
	Getenv func(string) string
	// Discover find the models of engines on this machine. An error is an engine
	// without models, unless it is a time-out: a busy one keeps those it had.
	// Default: none.
	Discover []func(context.Context) ([]Model, error)
	// Interval is how often the file is looked at. Default 2 s.
	Interval time.Duration
	// DiscoverInterval is how often Discover is asked. Default 15 s.
	DiscoverInterval time.Duration
	// Log gets reloads, and files that cannot be read. Default: discard.
	Log *slog.Logger
}

// Source holds the catalogue as it is now and follows its file. It is safe for
// concurrent use.
type Source struct {
	opts    SourceOptions
	current atomic.Pointer[Catalogue]
	// seen is the file as it was read last, found what Discover found, each.
	seen  fileState
	found [][]Model
}

type fileState struct {
	modified time.Time
	size     int64
}

// NewSource reads the models once. A file that is missing or wrong is an error;
// that nothing is found on this machine is none.
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
	s := &Source{opts: o, found: make([][]Model, len(o.Discover))}
	s.current.Store(NewCatalogue(nil))

	s.seen = stateOf(o.Path)
	if s.discovers() {
		s.discover(ctx)
		return s, nil
	}

	return s, s.read()
}

// discovers reports whether the models are those of this machine: there is no
// file, and none has been there yet.
func (s *Source) discovers() bool {
	return s.opts.Path == "" || s.opts.Optional && s.seen == fileState{}
}

// Current is the catalogue as it was read last without an error.
func (s *Source) Current() *Catalogue { return s.current.Load() }

// Run follows the file, or this machine, until ctx ends. A wrong file is logged
// and the models before it stay.
func (s *Source) Run(ctx context.Context) {
	tick, look := time.NewTicker(s.opts.Interval), time.NewTicker(s.opts.DiscoverInterval)
	defer tick.Stop()
	defer look.Stop()

	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			if s.discovers() {
				s.discover(ctx)
			}
			continue
		case <-tick.C:
		}

		now := stateOf(s.opts.Path)
		if now == s.seen || now == (fileState{}) && s.opts.Optional {
			// A file that went away may be on its way back: its models stay.
			continue
		}

		s.seen = now
		if err := s.read(); err != nil {
			s.opts.Log.ErrorContext(ctx, "the models stay as they were", "error", err)
			continue
		}
		s.opts.Log.InfoContext(ctx, "models read again", "path", s.opts.Path, "models", len(s.Current().models))
	}
}

func (s *Source) discover(ctx context.Context) {
	for i, find := range s.opts.Discover {
		models, err := find(ctx)
		if slow, ok := errors.AsType[net.Error](err); !ok || !slow.Timeout() {
			s.found[i] = models
		}
	}
	found := NewCatalogue(slices.Concat(s.found...))

	before := s.Current()
	for i, m := range found.models {
		// A model keeps the time it was found first.
		if old := before.byName[m.ID]; old != nil {
			found.models[i].Created = old.Created
		}
	}
	s.current.Store(found)

	if len(found.models) != len(before.models) {
		s.opts.Log.InfoContext(ctx, "models found on this machine", "models", len(found.models))
	}
}

func (s *Source) read() error {
	data, err := input.ReadFile(s.opts.Path, maxCatalogueFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist", s.opts.Path)
	case err != nil:
		return fmt.Errorf("%s: %w", s.opts.Path, err)
	}

	c, err := ParseCatalogue(s.opts.Path, data, s.opts.Getenv)
	if err != nil {
		return err
	}
	s.current.Store(c)

	return nil
}

func stateOf(path string) fileState {
	info, err := os.Stat(path)
	if err != nil {
		return fileState{}
	}

	return fileState{info.ModTime(), info.Size()}
}
