package guard

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Options are the settings of a Policy.
type Options struct {
	// Allow is a comma-separated list of exemptions from the address and port rule: host[:port], address[:port] or CIDR.
	// An entry without a port exempts every port. The word true exempts loopback, RFC 1918 and unique local addresses.
	// Link-local and metadata addresses are never exempt. Default: no exemptions.
	Allow string
	// Setting is the name of the operator's variable for Allow, which refusals mention. Default: they mention none.
	Setting string
	// AllowHosts and DenyHosts are comma-separated lists of host globs (*.example.com). A host must match one of
	// AllowHosts, unless that is empty, and none of DenyHosts. The address rule also applies to an allowed host. Addresses
	// are compared in canonical form. Default: every host is allowed.
	AllowHosts, DenyHosts string
	// Never lists Presswork's own services as host:port (Redis, store, API, search engine, debugging). No exemption opens
	// them. A host of "", 0.0.0.0 or :: is this machine. Default: none.
	Never []string
	// NeverNow returns more entries for Never that change while the program runs (nodes of Redis, upstreams of models).
	// It is called for each address. Default: none.
	NeverNow func() []string
	// Lookup resolves a host name to addresses. Default: the system's resolver.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
}

// Policy decides which addresses may be dialled. It is immutable and safe for concurrent use.
type Policy struct {
	setting        string          // names the setting in errors
	allPrivate     bool            // private ranges are open
	prefixes       []netip.Prefix  // ranges that are open
	allowed        []endpoint      // hosts that are open
	ownServices    []endpoint      // those of Options.Never
	ownServicesNow func() []string // Options.NeverNow
	hosts          hostRules       // the rules for host names
	// isProxyPort, if set, reports whether an address is the port of a proxy session.
	isProxyPort func(netip.AddrPort) bool
	lookup      func(ctx context.Context, host string) ([]netip.Addr, error) // resolves a name
}

// endpoint is a host and port of the settings. Either addr is valid or name is set. Port 0 means any port.
type endpoint struct {
	name string
	addr netip.Addr
	port uint16
}

// New returns a Policy. The error names the invalid entry and the allowed forms.
func New(o Options) (*Policy, error) {
	p := &Policy{setting: o.Setting, ownServicesNow: o.NeverNow, lookup: o.Lookup}
	if p.lookup == nil {
		p.lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}

	var err error
	if p.hosts, err = newHostRules(o.AllowHosts, o.DenyHosts); err != nil {
		return nil, err
	}

	for entry := range strings.SplitSeq(o.Allow, ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}

		if err := p.allow(entry); err != nil {
			return nil, fmt.Errorf("%q: %w", entry, err)
		}
	}

	for _, entry := range o.Never {
		e, err := parseNever(entry)
		if err != nil {
			return nil, fmt.Errorf("own address %q: %w", entry, err)
		}
		p.ownServices = append(p.ownServices, e)
	}

	return p, nil
}

// allow adds an entry of Options.Allow.
func (p *Policy) allow(entry string) error {
	if entry == "true" {
		p.allPrivate = true
		return nil
	}

	if strings.Contains(entry, "/") {
		prefix, err := netip.ParsePrefix(entry)
		if err != nil || prefix.Addr().Is4In6() {
			return fmt.Errorf("not a CIDR; allowed: 10.0.0.0/8 or fd00::/8")
		}

		prefix = prefix.Masked()
		if s, ok := specialRange(prefix.Addr()); ok && s.class == never && s.prefix.Bits() <= prefix.Bits() {
			return neverExempt(s)
		}
		p.prefixes = append(p.prefixes, prefix)

		return nil
	}

	host, port, err := splitEntry(entry)
	if err != nil {
		return err
	}

	e, err := parseEndpoint(host, port)
	if err != nil {
		return err
	}

	if s, ok := classify(e.addr); e.addr.IsValid() && ok && s.class == never {
		return neverExempt(s)
	}
	p.allowed = append(p.allowed, e)

	return nil
}

// neverExempt returns the error for an exemption that would open a range of the class never.
func neverExempt(s special) error {
	return fmt.Errorf("%s addresses (%s) are never allowed", s.name, s.source)
}

// splitEntry splits host[:port]; a bare IPv6 address has no port.
func splitEntry(entry string) (host, port string, err error) {
	if _, err := netip.ParseAddr(entry); err == nil {
		return entry, "", nil
	}

	if !strings.Contains(entry, ":") || strings.HasSuffix(entry, "]") {
		return entry, "", nil
	}

	host, port, err = net.SplitHostPort(entry)
	if err != nil || port == "" {
		return "", "", fmt.Errorf("allowed: host[:port], a CIDR (10.0.0.0/8), or true")
	}

	return host, port, nil
}

// parseEndpoint parses a host and a port; port "" means any.
func parseEndpoint(host, port string) (e endpoint, err error) {
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return e, fmt.Errorf("port %q is not a number from 1 to 65535", port)
		}
		e.port = uint16(n)
	}

	name, addr, err := canonicalHost(host)
	if err != nil {
		return e, fmt.Errorf("%w; allowed: host[:port], a CIDR (10.0.0.0/8), or true", err)
	}
	e.name, e.addr = name, addr.Unmap()

	return e, nil
}

// parseNever parses an entry of Options.Never.
func parseNever(entry string) (endpoint, error) {
	host, port, err := net.SplitHostPort(entry)
	if err != nil || port == "" {
		return endpoint{}, fmt.Errorf("allowed: host:port")
	}

	if host == "" {
		host = "0.0.0.0" // it listens on all addresses of this machine
	}

	e, err := parseEndpoint(host, port)
	if isLocalhost(e.name) {
		e.addr = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}

	return e, err
}

