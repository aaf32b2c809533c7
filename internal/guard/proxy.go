package guard

import (
	"cmp"
	"context"
	"maps"
	"net"
	"net/netip"
	"sync"
	"time"
)

// ProxyOptions bound what one session of a Proxy may take.
type ProxyOptions struct {
	// MaxBytes is what all connections of a session may carry, both ways
	// together. Default 256 MiB.
	MaxBytes int64
	// MaxRequests is how many requests a session may make; a tunnel counts as
	// one. Default 10000.
	MaxRequests int64
	// AnswerTimeout is how long a server may take to begin an answer. Default
	// 30 s.
	AnswerTimeout time.Duration
}

// Proxy is the way out of a browser that shows foreign pages: HTTP proxies on
// loopback that connect only where a policy allows. Each page gets a session of
// its own, with its own port, counters and connections.
type Proxy struct {
	policy  *Policy
	opts    ProxyOptions
	buffers buffers

	mu       sync.Mutex
	ports    map[uint16]bool // of the sessions that are not closed
	refusals map[Reason]int64
}

// NewProxy returns a Proxy that goes where the policy allows, and never to a
// session of its own.
func NewProxy(policy *Policy, o ProxyOptions) *Proxy {
	o.MaxBytes = cmp.Or(o.MaxBytes, 256<<20)
	o.MaxRequests = cmp.Or(o.MaxRequests, 10000)
	o.AnswerTimeout = cmp.Or(o.AnswerTimeout, 30*time.Second)
	p := &Proxy{opts: o, ports: map[uint16]bool{}, refusals: map[Reason]int64{}}
	own := *policy
	own.ownToo = p.owns
	p.policy = &own
	return p
}

// Refusals is how many connections were refused since NewProxy, by reason.
func (p *Proxy) Refusals() map[Reason]int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.refusals)
}

// count notes a failure that is a refusal.
func (p *Proxy) count(err error) {
	if reason := ReasonOf(err); reason != "" {
		p.mu.Lock()
		p.refusals[reason]++
		p.mu.Unlock()
	}
}

// owns says whether the address is that of a session.
func (p *Proxy) owns(ap netip.AddrPort) bool {
	p.mu.Lock()
	listens := p.ports[ap.Port()]
	p.mu.Unlock()
	return listens && (ap.Addr().IsLoopback() || ap.Addr().IsUnspecified() || ofThisMachine(ap.Addr()))
}

// Open starts a session. It ends with End, with ctx, or when it takes more than
// the options allow; Close must follow.
func (p *Proxy) Open(ctx context.Context) (*Session, error) {
	listener, err := net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		return nil, err
	}
	port := listener.Addr().(*net.TCPAddr).AddrPort().Port()
	p.mu.Lock()
	p.ports[port] = true
	p.mu.Unlock()
	return newSession(ctx, p, listener, port), nil
}

func (p *Proxy) forget(port uint16) {
	p.mu.Lock()
	delete(p.ports, port)
	p.mu.Unlock()
}
