package browse

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/jimsmart/grobotstxt"
	"golang.org/x/time/rate"

	"presswork/internal/fault"
	"presswork/internal/guard"
	"presswork/internal/recent"
)

const (
	// robotsFor is how long a robots.txt is valid. RFC 9309 allows at most a day.
	robotsFor = time.Hour
	// maxRobots is the number of bytes that are read of a robots.txt. RFC 9309 requires 500 KiB. Rules of that
	// size take 2 s for each page, and hardly any site has more than 128 KiB.
	maxRobots  = 128 << 10
	robotsWait = 10 * time.Second
	// A site gets burst requests at once and then one each pause. patience is how long a request waits for its
	// turn.
	pause    = 500 * time.Millisecond
	burst    = 6
	patience = 10 * time.Second
	// maxKnown bounds the bytes of rules of all sites.
	maxKnown = 16 << 20
)

// sites holds the state of servers, by scheme, host and port.
type sites struct {
	client *http.Client
	agent  string // with which they are asked, and the name in their rules
	name   string

	mu    sync.Mutex
	known *recent.Cache[*site]
}

// site is one of them.
type site struct {
	limiter *rate.Limiter
	// turn holds a token. The goroutine that has it may use the fields below.
	turn   chan struct{}
	rules  string // of its robots.txt
	closed bool   // the server could not say what is allowed
	read   time.Time
}

func newSites(o Options) *sites {
	name, _, _ := strings.Cut(o.UserAgent, "/")

	return &sites{
		client: o.Policy.Client(guard.ClientOptions{Timeout: min(robotsWait, o.Timeout), MaxRedirects: maxRedirects}),
		agent:  o.UserAgent, name: name, known: recent.New[*site](maxKnown),
	}
}

// enter waits until an address may be requested from its site. Errors: PageError when robots.txt forbids it or
// there are too many requests.
func (s *sites) enter(ctx context.Context, u *url.URL) error {
	at := s.lookUp(u)
	if err := s.admit(ctx, u, at); err != nil {
		return err
	}

	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()

	if err := at.limiter.Wait(ctx); err != nil {
		return fault.Errorf(fault.PageError, "%s is being asked too often; try another page", inline(u.Host, maxShown)).
			WithCause(err)
	}

	return nil
}

func (s *sites) lookUp(u *url.URL) *site {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := origin(u)

	at, ok := s.known.Get(key)
	if !ok {
		at = &site{turn: make(chan struct{}, 1), limiter: rate.NewLimiter(rate.Every(pause), burst)}
		s.known.Put(key, at, siteSize)
	}

	return at
}

// siteSize is the approximate memory of a site without its rules, in bytes.
const siteSize = 300

func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

// admit checks an address against the rules of its site.
func (s *sites) admit(ctx context.Context, u *url.URL, at *site) error {
	select {
	case at.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}

	if at.read.IsZero() || time.Since(at.read) > robotsFor {
		s.ask(ctx, u, at)
		s.known.Put(origin(u), at, siteSize+len(at.rules))
	}
	rules, closed := at.rules, at.closed
	<-at.turn

	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case closed:
		return fault.Errorf(
			fault.PageError,
			"%s cannot show its robots.txt now, so its pages are not read",
			inline(u.Host, maxShown),
		)
	case rules != "" && !grobotstxt.AgentAllowed(rules, s.name, u.String()):
		return fault.Errorf(
			fault.PageError,
			"the robots.txt of %s asks programs not to read %s",
			inline(u.Host, maxShown),
			inline(u.EscapedPath(), maxShown),
		)
	}

	return nil
}

// ask reads the robots.txt of a site (RFC 9309, 2.3.1). A missing file allows everything; an error of the server
// forbids everything. If the server does not respond, the page would fail as well, so ask returns that error.
func (s *sites) ask(ctx context.Context, u *url.URL, at *site) {
	robots := url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/robots.txt"}

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, robots.String(), nil)
	if err != nil {
		return
	}
	req.Header.Set("User-Agent", s.agent)

	resp, err := s.client.Do(req)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRobots))

	if ctx.Err() != nil {
		return
	}
	at.read, at.rules = time.Now(), ""

	at.closed = err != nil || resp.StatusCode/100 == 5
	if resp.StatusCode/100 == 2 {
		at.rules = string(body)
	}
}
