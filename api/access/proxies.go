package access

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the addresses of the proxies whose X-Forwarded-* headers are trusted.
type Proxies []netip.Prefix

// ParseProxies reads a list of addresses and CIDRs, the setting TRUSTED_PROXIES. Errors: an entry that is neither.
func ParseProxies(list []string) (Proxies, error) {
	var out Proxies

	for _, entry := range list {
		p, err := netip.ParsePrefix(entry)
		if err != nil {
			a, err := netip.ParseAddr(entry)
			if err != nil {
				return nil, fmt.Errorf("api: TRUSTED_PROXIES: %q is neither an address nor a CIDR", entry)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		out = append(out, p)
	}

	return out, nil
}

// trusts reports whether the address is that of a trusted proxy.
func (p Proxies) trusts(a netip.Addr) bool {
	return slices.ContainsFunc(p, func(prefix netip.Prefix) bool { return prefix.Contains(a) })
}

// Secure reports whether a trusted proxy at peer says that its client uses HTTPS.
func (p Proxies) Secure(peer netip.Addr, forwardedProto string) bool {
	return strings.EqualFold(forwardedProto, "https") && p.trusts(peer)
}

// Forwarded holds the parts of a request that name its client and its destination.
type Forwarded struct {
	// Peer is the address at the other end of the connection.
	Peer netip.Addr
	// Host, ForwardedHost and ForwardedFor are the headers Host, X-Forwarded-Host and X-Forwarded-For.
	Host, ForwardedHost, ForwardedFor string
}

// Client returns the address of the client and the site that it sent the request to. Client uses the rightmost entry
// of X-Forwarded-For that is not a trusted proxy: the client may have written everything to its left.
func (p Proxies) Client(f Forwarded) (netip.Addr, Site) {
	ip, here := f.Peer, Site(f.Host)
	if !p.trusts(ip) {
		return ip, here
	}

	if f.ForwardedHost != "" {
		here = Site(f.ForwardedHost)
	}

	for _, hop := range slices.Backward(strings.Split(f.ForwardedFor, ",")) {
		a, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}

		if ip = a.Unmap(); !p.trusts(ip) {
			break
		}
	}

	return ip, here
}
