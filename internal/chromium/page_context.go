package chromium

import (
	"context"
	"errors"

	"presswork/internal/export"
	"presswork/internal/guard"
)

// pageContext is a browser context for one foreign page, with the proxy port that
// is its only way to the network.
type pageContext struct {
	browserContext
	gate *guard.Gate
}

// open makes it. After an error close frees what was made before it.
func (r *pageContext) open(ctx context.Context, proxy *guard.Proxy, size export.Viewport) (err error) {
	if r.gate, err = proxy.Reserve(); err != nil {
		return unavailable(err)
	}

	return r.browserContext.open(
		ctx,
		contextOptions{proxy: r.gate.Addr(), width: size.Width, height: size.Height, foreign: true},
	)
}

// close destroys the context first, and frees its proxy port only then: a page
// that still ran would otherwise reach the next one's.
func (r *pageContext) close() {
	r.dispose()

	if r.gate != nil {
		r.gate.Close()
	}
}

// spare is a context that is made ahead of its page.
type spare struct {
	proxy *guard.Proxy
	size  export.Viewport
	ready chan struct{}
	made  *pageContext // nil when it could not be made; read it after ready only
}

var errSpareLost = errors.New("the browser context made ahead was lost")

// await returns the context. Errors: errSpareLost.
func (s *spare) await() (*pageContext, error) {
	<-s.ready // its maker has a time limit

	if s.made == nil || s.made.tab.life.Err() != nil {
		return s.made, errSpareLost
	}

	return s.made, nil
}

// discard destroys a context that is not needed.
func (s *spare) discard() {
	<-s.ready

	if s.made != nil {
		s.made.close()
	}
}

// makeSpare begins to open a context for the next page, unless there is one: that
// takes a quarter of the time of a small page. The next viewport is taken to have
// the size of the last.
func (i *instance) makeSpare(proxy *guard.Proxy, size export.Viewport) {
	i.mu.Lock()
	defer i.mu.Unlock()

	if i.retired || i.spare != nil {
		return
	}
	s := &spare{proxy: proxy, size: size, ready: make(chan struct{})}

	i.spare = s
	go func() {
		defer close(s.ready)

		ctx, cancel := context.WithTimeout(context.Background(), i.openTimeout)
		defer cancel()
		r := &pageContext{browserContext: browserContext{inst: i}}

		err := r.open(ctx, proxy, size)
		if err == nil {
			s.made = r
			return
		}

		if i.usable() {
			i.log.Warn("no browser context was made ahead", "error", err)
		}
		r.close()
	}()
}

// takeSpare returns the context that is made ahead, or nil when there is none of
// that size behind that proxy.
func (i *instance) takeSpare(proxy *guard.Proxy, size export.Viewport) *spare {
	i.mu.Lock()
	defer i.mu.Unlock()
	s := i.spare
	i.spare = nil

	if s != nil && (s.size != size || s.proxy != proxy) {
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
