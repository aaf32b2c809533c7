package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"presswork/internal/inference"
)

// PoolOptions configures a Pool. The zero value of each field but Box is usable.
type PoolOptions struct {
	// Box is the sandbox for each interpreter.
	Box *Box
	// Python is the interpreter: a name in /usr/bin or /usr/local/bin, or a path below /usr. Default "python3".
	Python string
	// Setting is the operator's name for the option Python, for errors about a missing interpreter. Default "Python".
	Setting string
	// Waiting is the number of started interpreters for future sessions. Each takes about 10 MB of memory. Default
	// 2.
	Waiting int
	// Cells is the number of cells that run at a time; others wait. Default half the number of CPUs, at least 1.
	Cells int
	// Timeout bounds one cell. Default 20 s.
	Timeout time.Duration
	// Memory bounds the processes of one session, in bytes. Default 512 MiB.
	Memory int64
	// Budget bounds all sessions together, with their files, in bytes. Default: a quarter of the memory of the
	// machine or of this process's cgroup, and at least one session.
	Budget int64
	// Log receives errors that no call returns. Default: discard.
	Log *slog.Logger
}

// withDefaults replaces zero values by their defaults, and checks the options.
func (o PoolOptions) withDefaults() (PoolOptions, error) {
	o.Python = cmp.Or(o.Python, "python3")
	o.Setting = cmp.Or(o.Setting, "Python")
	o.Waiting = cmp.Or(o.Waiting, 2)
	o.Cells = cmp.Or(o.Cells, max(1, runtime.NumCPU()/2))
	o.Timeout = cmp.Or(o.Timeout, 20*time.Second)
	o.Memory = cmp.Or(o.Memory, 512<<20)

	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	switch {
	case o.Box == nil:
		return o, errors.New("sandbox: a pool needs a Box")
	case o.Waiting < 0, o.Cells < 1, o.Timeout < 0:
		return o, fmt.Errorf("sandbox: Waiting is %d, Cells %d, Timeout %s; none may be negative",
			o.Waiting, o.Cells, o.Timeout)
	case o.Memory < 64<<20:
		return o, fmt.Errorf("sandbox: Memory is %d bytes; an interpreter needs at least 67108864 (64 MiB)", o.Memory)
	}

	return o.withBudget()
}

// sessionTime is how long an interpreter may run after a session took it. It is far longer than a request may take.
const sessionTime = 10 * time.Minute

// Pool runs the interpreters of sessions. It is safe for concurrent use.
type Pool struct {
	opt PoolOptions
	// grace is how long interrupted code may take to end, and how long an interpreter without an answer may take to
	// exit.
	grace   time.Duration
	cells   chan struct{}     // holds one value for each running cell
	waiting chan *interpreter // unbuffered; keepReady holds an interpreter until someone takes it
	budget  budget

	mu    sync.Mutex
	fonts *File // matplotlib's list of fonts; nil until it is built
	// listed is closed when fonts is set. Interpreters that started earlier have no list.
	listed chan struct{}

	stop    context.CancelFunc
	filling sync.WaitGroup
}

// NewPool returns a Pool, or an error if opt is not valid. It starts no interpreter: see Start.
func NewPool(opt PoolOptions) (*Pool, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}

	return &Pool{
		opt: opt, grace: 3 * time.Second, cells: make(chan struct{}, opt.Cells), waiting: make(chan *interpreter),
		budget: budget{free: opt.Budget, changed: make(chan struct{})}, listed: make(chan struct{}), stop: func() {},
	}, nil
}

// Start starts one interpreter as a test, and from then on keeps Waiting interpreters ready. Errors wrap
// ErrUnavailable.
func (p *Pool) Start(ctx context.Context) error {
	first, err := p.startInterpreter(ctx, nil)
	if err != nil {
		return fmt.Errorf("%w: %s does not run: %w", ErrUnavailable, p.opt.Python, err)
	}

	ctx, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	for n := range p.opt.Waiting {
		in := first
		if n > 0 {
			in = nil
		}
		p.filling.Go(func() { p.keepReady(ctx, in) })
	}
	p.filling.Go(func() { p.listFonts(ctx) })

	return nil
}

// Stop ends the waiting interpreters. It does not close sessions; their callers must. The error is always nil.
func (p *Pool) Stop(context.Context) error {
	p.stop()
	p.filling.Wait()

	return nil
}

