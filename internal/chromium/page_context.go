package chromium

import (
	"context"
	"errors"

	"presswork/internal/export"
	"presswork/internal/guard"
)

// pageContext is a browser context for one foreign page. gate is the port of the filtering
// proxy, through which alone the page reaches the network.
type pageContext struct {
	browserContext
	gate *guard.Gate
}

// open creates the context with its gate. size is that of the window. After an error the caller must call close.
// Errors: BrowserUnavailable if the proxy has no free port, and those of the browser.
func (r *pageContext) open(ctx context.Context, proxy *guard.Proxy, size export.Viewport) (err error) {
	if r.gate, err = proxy.Reserve(); err != nil {
		return unavailable(err)
	}

	return r.browserContext.open(ctx,
		contextOptions{proxy: r.gate.Addr(), width: size.Width, height: size.Height, foreign: true})
}

// close destroys the context and then frees its proxy port. In the other order a page that
// still runs would reach the port of the next page.
func (r *pageContext) close() {
	r.dispose()

	if r.gate != nil {
		r.gate.Close()
	}
}

// spare is a context that is created ahead of its page.
type spare struct {
	proxy *guard.Proxy
	size  export.Viewport
	ready chan struct{} // closed when made is set
	made  *pageContext  // nil after a failure; read it after ready is closed
}

// errSpareLost is returned when the spare context could not be created. The caller retries without it.
var errSpareLost = errors.New("the browser context that was created ahead is lost")

// await returns the context. Errors: errSpareLost.
func (s *spare) await() (*pageContext, error) {
	<-s.ready // makeSpare has a time limit

	if s.made == nil || s.made.tab.life.Err() != nil {
		return s.made, errSpareLost
	}

	return s.made, nil
}

// discard destroys the context.
func (s *spare) discard() {
	<-s.ready

	if s.made != nil {
		s.made.close()
	}
}

// makeSpare begins to create a context for the next page, unless there is one already.
// That takes a quarter of the time of a small page. It expects that the next viewport has
// the same size.
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
			i.log.Warn("browser context not created ahead", "error", err)
		}
		r.close()
	}()
}

// takeSpare returns the context that was created ahead for a viewport of that size and that
// proxy, or nil.
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

// dropSpare discards the spare context of a browser that has ended.
func (i *instance) dropSpare() {
	i.mu.Lock()
	s := i.spare
	i.spare = nil
	i.mu.Unlock()

	if s != nil {
		s.discard()
	}
}
