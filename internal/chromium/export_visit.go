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
	guardSession *guard.Session
	page         *url.URL
	opts         export.VisitOptions

	// ctx ends with the export, the tab, the guard session or a call of giveUp. Its cause
	// says which.
	ctx    context.Context
	giveUp context.CancelCauseFunc

	title     string
	eventSeen chan struct{} // wakes awaitEvent after a change of the fields below

	mu             sync.Mutex      // taken after instance.mu where both are held
	sessions       map[string]bool // of the tab, of frames in other processes and of workers
	frames         map[string]*frame
	main           document
	judgedLoader   string // the loader of the document that awaitArrival last checked
	navigations    int    // of the main frame
	targets        int    // sessions so far
	dialogs        int
	world          scriptWorld
	lostResource   string // the first resource that failed to load
	firstException string // the first exception of the page's scripts
}

// scriptWorld is an isolated JavaScript world in the document of a loader. The page's
// scripts cannot reach it.
type scriptWorld struct {
	loader string
	id     int
}

// document is the document that the main frame shows.
type document struct {
	loader, url string
	// status is its HTTP status; 0 until it is read, and for a document without one.
	status int
	// failure is the error "net::ERR_…" for which Chromium shows an error page instead, or
	// for which the document broke off.
	failure string
}

// openVisit prepares a context for the page. It uses the spare context if that has the same proxy and viewport. The
// caller ends the visit with release. Errors: errRetired and errSpareLost, after which the caller retries,
// InvalidOption for an option that the browser rejects, and those of the browser.
func (i *instance) openVisit(ctx context.Context, proxy *guard.Proxy, page *url.URL,
	o export.VisitOptions,
) (*visit, error) {
	if err := i.addUser(); err != nil {
		return nil, err
	}
	size := export.ViewportOf(o)
	spare := i.takeSpare(proxy, size)
	v := &visit{
		pageContext: &pageContext{browserContext: browserContext{inst: i}},
		page:        page, opts: o,
		eventSeen: make(chan struct{}, 1),
		sessions:  map[string]bool{}, frames: map[string]*frame{},
	}
	v.ctx, v.giveUp = context.WithCancelCause(ctx)

	err := i.create(ctx, func(ctx context.Context) error {
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

		if err = v.tab.refusalCause(ctx, v.prepare(ctx)); errors.Is(err, errTabCrashed) {
			err = errSpareLost
		}

		return err
	}, v.release)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(v.tab.life, func() { v.giveUp(context.Cause(v.tab.life)) })
	context.AfterFunc(v.ctx, v.notify)

	go func() {
		select {
		case <-v.guardSession.Done():
			v.giveUp(v.guardSession.Err())
		case <-i.conn.done: // no event will wake awaitEvent any more
			v.giveUp(i.conn.cause())
		case <-v.ctx.Done():
		}
	}()

	return v, nil
}

// prepare opens the gate for the page and sends the preparations. It sends all commands at
// once, because their order does not matter.
func (v *visit) prepare(ctx context.Context) error {
	v.guardSession = v.gate.Open(v.ctx)
	v.addSession(v.tab.session)
	commands := v.preparations()

	errs := make(chan error, len(commands))
	for _, c := range commands {
		go func() {
			_, err := v.tab.call(ctx, c.method, c.params)
			errs <- optionError(c, err)
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

// optionError returns InvalidOption if the browser rejected a command of an option, else
// err.
func optionError(c command, err error) error {
	refusal, ok := errors.AsType[*cdp.Error](err)
	if ok && c.option != "" {
		return fault.Errorf(fault.InvalidOption, "%s: %s", c.option, refusal.Message).
			WithParam("options." + c.option).
			WithCause(err)
	}

	return err
}

// release ends the visit. It destroys the context in the background, because a hung renderer
// does not end at once.
func (v *visit) release() {
	v.giveUp(nil)

	if v.guardSession != nil {
		v.guardSession.End()
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
		defer i.removeUser()
		v.close()
	}()
}

// addSession routes the events of a session to the visit.
func (v *visit) addSession(session string) {
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

// removeSession removes a session that has ended.
func (v *visit) removeSession(session string) {
	v.inst.mu.Lock()
	delete(v.inst.visits, session)
	v.inst.mu.Unlock()
	v.mu.Lock()
	delete(v.sessions, session)
	v.mu.Unlock()
}

// dispatchEvent passes an event to the visit of its session.
func (i *instance) dispatchEvent(e *cdp.Event) {
	if e.SessionID == "" {
		return
	}
	i.mu.Lock()
	v := i.visits[e.SessionID]
	i.mu.Unlock()

	if v != nil {
		v.handleEvent(e)
	}
}

// call runs one command in the page and returns the result as JSON.
func (v *visit) call(method string, params any) ([]byte, error) {
	return v.inst.conn.Call(v.ctx, v.tab.session, method, params)
}

// currentURL returns the address of the document that the main frame shows.
func (v *visit) currentURL() string {
	v.mu.Lock()
	defer v.mu.Unlock()

	return v.main.url
}
