package chromium

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"sync"

	"github.com/go-rod/rod/lib/cdp"

	"presswork"
	"presswork/internal/export"
	"presswork/internal/guard"
)

// visit is one foreign page in a browser context of its own.
type visit struct {
	inst    *instance
	browser string // the context's id
	tab     *tab
	session *guard.Session
	page    *url.URL
	opts    presswork.VisitOptions

	// ctx ends with the export, the tab, the guard session, or a reason to give
	// the page up; its cause says which.
	ctx    context.Context
	giveUp context.CancelCauseFunc

	title   string
	changed chan struct{} // something below has

	mu       sync.Mutex
	sessions map[string]bool // of the tab, the frames in other processes and the workers
	frames   map[string]*frame
	main     document
	requests map[string]string // id → URL, of those without an answer yet
	seen     int               // requests
	moves    int               // navigations of the main frame
	targets  int               // sessions there were
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
	// status is its HTTP status; 0 when it has none.
	status int
	// request and requested are of the last document asked for, answered is its
	// status, trouble why it did not come: "net::ERR_…".
	request, requested, trouble string
	answered                    int
	// failed is why Chromium shows a page of its own instead, or why the document
	// broke off.
	failed string
}

// openVisit makes a context whose only way out is session, and a tab in it. It
// is paired with leave, which closes the session, too.
func (i *instance) openVisit(ctx context.Context, session *guard.Session, page *url.URL, o presswork.VisitOptions) (*visit, error) {
	i.mu.Lock()
	if i.retired {
		i.mu.Unlock()
		session.Close()
		return nil, errRetired
	}
	i.busy++
	i.mu.Unlock()
	v := &visit{inst: i, session: session, page: page, opts: o, changed: make(chan struct{}, 1),
		sessions: map[string]bool{}, frames: map[string]*frame{}, requests: map[string]string{}}
	v.ctx, v.giveUp = context.WithCancelCause(ctx)
	// Not under ctx: a context whose id nobody learns would stay for ever.
	made := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), i.openTimeout)
		defer cancel()
		err := v.open(ctx)
		if err != nil && ctx.Err() != nil {
			i.log.Error("the browser opens no page; killing it", "error", err)
			i.proc.kill()
		}
		made <- err
	}()
	select {
	case err := <-made:
		if err != nil {
			v.leave()
			return nil, err
		}
	case <-ctx.Done():
		go func() {
			<-made
			v.leave()
		}()
		return nil, context.Cause(ctx)
	}
	context.AfterFunc(v.tab.life, func() { v.giveUp(context.Cause(v.tab.life)) })
	context.AfterFunc(v.ctx, v.notify)
	go func() {
		select {
		case <-session.Done():
			v.giveUp(session.Err())
		case <-v.ctx.Done():
		}
	}()
	return v, nil
}

// open makes the context and its tab, with everything shut that can be.
func (v *visit) open(ctx context.Context) error {
	var made struct {
		ContextID string `json:"browserContextId"`
		TargetID  string `json:"targetId"`
		SessionID string `json:"sessionId"`
	}
	i := v.inst
	ask := func(method string, params any) error {
		answer, err := i.conn.Call(ctx, "", method, params)
		if err != nil {
			return err
		}
		return json.Unmarshal(answer, &made)
	}
	// Loopback is not excepted from the proxy.
	err := ask("Target.createBrowserContext", map[string]any{"proxyServer": "http://" + v.session.Addr(), "proxyBypassList": "<-loopback>"})
	if err != nil {
		return err
	}
	v.browser = made.ContextID
	if err := ask("Browser.setDownloadBehavior", map[string]any{"behavior": "deny", "browserContextId": v.browser}); err != nil {
		return err
	}
	size := export.ViewportOf(v.opts)
	err = ask("Target.createTarget", map[string]any{"url": blank, "browserContextId": v.browser, "width": size.Width, "height": size.Height})
	if err != nil {
		return err
	}
	v.tab = &tab{conn: i.conn, target: made.TargetID, gone: make(chan struct{}), foreign: true}
	v.tab.life, v.tab.end = context.WithCancelCause(context.Background())
	i.mu.Lock()
	i.tabs[v.tab.target] = v.tab
	i.mu.Unlock()
	if err := ask("Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}); err != nil {
		return err
	}
	v.tab.session = made.SessionID
	v.follow(made.SessionID)
	return v.prepare(ctx)
}

// prepare sends all preparations at once: the browser takes them in the order
// they come, which is of no consequence.
func (v *visit) prepare(ctx context.Context) error {
	commands := v.preparations()
	errs := make(chan error, len(commands))
	for _, c := range commands {
		go func() {
			_, err := v.inst.conn.Call(ctx, v.tab.session, c.method, c.params)
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
		return presswork.Errorf(presswork.InvalidOption, "%s: %s", c.option, refusal.Message).WithParam("options." + c.option).WithCause(err)
	}
	return err
}

// leave destroys the context, in the background: a renderer that hangs takes
// its time.
func (v *visit) leave() {
	v.giveUp(nil)
	v.session.End()
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
		if v.browser != "" {
			i.dispose(v)
		}
		v.session.Close() // not before: the page knows its port
	}()
}

// dispose ends the context with all its pages and workers. When a renderer does
// not let go, the whole browser is retired.
func (i *instance) dispose(v *visit) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_, err := i.conn.Call(ctx, "", "Target.disposeBrowserContext", map[string]any{"browserContextId": v.browser})
	if err == nil && v.tab != nil {
		select {
		case <-v.tab.gone:
		case <-i.conn.done:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err != nil && i.usable() {
		i.log.Warn("browser context does not close; retiring the browser", "error", err)
		i.retire()
	}
}

// follow has the events of a session told to the visit.
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

// inform tells an event to the visit it is of.
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
