package api

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"
)

// proxies are the addresses whose forwarding headers count.
type proxies []netip.Prefix

func parseProxies(list []string) (proxies, error) {
	var out proxies

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

func (p proxies) trust(a netip.Addr) bool {
	for _, prefix := range p {
		if prefix.Contains(a) {
			return true
		}
	}

	return false
}

// origin returns the client's address and the site it asked for. Of
// X-Forwarded-For the rightmost entry that is no proxy of ours counts: all to
// its left is the client's own claim.
func (p proxies) origin(ctx *fasthttp.RequestCtx) (netip.Addr, site) {
	h := &ctx.Request.Header
	here := site(h.Host())

	var ip netip.Addr
	if tcp, ok := ctx.RemoteAddr().(*net.TCPAddr); ok {
		ip = tcp.AddrPort().Addr().Unmap()
	}

	if !p.trust(ip) {
		return ip, here
	}

	if host := string(h.Peek("X-Forwarded-Host")); host != "" {
		here = site(host)
	}

	hops := strings.Split(string(h.Peek("X-Forwarded-For")), ",")
	for _, hop := range slices.Backward(hops) {
		a, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}

		if ip = a.Unmap(); !p.trust(ip) {
			break
		}
	}

	return ip, here
}
