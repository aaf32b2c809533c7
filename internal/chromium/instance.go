package chromium

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/proto"

	"presswork/internal/chromium/process"
)

// closeTimeout is how long a tab may take to close, even on a busy machine. After it the
// browser is retired, because a renderer hangs.
const closeTimeout = 10 * time.Second

// instance is one running browser with its tabs.
type instance struct {
	proc    *process.Process
	conn    *conn
	rod     *rod.Browser
	log     *slog.Logger
	version string
	started time.Time
	// noSandbox is the reason why Chromium's own sandbox is off; empty when it is on.
	noSandbox string
	// frameControl is true if tabs draw frames only on command. drawing is held by the one tab that draws.
	frameControl bool
	drawing      sync.Mutex
	// isolated is true if the browser's processes are in an empty network namespace.
	isolated bool
	// maxIdle is the number of idle tabs that are kept open.
	maxIdle     int
	openTimeout time.Duration // for one tab or context

	mu      sync.Mutex
	tabs    map[string]*tab   // all tabs, by target
	visits  map[string]*visit // by session
	idle    []*tab
	users   int       // of tabs and contexts
	lastUse time.Time // when the last user left
	prints  int       // successful prints
	retired bool      // takes no new users; killed when the last one leaves
	spare   *spare    // for the next visit

	tabCount atomic.Int64 // tabs that the browser had at the last ping

	memoryMu     sync.Mutex // guards the fields below
	memoryBytes  int64      // of the browser when it was last read
	memoryReadAt time.Time
}

// watch ends the lives of lost tabs and passes other events to the visits. It runs in the
// connection's reader and must not block.
func (i *instance) watch(e *cdp.Event) {
	var p struct {
		TargetID   string `json:"targetId"`
		TargetInfo struct {
			TargetID string `json:"targetId"`
			URL      string `json:"url"`
		} `json:"targetInfo"`
	}

	switch e.Method {
	case "Target.targetInfoChanged", "Target.targetCrashed", "Target.targetDestroyed":
	default:
		i.dispatchEvent(e)
		return
	}

	if err := json.Unmarshal(e.Params, &p); err != nil {
		i.log.Warn("browser event not readable", "method", e.Method, "error", err)
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()

	switch e.Method {
	case "Target.targetInfoChanged":
		if t := i.tabs[p.TargetInfo.TargetID]; t != nil && !t.foreign && p.TargetInfo.URL != blank {
			t.end(errTabNavigated)
		}
	case "Target.targetCrashed":
		if t := i.tabs[p.TargetID]; t != nil {
			t.end(errTabCrashed)
		}
	case "Target.targetDestroyed":
		if t := i.tabs[p.TargetID]; t != nil {
			t.end(errTabCrashed)
			delete(i.tabs, p.TargetID)
			close(t.detached)
		}
	}
}

// errRetired is returned to a new user of a browser that takes no new users. The caller retries on the next browser.
var errRetired = errors.New("the browser is being replaced")

// takeTab returns an idle tab or a new one. The caller returns it with releaseTab. Errors: errRetired, errors of
// the browser, the cause of ctx.
func (i *instance) takeTab(ctx context.Context) (*tab, error) {
	i.mu.Lock()
	if i.retired {
		i.mu.Unlock()
		return nil, errRetired
	}

	i.users++
	for len(i.idle) > 0 {
		t := i.idle[len(i.idle)-1]

		i.idle = i.idle[:len(i.idle)-1]

		if t.life.Err() == nil {
			i.mu.Unlock()
			return t, nil
		}
		go i.closeTab(t)
	}
	i.mu.Unlock()

	var t *tab

	err := i.create(ctx, func(ctx context.Context) (err error) {
		t, err = i.openTab(ctx)
		return err
	}, func() {
		if t != nil {
			i.keepTab(t)
		}
		i.removeUser()
	})
	if err != nil {
		return nil, err
	}

	return t, nil
}

// addUser counts one more user of the browser. The caller calls removeUser at the end. Errors: errRetired.
func (i *instance) addUser() error {
	i.mu.Lock()
	defer i.mu.Unlock()

	if i.retired {
		return errRetired
	}
	i.users++

	return nil
}

// create runs build, which creates a tab or a context. It kills the browser if build takes
// longer than openTimeout. If build fails or ctx ends first, create calls leave after build
// has returned.
func (i *instance) create(ctx context.Context, build func(context.Context) error, leave func()) error {
	// build does not end with ctx: a target whose id is lost would never be closed.
	made := make(chan error, 1)

	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), i.openTimeout)
		defer cancel()

		err := build(ctx)
		if err != nil && ctx.Err() != nil {
			i.log.Error("killing the browser: it opens no page", "error", err)
			i.proc.Kill()
		}
		made <- err
	}()

	select {
	case err := <-made:
		if err != nil {
			leave()
		}

		return err
	case <-ctx.Done():
		go func() {
			<-made //nolint:errcheck // leave follows in any case
			leave()
		}()

		return context.Cause(ctx)
	}
}