// check returns AddressNotAllowed if an address must not be dialled. host is the name that resolved to it, or "". check
// compares with the own services that are given as addresses; resolve compares with those that are given by name.
func (p *Policy) check(host string, ap netip.AddrPort) error {
	addr, port := ap.Addr().Unmap(), ap.Port()

	shown := host
	if shown == "" {
		shown = addr.String()
	}

	if !addr.IsValid() {
		return refuse(NotPublic, shown, "it is not an address")
	}

	if addr.Zone() != "" {
		return refuse(Never, shown, "link-local addresses are never allowed")
	}

	s, isSpecial := classify(addr)
	// The order matters: no exemption opens a range of the class never, and Presswork's own services stay closed in
	// exempt ranges.
	switch {
	case isSpecial && s.class == never:
		return refuse(Never, shown, fmt.Sprintf("%s addresses are never allowed", s.name))
	case !isSpecial && webPort(port):
		return nil
	case p.exempt(host, addr, port, s):
		if p.own(addr, port) {
			return refuse(Own, shown, "it is one of Presswork's own services")
		}

		return nil
	case isSpecial:
		return p.refuseUntilExempt(NotPublic, shown,
			fmt.Sprintf("it is not on the public internet (%s, %s)", s.name, s.source))
	}

	return p.refusePort(shown, port)
}

// refuseUntilExempt refuses an address and names the setting that could exempt it.
func (p *Policy) refuseUntilExempt(reason Reason, host, why string) error {
	if p.setting != "" {
		why += "; the operator can allow it in " + p.setting
	}

	return refuse(reason, host, why)
}

// refusePort refuses a port.
func (p *Policy) refusePort(host string, port uint16) error {
	return p.refuseUntilExempt(Port, host, fmt.Sprintf("port %d is neither 80 nor 443", port))
}

// webPort reports whether every public address is open on a port.
func webPort(port uint16) bool { return port == 80 || port == 443 }

// exempt reports whether an exemption opens an address.
func (p *Policy) exempt(host string, addr netip.Addr, port uint16, s special) bool {
	if p.allPrivate && s.class == private {
		return true
	}

	if slices.ContainsFunc(p.prefixes, func(prefix netip.Prefix) bool { return prefix.Contains(addr) }) {
		return true
	}

	return p.allowsName(host, port) || slices.ContainsFunc(p.allowed, func(e endpoint) bool {
		return e.addr.IsValid() && e.addr == addr && (e.port == 0 || e.port == port)
	})
}

// allowsName reports whether an exemption names a host. Its addresses need no exemption of their own.
func (p *Policy) allowsName(host string, port uint16) bool {
	return host != "" && slices.ContainsFunc(p.allowed, func(e endpoint) bool {
		return e.name == host && (e.port == 0 || e.port == port)
	})
}

// services returns Presswork's own services at this moment. It skips invalid entries of ownServicesNow, which cannot be
// dialled.
func (p *Policy) services() []endpoint {
	if p.ownServicesNow == nil {
		return p.ownServices
	}

	all := slices.Clone(p.ownServices)
	for _, entry := range p.ownServicesNow() {
		if e, err := parseNever(entry); err == nil {
			all = append(all, e)
		}
	}

	return all
}

// own reports whether an address belongs to one of Presswork's services that are given by address. All loopback
// addresses count as the same. A service that listens on all addresses is at each address of this machine.
func (p *Policy) own(addr netip.Addr, port uint16) bool {
	if p.isProxyPort != nil && p.isProxyPort(netip.AddrPortFrom(addr, port)) {
		return true
	}

	return slices.ContainsFunc(p.services(), func(e endpoint) bool {
		switch {
		case e.port != port || !e.addr.IsValid():
			return false
		case e.addr.IsUnspecified():
			return addr.IsLoopback() || ofThisMachine(addr)
		}

		return e.addr == addr || e.addr.IsLoopback() && addr.IsLoopback()
	})
}

// ofThisMachine reports whether an interface of this machine has the address. It returns true if the interfaces cannot
// be read.
func ofThisMachine(addr netip.Addr) bool {
	addrs, err := net.InterfaceAddrs()

	return err != nil || slices.ContainsFunc(addrs, func(a net.Addr) bool {
		prefix, err := netip.ParsePrefix(a.String())
		return err == nil && prefix.Addr().Unmap() == addr
	})
}

// ownByName is own for the services that are given by name. It skips addresses that are allowed without an exemption. A
// name that does not resolve counts as a match, because the service may be at the address.
func (p *Policy) ownByName(ctx context.Context, ap netip.AddrPort) bool {
	addr := ap.Addr().Unmap()
	if _, isSpecial := classify(addr); !isSpecial && webPort(ap.Port()) {
		return false
	}

	for _, e := range p.services() {
		if e.port != ap.Port() || e.addr.IsValid() {
			continue
		}

		answers, err := p.lookup(ctx, e.name)
		if err != nil || slices.ContainsFunc(answers, func(a netip.Addr) bool { return a.Unmap() == addr }) {
			return true
		}
	}

	return false
}

// clip shortens a caller's text for a message.
func clip(s string) string {
	const limit = 200
	if len(s) <= limit {
		return s
	}

	return strings.ToValidUTF8(s[:limit], "") + "…"
}
