package chromium

import (
	"context"
	"errors"

	"presswork"
	"presswork/internal/guard"
)

// room is a browser context for one foreign page, with the gate that is its only
// way out.
type room struct {
	browserContext
	gate *guard.Gate
}

// open makes it. What there is of it when it fails is for close.
func (r *room) open(ctx context.Context, proxy *guard.Proxy, size presswork.Viewport) (err error) {
	if r.gate, err = proxy.Reserve(); err != nil {
		return unavailable(err)
	}
	return r.browserContext.open(ctx, contextOptions{proxy: r.gate.Addr(), width: size.Width, height: size.Height, foreign: true})
}

// close destroys the context, and then gives the port back that a page of it
// knows.
func (r *room) close() {
	r.dispose()
	if r.gate != nil {
		r.gate.Close()
	}
}

// spare is a room that is made ahead of its page.
type spare struct {
	size  presswork.Viewport
	ready chan struct{}
	room  *room // once ready, unless it could not be made
}

var errSpareLost = errors.New("the browser context made ahead was lost")

// await returns the room. Errors: errSpareLost.
func (s *spare) await() (*room, error) {
	<-s.ready // its maker has a time limit
	if s.room == nil || s.room.tab.life.Err() != nil {
		return s.room, errSpareLost
	}
	return s.room, nil
}

// discard destroys the room nobody wants.
func (s *spare) discard() {
	<-s.ready
	if s.room != nil {
		s.room.close()
	}
}

// makeSpare begins to open a room for the next page, unless there is one: it is a
// quarter of the time that a small page takes. The next page is taken to be shown
// as large as the last.
func (i *instance) makeSpare(proxy *guard.Proxy, size presswork.Viewport) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.retired || i.spare != nil {
		return
	}
	s := &spare{size: size, ready: make(chan struct{})}
	i.spare = s
	go func() {
		defer close(s.ready)
		ctx, cancel := context.WithTimeout(context.Background(), i.openTimeout)
		defer cancel()
		r := &room{browserContext: browserContext{inst: i}}
		err := r.open(ctx, proxy, size)
		if err == nil {
			s.room = r
			return
		}
		if i.usable() {
			i.log.Warn("no browser context was made ahead", "error", err)
		}
		r.close()
	}()
}

// takeSpare hands out the room that is made ahead, or nil when there is none for
// that size.
func (i *instance) takeSpare(size presswork.Viewport) *spare {
	i.mu.Lock()
	defer i.mu.Unlock()
	s := i.spare
	i.spare = nil
	if s != nil && s.size != size {
		go s.discard()
		return nil
	}
	return s
}

// dropSpare gives up what was made ahead in a browser that has ended.
func (i *instance) dropSpare() {
	i.mu.Lock()
	s := i.spare
	i.spare = nil
	i.mu.Unlock()
	if s != nil {
		s.discard()
	}
}