// takeDirty returns an idle tab that still holds the document of a print before then, or nil. The caller returns
// the tab with releaseTab.
func (i *instance) takeDirty(then time.Time) *tab {
	i.mu.Lock()
	defer i.mu.Unlock()

	for n, t := range i.idle {
		if t.dirty && t.used.Before(then) && !i.retired {
			i.idle = slices.Delete(i.idle, n, n+1)
			i.users++

			return t
		}
	}

	return nil
}

// releaseTab returns a tab to the idle ones. It closes a tab that is not sound.
func (i *instance) releaseTab(t *tab, sound bool) {
	if sound && t.life.Err() == nil {
		i.keepTab(t)
	} else {
		go i.closeTab(t)
	}
	i.removeUser()
}

// countPrint counts a print and returns the number of prints so far.
func (i *instance) countPrint() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.prints++

	return i.prints
}

// printCount returns the number of prints so far.
func (i *instance) printCount() int {
	i.mu.Lock()
	defer i.mu.Unlock()

	return i.prints
}

// removeUser undoes addUser or takeTab.
func (i *instance) removeUser() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.users--
	i.lastUse = time.Now()
	i.endIfUnused()
}

// keepTab keeps an idle tab, or closes it if there are enough.
func (i *instance) keepTab(t *tab) {
	i.mu.Lock()
	defer i.mu.Unlock()

	if len(i.idle) >= i.maxIdle {
		go i.closeTab(t)
		return
	}
	i.idle = append(i.idle, t)
}

// closeTab closes a tab. If its renderer does not end within closeTimeout, the browser is
// retired.
func (i *instance) closeTab(t *tab) {
	t.end(errTabCrashed)

	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()

	_, err := proto.TargetCloseTarget{TargetID: proto.TargetTargetID(t.target)}.Call(i.rod.Context(ctx))
	if err == nil {
		select {
		case <-t.detached:
			return
		case <-ctx.Done():
			err = ctx.Err()
		case <-i.conn.done:
			return
		}
	}

	select {
	case <-i.conn.done:
	case <-t.detached:
	default:
		i.log.Warn("retiring the browser: a tab does not close", "error", err)
		i.retire()
	}
}

// retire lets the present users finish and then kills the browser.
func (i *instance) retire() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.retired = true
	i.endIfUnused()
}

// memory returns the memory of the browser's processes in bytes. For a browser at rest the
// value may be memoryValidFor old.
func (i *instance) memory() int64 {
	i.memoryMu.Lock()
	defer i.memoryMu.Unlock()

	now := time.Now()
	if i.memoryMayHaveChanged(i.memoryReadAt.Add(-memorySettles)) || now.Sub(i.memoryReadAt) >= memoryValidFor {
		i.memoryBytes, i.memoryReadAt = i.proc.Memory(), now
	}

	return i.memoryBytes
}

// memoryMayHaveChanged reports whether the browser has started or worked since then.
func (i *instance) memoryMayHaveChanged(then time.Time) bool {
	i.mu.Lock()
	defer i.mu.Unlock()

	return i.users > 0 || i.lastUse.After(then) || i.started.After(then)
}

// retireIdle ends a browser without users that was last used before then.
func (i *instance) retireIdle(then time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()

	if i.users == 0 && i.lastUse.Before(then) && i.started.Before(then) {
		i.retired = true
		i.endIfUnused()
	}
}

// endIfUnused kills a retired browser without users. The caller holds the lock.
func (i *instance) endIfUnused() {
	if i.retired && i.users == 0 {
		i.proc.Kill()
	}
}

// usable reports whether the browser takes new users.
func (i *instance) usable() bool {
	select {
	case <-i.conn.done:
		return false
	default:
	}
	i.mu.Lock()
	defer i.mu.Unlock()

	return !i.retired
}