// keepReady keeps one interpreter ready until ctx ends. It begins with in, if that is not nil.
func (p *Pool) keepReady(ctx context.Context, in *interpreter) {
	for {
		if in == nil {
			var err error
			if in, err = p.startInterpreter(ctx, nil); err != nil {
				if ctx.Err() != nil {
					return
				}
				p.opt.Log.Warn("starting an interpreter in advance failed", "error", err)

				select {
				case <-ctx.Done():
					return
				case <-time.After(10 * time.Second):
					continue
				}
			}
		}

		var listed chan struct{}
		if !in.fonts {
			listed = p.listed
		}

		select {
		case p.waiting <- in:
		case <-listed: // in started without the font list, so its first figure would take seconds: replace it
			in.stop()
		case <-in.ended():
			in.stop()
		case <-ctx.Done():
			in.stop()
			return
		}
		in = nil
	}
}

// takeInterpreter returns a waiting interpreter, or starts one if none waits. A session with files always gets a new
// one, because files are mounted at the start.
func (p *Pool) takeInterpreter(ctx context.Context, files []File) (*interpreter, error) {
	if len(files) == 0 {
		select {
		case in := <-p.waiting:
			return in, nil
		default:
		}
	}

	return p.startInterpreter(ctx, files)
}

// Session returns a session whose code finds files in InputDir. The session uses no memory until its first Run. The
// caller must call Close. Session returns an error if a file's name is not a plain file name, or if two files have the
// same name.
func (p *Pool) Session(_ context.Context, files []File) (*Session, error) {
	if err := checkFiles(files); err != nil {
		return nil, err
	}

	return &Session{pool: p, files: files}, nil
}

// Session holds the variables and files of one conversation with an interpreter. It is not safe for concurrent use.
type Session struct {
	pool   *Pool
	files  []File
	in     *interpreter // nil before the first cell and after the interpreter has ended
	held   int64        // reserved part of the budget, in bytes
	number int          // of the last cell, from 1
	lost   bool         // an earlier interpreter has ended, and its variables are gone
	closed bool
}

// maxCode is the largest cell, in bytes.
const maxCode = 1 << 20

// Run runs one cell. Failures of the code are in the Output of the result, for the model. An error means that ctx
// ended, that no interpreter could be started, or that the session is closed.
func (s *Session) Run(ctx context.Context, code string) (inference.ToolResult, error) {
	if s.closed {
		return inference.ToolResult{}, errors.New("sandbox: the session is closed")
	}

	if len(code) > maxCode {
		return inference.ToolResult{
			Output: fmt.Sprintf("The code has %d bytes; allowed is %d.", len(code), maxCode),
			Failed: true,
		}, nil
	}

	select {
	case s.pool.cells <- struct{}{}:
		defer func() { <-s.pool.cells }()
	case <-ctx.Done():
		return inference.ToolResult{}, context.Cause(ctx)
	}

	// Memory is reserved after the slot for a cell, so a session that waits for a slot takes no memory from others.
	if err := s.pool.budget.reserve(ctx, s, s.pool.opt.share()); err != nil {
		s.pool.budget.releaseTo(s, s.held)
		return inference.ToolResult{}, err
	}
	var note string

	if s.in == nil {
		in, err := s.pool.takeInterpreter(ctx, s.files)
		if err != nil {
			s.pool.budget.releaseTo(s, 0)
			return inference.ToolResult{}, err
		}
		in.endAfter(sessionTime)

		s.in = in
		if s.lost {
			note = "[This is a new interpreter: variables and files of earlier calls are gone.]\n"
		}
	}
	s.number++
	s.in.restoreLimits()

	a, err := s.in.run(ctx, s.number, code, s.pool.opt.Timeout, s.pool.grace)
	if err != nil || a.ended {
		s.endInterpreter()
	} else {
		s.pool.budget.releaseTo(s, s.in.limitIdle())
	}

	if err != nil {
		return inference.ToolResult{}, err
	}

	return a.result(note), nil
}

// endInterpreter ends the interpreter and releases its memory. The session must not be listed as idle.
func (s *Session) endInterpreter() {
	if s.in != nil {
		s.in.stop()
		s.in, s.lost = nil, true
	}
	s.pool.budget.releaseTo(s, 0)
}

// Close ends the interpreter and all its processes. A second call does nothing. The error is always nil.
func (s *Session) Close() error {
	s.closed = true
	s.pool.budget.removeIdle(s)
	s.endInterpreter()

	return nil
}
