package chromium

import (
	"context"
	"errors"
	"net/url"
	"sync"

	"github.com/go-rod/rod/lib/cdp"

	"presswork/internal/export"
	"presswork/internal/fault"
	"presswork/internal/guard"
)

// visit is one foreign page in a browser context of its own.
type visit struct {
	*pageContext
	session *guard.Session
	page    *url.URL
	opts    export.VisitOptions

	// ctx ends with the export, the tab, the guard session, or a reason to give
	// the page up; its cause is which.
	ctx    context.Context
	giveUp context.CancelCauseFunc

	title   string
	changed chan struct{} // something below has

	mu       sync.Mutex
	sessions map[string]bool // of the tab, the frames in other processes and the workers
	frames   map[string]*frame
	main     document
	judged   string // the loader of the document that arrived last judged
	moves    int    // navigations of the main frame
	targets  int    // sessions there were
	dialogs  int
	ours     isolated
	lost     string // the first resource that was not loaded
	thrown   string // the first script error
}

// isolated is a world of our own in the document of a loader.
type isolated struct {
	loader string
	id     int
}

// document is what the main frame shows.
type document struct {
	loader, url string
	// status is its HTTP status; 0 before it is asked, and when it has none.
	status int
	// failed is why Chromium shows a page of its own instead, or why the document
	// broke off: "net::ERR_…".
	failed string
}

// openVisit prepares a context for the page, the spare one if that suits. It is
// paired with leave. Errors: errRetired and errSpareLost ask for another try.
func (i *instance) openVisit(
	ctx context.Context,
	proxy *guard.Proxy,
	page *url.URL,
	o export.VisitOptions,
) (*visit, error) {
	if err := i.enter(); err != nil {
		return nil, err
	}
	size := export.ViewportOf(o)
	spare := i.takeSpare(proxy, size)
	v := &visit{
		pageContext: &pageContext{
			browserContext: browserContext{inst: i},
		},
		page:     page,
		opts:     o,
		changed:  make(chan struct{}, 1),
		sessions: map[string]bool{},
		frames:   map[string]*frame{},
	}
	v.ctx, v.giveUp = context.WithCancelCause(ctx)

	err := i.open(ctx, func(ctx context.Context) error {
		if spare == nil {
			if err := v.open(ctx, proxy, size); err != nil {
				return err
			}

			return v.prepare(ctx)
		}

		made, err := spare.await()
		if made != nil {
			v.pageContext = made
		}

		if err != nil {
			return err
		}

		if err = v.tab.verdict(ctx, v.prepare(ctx)); errors.Is(err, errTabCrashed) {
			err = errSpareLost
		}

		return err
	}, v.leave)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(v.tab.life, func() { v.giveUp(context.Cause(v.tab.life)) })
	context.AfterFunc(v.ctx, v.notify)

	go func() {
		select {
		case <-v.session.Done():
			v.giveUp(v.session.Err())
		case <-i.conn.done: // who waits for an event would wait until time is up
			v.giveUp(i.conn.cause())
		case <-v.ctx.Done():
		}
	}()

	return v, nil
}

// prepare opens the gate and shuts all else that can be. It sends the commands
// at once: the browser takes them in the order they come, which is of no
// consequence.
func (v *visit) prepare(ctx context.Context) error {
	v.session = v.gate.Open(v.ctx)
	v.follow(v.tab.session)
	commands := v.preparations()

	errs := make(chan error, len(commands))
	for _, c := range commands {
		go func() {
			_, err := v.tab.call(ctx, c.method, c.params)
			errs <- refused(c, err)
		}()
	}

	var first error
	for range commands {
		if err := <-errs; first == nil {
			first = err
		}
	}

	return first
}

// refused names the option that the browser took no liking to.
func refused(c command, err error) error {
	refusal, ok := errors.AsType[*cdp.Error](err)
	if ok && c.option != "" {
		return fault.Errorf(fault.InvalidOption, "%s: %s", c.option, refusal.Message).
			WithParam("options." + c.option).
			WithCause(err)
	}

	return err
}

// leave destroys the context, in the background: a renderer that hangs takes
// its time.
func (v *visit) leave() {
	v.giveUp(nil)

	if v.session != nil {
		v.session.End()
	}
	i := v.inst
	i.mu.Lock()
	v.mu.Lock()
	for s := range v.sessions {
		delete(i.visits, s)
	}
	v.mu.Unlock()

	i.mu.Unlock()
	go func() {
		defer i.drop()
		v.close()
	}()
}

// follow hands the events of a session to the visit.
func (v *visit) follow(session string) {
	v.inst.mu.Lock()
	v.inst.visits[session] = v
	v.inst.mu.Unlock()
	v.mu.Lock()

	v.sessions[session] = true
	if v.targets++; v.targets > maxTargets {
		v.giveUp(tooMany("opens more than %d frames of other sites and workers", maxTargets))
	}
	v.mu.Unlock()
}

// unfollow forgets a session that has ended.
func (v *visit) unfollow(session string) {
	v.inst.mu.Lock()
	delete(v.inst.visits, session)
	v.inst.mu.Unlock()
	v.mu.Lock()
	delete(v.sessions, session)
	v.mu.Unlock()
}

// inform hands an event to the visit it is of.
func (i *instance) inform(e *cdp.Event) {
	if e.SessionID == "" {
		return
	}
	i.mu.Lock()
	v := i.visits[e.SessionID]
	i.mu.Unlock()

	if v != nil {
		v.see(e)
	}
}

// call runs one command in the page.
func (v *visit) call(method string, params any) ([]byte, error) {
	return v.inst.conn.Call(v.ctx, v.tab.session, method, params)
}

// place is the address of what the main frame shows.
func (v *visit) place() string {
	v.mu.Lock()
	defer v.mu.Unlock()

	return v.main.url
}
