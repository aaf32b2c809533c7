package chromium

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/proto"
)

var (
	errTabCrashed = errors.New("the page's renderer crashed")
	errTabStrayed = errors.New("the page navigated away")
)

// blank is where a tab must be: our documents are written into it, and nothing
// in them may lead away.
const blank = "about:blank"

// tab is one warm page: scripts off, reused from print to print.
type tab struct {
	inst    *instance
	conn    *conn
	target  string // also its main frame's id
	session string

	// life ends, with the reason as its cause, when the tab may not be used any
	// more. It is the connection's reader that ends it, so the end is known
	// before any later answer.
	life context.Context
	end  context.CancelCauseFunc
	// detached is closed when the browser has let go of the target.
	detached chan struct{}

	foreign bool      // shows another's page, which may navigate
	dirty   bool      // holds a document
	used    time.Time // last print
}

// printPolicy forbids a printed page everything but showing what is in it, should
// some reference ever get past the sanitisers of those who wrote it.
const printPolicy = "default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

// openTab makes a tab for printing. The instance must already watch events.
//
// Nobody sees the tab, so it draws no frames, holds print media from the start
// (each change of media styles the document anew), and has a window of one pixel.
// Together they halve the CPU time of a small document.
func (i *instance) openTab(ctx context.Context) (*tab, error) {
	return i.prepareTab(
		ctx,
		i.frameControl,
		map[string]any{"width": 1, "height": 1, "deviceScaleFactor": 1, "mobile": false},
	)
}

// prepareTab makes a tab for documents of ours, with the given device metrics.
func (i *instance) prepareTab(ctx context.Context, frameControl bool, metrics map[string]any) (*tab, error) {
	t, err := i.newTab(ctx, frameControl)
	if err != nil {
		return nil, err
	}

	for _, step := range []struct {
		method string
		params map[string]any
	}{
		{"Emulation.setScriptExecutionDisabled", map[string]any{"value": true}},
		{"Emulation.setEmulatedMedia", map[string]any{"media": "print"}},
		{"Emulation.setDeviceMetricsOverride", metrics},
	} {
		if _, err = t.call(ctx, step.method, step.params); err != nil {
			break
		}
	}

	if err == nil {
		err = t.confine(ctx)
	}

	if err != nil {
		err = t.verdict(ctx, err) // before it is closed, which is a loss as well
		i.closeTab(t)

		return nil, err
	}

	return t, nil
}

// confine lays printPolicy on all documents that the tab will hold. A tab's
// window outlives the documents that Page.setDocumentContent writes into it, and
// with it every policy: one in each document would make the tab slower with each
// print (10 ms became 69 after 2000).
func (t *tab) confine(ctx context.Context) error {
	return t.setContent(ctx, `<meta http-equiv="Content-Security-Policy" content="`+printPolicy+`">`)
}

// newTab makes a tab as the browser makes it.
func (i *instance) newTab(ctx context.Context, frameControl bool) (*tab, error) {
	browser := i.rod.Context(ctx)

	target, err := proto.TargetCreateTarget{URL: blank, EnableBeginFrameControl: frameControl}.Call(browser)
	if err != nil {
		return nil, err
	}
	t := &tab{inst: i, conn: i.conn, target: string(target.TargetID), detached: make(chan struct{})}
	t.life, t.end = context.WithCancelCause(context.Background())
	i.mu.Lock()
	i.tabs[t.target] = t
	i.mu.Unlock()

	session, err := proto.TargetAttachToTarget{TargetID: target.TargetID, Flatten: true}.Call(browser)
	if err != nil {
		i.closeTab(t)
		return nil, err
	}
	t.session = string(session.SessionID)

	return t, nil
}

// call runs one command in the tab; it fails as soon as the tab or the browser
// is lost, whether or not ctx has ended.
func (t *tab) call(ctx context.Context, method string, params any) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(t.life, func() { cancel(context.Cause(t.life)) })()

	return t.conn.Call(ctx, t.session, method, params)
}

// verdict is err, or the loss of the tab where that is what made the browser refuse a
// command: it may refuse before it says that the renderer is gone. A renderer that is
// there answers, and of one that is not the browser says so instead.
func (t *tab) verdict(ctx context.Context, err error) error {
	if _, refused := errors.AsType[*cdp.Error](err); !refused {
		return err
	}
	_, _ = t.call(ctx, "Runtime.getIsolateId", nil)

	return cmp.Or(context.Cause(t.life), err)
}

// setContent replaces the tab's document; it returns when that is parsed.
func (t *tab) setContent(ctx context.Context, html string) error {
	_, err := t.call(ctx, "Page.setDocumentContent", struct {
		FrameID string `json:"frameId"`
		HTML    string `json:"html"`
	}{t.target, html})

	return err
}

// clear drops the last document and gives its memory back: 430 MiB became 230
// with two tabs of small documents. It takes some 25 ms.
func (t *tab) clear(ctx context.Context) error {
	if err := t.setContent(ctx, ""); err != nil {
		return err
	}
	t.dirty = false
	_, err := t.call(ctx, "HeapProfiler.collectGarbage", nil)

	return err
}
