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

// closeTimeout is how long a tab may take to close, on a busy machine as well. One
// that hangs longer has a renderer that does not die.
const closeTimeout = 10 * time.Second

// instance is one running browser with its tabs.
type instance struct {
	proc    *process.Process
	conn    *conn
	rod     *rod.Browser
	log     *slog.Logger
	version string
	born    time.Time
	// noSandbox is why Chromium's own sandbox is off; empty when it is on.
	noSandbox string
	// frameControl: tabs draw frames only on command, one tab at a time.
	frameControl bool
	drawing      sync.Mutex
	// isolated reports whether its processes have no network.
	isolated bool
	// keep is how many idle tabs are kept.
	keep        int
	openTimeout time.Duration

	mu      sync.Mutex
	tabs    map[string]*tab   // by target, all of them
	visits  map[string]*visit // by session
	idle    []*tab
	busy    int       // tabs taken
	left    time.Time // the last one was given back
	prints  int       // finished well
	retired bool      // takes no more prints; killed when none is left
	spare   *spare    // for the next visit

	pages atomic.Int64 // tabs that the browser had at the last ping

	weighing sync.Mutex // guards what follows
	weight   int64      // its memory in bytes
	weighed  time.Time
}

// watch follows what happens to the tabs. It runs in the connection's reader.
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
		i.inform(e)
		return
	}

	if err := json.Unmarshal(e.Params, &p); err != nil {
		i.log.Warn("browser event not understood", "method", e.Method, "error", err)
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()

	switch e.Method {
	case "Target.targetInfoChanged":
		if t := i.tabs[p.TargetInfo.TargetID]; t != nil && !t.foreign && p.TargetInfo.URL != blank {
			t.end(errTabStrayed)
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

var errRetired = errors.New("the browser is being replaced")

// take hands out a tab: an idle one, else a new one. It is paired with release.
func (i *instance) take(ctx context.Context) (*tab, error) {
	i.mu.Lock()
	if i.retired {
		i.mu.Unlock()
		return nil, errRetired
	}

	i.busy++
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

	err := i.open(ctx, func(ctx context.Context) (err error) {
		t, err = i.openTab(ctx)
		return err
	}, func() {
		if t != nil {
			i.park(t)
		}
		i.drop()
	})
	if err != nil {
		return nil, err
	}

	return t, nil
}

// enter counts one who uses the browser. It is paired with drop.
func (i *instance) enter() error {
	i.mu.Lock()
	defer i.mu.Unlock()

	if i.retired {
		return errRetired
	}
	i.busy++

	return nil
}

// open has something made in the browser, which is killed when that takes too
// long. When it fails, or ctx ends before, leave follows.
func (i *instance) open(ctx context.Context, build func(context.Context) error, leave func()) error {
	// Not under ctx: what has an id that nobody learns would never be closed.
	made := make(chan error, 1)

	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), i.openTimeout)
		defer cancel()

		err := build(ctx)
		if err != nil && ctx.Err() != nil {
			i.log.Error("the browser opens no page; killing it", "error", err)
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
			<-made //nolint:errcheck // the tab is left, whether it opened or not
			leave()
		}()

		return context.Cause(ctx)
	}
}

// takeDirty hands out an idle tab that has held its document since before then,
// or nil.
func (i *instance) takeDirty(then time.Time) *tab {
	i.mu.Lock()
	defer i.mu.Unlock()

	for n, t := range i.idle {
		if t.dirty && t.used.Before(then) && !i.retired {
			i.idle = slices.Delete(i.idle, n, n+1)
			i.busy++

			return t
		}
	}

	return nil
}

// release takes a tab back. One that is not sound is closed.
func (i *instance) release(t *tab, sound bool) {
	if sound && t.life.Err() == nil {
		i.park(t)
	} else {
		go i.closeTab(t)
	}
	i.drop()
}

// finished counts a print and returns how many there were.
func (i *instance) finished() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.prints++

	return i.prints
}

// printed is how many prints the browser has done.
func (i *instance) printed() int {
	i.mu.Lock()
	defer i.mu.Unlock()

	return i.prints
}

// drop undoes the count of a take or an enter.
func (i *instance) drop() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.busy--
	i.left = time.Now()
	i.leave()
}

func (i *instance) park(t *tab) {
	i.mu.Lock()
	defer i.mu.Unlock()

	if len(i.idle) >= i.keep {
		go i.closeTab(t)
		return
	}
	i.idle = append(i.idle, t)
}

// closeTab closes a tab for good. When its renderer does not let go, the whole
// browser is retired.
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
		i.log.Warn("browser tab does not close; retiring the browser", "error", err)
		i.retire()
	}
}

// retire lets the prints in flight finish, then kills the browser.
func (i *instance) retire() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.retired = true
	i.leave()
}

// memory is what the browser's processes have, in bytes.
func (i *instance) memory() int64 {
	i.weighing.Lock()
	defer i.weighing.Unlock()

	if now := time.Now(); i.grown(i.weighed.Add(-settled)) || now.Sub(i.weighed) >= memoryFor {
		i.weight, i.weighed = i.proc.Memory(), now
	}

	return i.weight
}

// grown reports whether the browser has worked or begun since then, so that its memory
// may be another.
func (i *instance) grown(then time.Time) bool {
	i.mu.Lock()
	defer i.mu.Unlock()

	return i.busy > 0 || i.left.After(then) || i.born.After(then)
}

// retireIdle ends the browser that nobody has used since before then.
func (i *instance) retireIdle(then time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()

	if i.busy == 0 && i.left.Before(then) && i.born.Before(then) {
		i.retired = true
		i.leave()
	}
}

// leave kills a retired browser that nobody uses. The lock is held.
func (i *instance) leave() {
	if i.retired && i.busy == 0 {
		i.proc.Kill()
	}
}

// usable reports whether the browser takes prints.
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
