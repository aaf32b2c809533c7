package guard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"presswork/internal/fault"
)

// connectTimeout limits resolving and connecting together.
const connectTimeout = 5 * time.Second

// DialContext connects to host:port over TCP. It resolves a name once, checks every answer and connects to a checked
// address. If one answer is refused, the name is refused. Errors: InvalidURL, AddressNotAllowed, and errors of package
// net for names that do not resolve and hosts that do not answer.
func (p *Policy) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := splitAddress(network, address)
	if err != nil {
		return nil, err
	}

	ctx, cancel := context.WithTimeoutCause(
		ctx,
		connectTimeout,
		fmt.Errorf("connecting to %s exceeded %s", address, connectTimeout),
	)
	defer cancel()

	addrs, err := p.resolve(ctx, host, port)
	if err != nil {
		return nil, err
	}

	return dialFirst(ctx, addrs, port)
}

// splitAddress splits an address to dial. Only TCP is allowed.
func splitAddress(network, address string) (host string, port uint16, err error) {
	if network != "tcp" && network != "tcp4" && network != "tcp6" {
		return "", 0, fmt.Errorf("network %q: only tcp is dialled", network)
	}

	host, digits, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, err
	}

	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("port %q: %w", digits, err)
	}

	return host, uint16(n), nil
}

// resolve returns the addresses of host. All of them may be dialled on port.
func (p *Policy) resolve(ctx context.Context, host string, port uint16) ([]netip.Addr, error) {
	name, addr, err := canonicalHost(host)
	if err != nil {
		return nil, fault.Errorf(fault.InvalidURL, "host %q: %v", clip(host), err)
	}

	if err := p.hosts.check(name, addr); err != nil {
		return nil, err
	}
	addrs := []netip.Addr{addr}

	switch {
	// A resolver may map these names to any address, so they are refused by name.
	case isMetadata(name):
		return nil, refuse(Never, name, "cloud metadata addresses are never allowed")
	case name != "":
		if addrs, err = p.lookup(ctx, name); err != nil {
			return nil, fmt.Errorf("resolving %s: %w", name, err)
		}

		if len(addrs) == 0 {
			return nil, fmt.Errorf("resolving %s: no addresses", name)
		}
	}

	for _, a := range addrs {
		ap := netip.AddrPortFrom(a, port)
		if err := p.check(name, ap); err != nil {
			return nil, err
		}

		// A service given by name may have another address by now, so it is resolved again.
		if p.ownByName(ctx, ap) {
			return nil, refuse(Own, host, "it is one of Presswork's own services")
		}
	}

	return addrs, nil
}

// dialFirst tries the addresses in the resolver's order. Each gets an equal share of the remaining time, so that a
// silent first address leaves time for the others.
func dialFirst(ctx context.Context, addrs []netip.Addr, port uint16) (net.Conn, error) {
	var errs []error

	for i, a := range addrs {
		deadline, _ := ctx.Deadline()
		share := time.Until(deadline) / time.Duration(len(addrs)-i)
		d := net.Dialer{Timeout: share, KeepAlive: 15 * time.Second}

		conn, err := d.DialContext(ctx, "tcp", netip.AddrPortFrom(a.Unmap(), port).String())
		if err == nil {
			return conn, nil
		}

		errs = append(errs, err)
		if ctx.Err() != nil {
			errs = append(errs, context.Cause(ctx))
			break
		}
	}

	return nil, errors.Join(errs...)
}
