package guard

import (
	"cmp"
	"context"
	"maps"
	"net"
	"net/netip"
	"sync"
)

// ProxyOptions are the limits of one session of a Proxy.
type ProxyOptions struct {
	// MaxBytes limits the bytes of all connections of a session, both directions together. Default 256 MiB.
	MaxBytes int64
	// MaxRequests limits the requests of a session. In a tunnel, each TLS record of application data from the browser
	// counts as one. Default 10000.
	MaxRequests int64
}

// Proxy connects a browser of foreign pages with the network. It runs HTTP proxies on loopback that connect only where
// a policy allows. Each page gets a session with its own port, counters and connections.
type Proxy struct {
	policy  *Policy
	opts    ProxyOptions
	buffers buffers

	mu       sync.Mutex
	ports    map[uint16]bool // of the gates that are not closed
	refusals map[Reason]int64
}

// NewProxy returns a Proxy that connects where the policy allows, but never to one of its own sessions.
func NewProxy(policy *Policy, o ProxyOptions) *Proxy {
	o.MaxBytes = cmp.Or(o.MaxBytes, 256<<20)
	o.MaxRequests = cmp.Or(o.MaxRequests, 10000)
	p := &Proxy{opts: o, ports: map[uint16]bool{}, refusals: map[Reason]int64{}}
	own := *policy
	own.isProxyPort = p.owns
	p.policy = &own

	return p
}

// Refusals returns the number of connections refused since NewProxy, by reason.
func (p *Proxy) Refusals() map[Reason]int64 {
	p.mu.Lock()
	defer p.mu.Unlock()

	return maps.Clone(p.refusals)
}

// countRefusal counts err if it is a refusal.
func (p *Proxy) countRefusal(err error) {
	if reason := ReasonOf(err); reason != "" {
		p.mu.Lock()
		p.refusals[reason]++
		p.mu.Unlock()
	}
}

// owns reports whether the address is the port of a session.
func (p *Proxy) owns(ap netip.AddrPort) bool {
	p.mu.Lock()
	listens := p.ports[ap.Port()]
	p.mu.Unlock()

	return listens && (ap.Addr().IsLoopback() || ap.Addr().IsUnspecified() || ofThisMachine(ap.Addr()))
}

// Open starts a session on a port of its own. The session ends with End, with ctx, or when it exceeds the limits of the
// options. The caller must call Close. Open fails if the machine has no free port.
func (p *Proxy) Open(ctx context.Context) (*Session, error) {
	gate, err := p.Reserve()
	if err != nil {
		return nil, err
	}

	return gate.Open(ctx), nil
}

// Gate is the port of a future session. A browser context needs the address of its proxy when it is created, before the
// page is known. The port accepts no connection before Open.
type Gate struct {
	proxy    *Proxy
	listener *net.TCPListener
	port     uint16
}

// Reserve takes a port. The caller must call Close, or Open and then the session's Close. It fails if the machine has
// no free port.
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

// Addr returns the address of the port as host:port.
func (g *Gate) Addr() string { return g.listener.Addr().String() }

// Open starts the session, as Proxy.Open does. It must be called at most once.
func (g *Gate) Open(ctx context.Context) *Session { return newSession(ctx, g) }

// Close frees the port. A second call does nothing.
func (g *Gate) Close() {
	if g.listener.Close() != nil {
		return // closed before: another program may use the port by now
	}
	g.proxy.mu.Lock()
	delete(g.proxy.ports, g.port)
	g.proxy.mu.Unlock()
}
