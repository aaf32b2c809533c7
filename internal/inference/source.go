package inference

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"time"
)

// maxCatalogueFile is the largest models.yaml, in bytes.
const maxCatalogueFile = 1 << 20

// SourceOptions say where the models come from.
type SourceOptions struct {
	// Path is the models.yaml; "" has none, and then Discover is asked.
	Path string
	// Getenv gives the values of ${NAME} in the file.
	Getenv func(string) string
	// Discover find the models of engines on this machine. An error is an engine
	// without models, unless it is a time-out: a busy one keeps those it had.
	Discover []func(context.Context) ([]Model, error)
	// Interval is how often the file, or this machine, is looked at. Default 2 s
	// for the file, 15 s for this machine.
	Interval time.Duration
	Log      *slog.Logger
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
		if o.Path == "" {
			o.Interval = 15 * time.Second
		}
	}
	s := &Source{opts: o, found: make([][]Model, len(o.Discover))}
	s.current.Store(NewCatalogue(nil))
	if o.Path == "" {
		s.discover(ctx)
		return s, nil
	}
	s.seen = stateOf(o.Path)
	return s, s.read()
}

// Current is the catalogue as it was read last without an error.
func (s *Source) Current() *Catalogue { return s.current.Load() }

// Run follows the file, or this machine, until ctx ends. A wrong file is logged
// and the models before it stay.
func (s *Source) Run(ctx context.Context) {
	tick := time.NewTicker(s.opts.Interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if s.opts.Path == "" {
			s.discover(ctx)
			continue
		}
		now := stateOf(s.opts.Path)
		if now == s.seen {
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
	f, err := os.Open(s.opts.Path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s does not exist", s.opts.Path)
		}
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxCatalogueFile+1))
	if err != nil {
		return err
	}
	if len(data) > maxCatalogueFile {
		return fmt.Errorf("%s has more than %d bytes", s.opts.Path, maxCatalogueFile)
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
