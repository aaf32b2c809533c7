package guard

import (
	"cmp"
	"context"
	"maps"
	"net"
	"net/netip"
	"sync"
)

// ProxyOptions bound what one session of a Proxy may take.
type ProxyOptions struct {
	// MaxBytes is what all connections of a session may carry, both ways
	// together. Default 256 MiB.
	MaxBytes int64
	// MaxRequests is how many requests a session may make; in a tunnel, so much
	// as the browser sends at once within TLS counts as one. Default 10000.
	MaxRequests int64
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

// owns reports whether the address is that of a session.
func (p *Proxy) owns(ap netip.AddrPort) bool {
	p.mu.Lock()
	listens := p.ports[ap.Port()]
	p.mu.Unlock()

	return listens && (ap.Addr().IsLoopback() || ap.Addr().IsUnspecified() || ofThisMachine(ap.Addr()))
}

// Open starts a session on a port of its own. It ends with End, with ctx, or when
// it takes more than the options allow; Close must follow.
func (p *Proxy) Open(ctx context.Context) (*Session, error) {
	gate, err := p.Reserve()
	if err != nil {
		return nil, err
	}

	return gate.Open(ctx), nil
}

// Gate is the port of a session to come, which a browser may be given ahead of the
// page. Nobody is answered there before Open.
type Gate struct {
	proxy    *Proxy
	listener *net.TCPListener
	port     uint16
}

// Reserve takes a port. Close must follow, or Open and the session's Close.
func (p *Proxy) Reserve() (*Gate, error) {
	listener, err := net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		return nil, err
	}
	port := listener.Addr().(*net.TCPAddr).AddrPort().Port()
	p.mu.Lock()
	p.ports[port] = true
	p.mu.Unlock()

	return &Gate{p, listener, port}, nil
}

// Addr is host:port.
func (g *Gate) Addr() string { return g.listener.Addr().String() }

// Open starts the one session there, as Proxy.Open does.
func (g *Gate) Open(ctx context.Context) *Session { return newSession(ctx, g) }

// Close gives the port back. Twice is harmless.
func (g *Gate) Close() {
	if g.listener.Close() != nil {
		return // the port may be another's by now
	}
	g.proxy.mu.Lock()
	delete(g.proxy.ports, g.port)
	g.proxy.mu.Unlock()
}
