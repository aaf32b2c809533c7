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
	// robotsTTL is how long a robots.txt is valid. RFC 9309 allows at most a day.
	robotsTTL = time.Hour
	// maxRobots is the number of bytes that are read of a robots.txt. RFC 9309 requires 500 KiB. Rules of that
	// size take 2 s for each page, and hardly any site has more than 128 KiB.
	maxRobots     = 128 << 10
	robotsTimeout = 10 * time.Second
	// A site receives burst requests at once and then one each requestInterval. limiterWait bounds the wait of a
	// request for that rate.
	requestInterval = 500 * time.Millisecond
	burst           = 6
	limiterWait     = 10 * time.Second
	// maxRuleBytes bounds the bytes of rules of all sites.
	maxRuleBytes = 16 << 20
)

// sites holds the state of servers, by scheme, host and port. It is safe for concurrent use.
type sites struct {
	client *http.Client
	agent  string // User-Agent of requests
	name   string // name for rules in robots.txt

	mu    sync.Mutex
	known *recent.Cache[*site]
}

// site is the state of one server.
type site struct {
	limiter *rate.Limiter
	// lock guards the fields below. It is a channel, because a wait for it must end with the context.
	lock   chan struct{}
	rules  string    // text of its robots.txt
	failed bool      // the server answered with an error, so nothing is allowed
	read   time.Time // when its robots.txt was read; zero before that
}

// newSites returns the state of sites. robots.txt rules apply to the product name of the user agent.
func newSites(o Options) *sites {
	name, _, _ := strings.Cut(o.UserAgent, "/")

	return &sites{
		client: o.Policy.Client(
			guard.ClientOptions{Timeout: min(robotsTimeout, o.Timeout), MaxRedirects: maxRedirects},
		),
		agent: o.UserAgent,
		name:  name,
		known: recent.New[*site](maxRuleBytes),
	}
}

// waitFor waits until an address may be requested from its site. Errors: PageError when robots.txt forbids it or
// there are too many requests.
func (s *sites) waitFor(ctx context.Context, u *url.URL) error {
	target := s.lookUp(u)
	if err := s.checkRobots(ctx, u, target); err != nil {
		return err
	}

	ctx, cancel := context.WithTimeout(ctx, limiterWait)
	defer cancel()

	if err := target.limiter.Wait(ctx); err != nil {
		return fault.Errorf(fault.PageError,
			"%s received too many requests from this server; try another page", inline(u.Host, maxAddress)).
			WithCause(err)
	}

	return nil
}

// lookUp returns the state of the site of an address, and creates it if necessary.
func (s *sites) lookUp(u *url.URL) *site {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := origin(u)

	target, ok := s.known.Get(key)
	if !ok {
		target = &site{lock: make(chan struct{}, 1), limiter: rate.NewLimiter(rate.Every(requestInterval), burst)}
		s.known.Put(key, target, siteSize)
	}

	return target
}

// siteSize is the approximate memory of a site without its rules, in bytes.
const siteSize = 300

// origin returns the scheme, host and port of an address.
func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

// checkRobots checks an address against the robots.txt of its site. Errors: PageError, the cause of ctx.
func (s *sites) checkRobots(ctx context.Context, u *url.URL, target *site) error {
	select {
	case target.lock <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}

	if target.read.IsZero() || time.Since(target.read) > robotsTTL {
		s.readRobots(ctx, u, target)
		s.known.Put(origin(u), target, siteSize+len(target.rules))
	}
	rules, failed := target.rules, target.failed
	<-target.lock

	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case failed:
		return fault.Errorf(fault.PageError,
			"%s could not deliver its robots.txt, so its pages are not read", inline(u.Host, maxAddress))
	case rules != "" && !grobotstxt.AgentAllowed(rules, s.name, u.String()):
		return fault.Errorf(fault.PageError,
			"the robots.txt of %s asks programs not to read %s",
			inline(u.Host, maxAddress), inline(u.EscapedPath(), maxAddress))
	}

	return nil
}

// readRobots reads the robots.txt of a site (RFC 9309, 2.3.1). A missing file allows everything; an error of the
// server forbids everything. If the server does not respond, readRobots leaves the site unchanged, and the request
// for the page reports the failure.
func (s *sites) readRobots(ctx context.Context, u *url.URL, target *site) {
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
	target.read, target.rules = time.Now(), ""

	// Every status but 2xx and 5xx means that there are no rules.
	target.failed = err != nil || resp.StatusCode/100 == 5
	if resp.StatusCode/100 == 2 {
		target.rules = string(body)
	}
}
