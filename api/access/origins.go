package access

import (
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/input"
)

// Site is the host[:port] that a request was sent to.
type Site string

// name returns the site without its port, in lower case.
func (s Site) name() string {
	host := string(s)
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}

	return strings.ToLower(strings.Trim(host, "[]"))
}

// Origins decides which web pages may call the server from a browser. Programs that are no browsers send no Origin
// header and are not concerned.
type Origins struct {
	list []string
	// any is set for "*".
	any bool
	// names are the host names of this server, as far as it knows them.
	names []string
}

// NewOrigins returns the rules of a server that listens on addr. It allows the listed origins ("https://app.example",
// or "*" for all) and its own.
func NewOrigins(addr string, allowed []string) Origins {
	o := Origins{list: allowed, any: slices.Contains(allowed, "*")}
	host, _, _ := net.SplitHostPort(addr)

	o.names = append(o.names, "localhost", strings.ToLower(host))
	if name, err := os.Hostname(); err == nil {
		o.names = append(o.names, strings.ToLower(name))
	}

	for _, origin := range allowed {
		if u, err := url.Parse(origin); err == nil && u.Host != "" {
			o.names = append(o.names, strings.ToLower(u.Hostname()))
		}
	}

	return o
}

// Restricted reports whether answers depend on the Origin header.
func (o Origins) Restricted() bool { return len(o.list) > 0 }

// Any reports whether pages of every origin may call.
func (o Origins) Any() bool { return o.any }

// Lists reports whether origin is one of the allowed origins.
func (o Origins) Lists(origin string) bool {
	return o.any || slices.ContainsFunc(o.list, func(listed string) bool { return strings.EqualFold(listed, origin) })
}

// Check returns OriginNotAllowed unless a page of origin may call: its origin is listed, or is this server.
func (o Origins) Check(origin string, here Site) error {
	if o.Lists(origin) || isOrigin(origin, here) {
		return nil
	}

	return notAllowed(origin)
}

// isOrigin reports whether origin is the server here. It compares host and port only: after a proxy that ends TLS,
// the scheme is not known here.
func isOrigin(origin string, here Site) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, string(here))
}

// isOwnName reports whether here is an IP address or a name of this server. Any other name may be an attacker's,
// whose DNS points it to this server.
func (o Origins) isOwnName(here Site) bool {
	name := here.name()
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}

	return o.any || strings.HasSuffix(name, ".localhost") || slices.Contains(o.names, name)
}

// CheckOpen protects a server that needs no key from web pages. It rejects pages of other sites, and pages whose
// host name was pointed to this server (DNS rebinding). origin and fetchSite are the headers Origin and
// Sec-Fetch-Site. Errors: Forbidden, OriginNotAllowed.
func (o Origins) CheckOpen(here Site, origin, fetchSite string) error {
	if !o.isOwnName(here) {
		return fault.Errorf(fault.Forbidden,
			"this server has no key and answers to its address and localhost only, not to %s; "+
				"set API_KEY, or list the origin in ALLOWED_ORIGINS", input.Quote(string(here)))
	}

	if origin != "" {
		if err := o.Check(origin, here); err != nil {
			return err
		}
	}

	if fetchSite == "cross-site" && !o.Lists(origin) {
		return fault.Errorf(fault.OriginNotAllowed, "a page of another site may not call a server that has no key")
	}

	return nil
}

// CheckSameSite returns OriginNotAllowed for a request of a page of another site. The pages of operators need it for
// writes, because browsers send a stored password along. origin and fetchSite are the headers Origin and
// Sec-Fetch-Site.
func CheckSameSite(here Site, origin, fetchSite string) error {
	if fetchSite != "" && fetchSite != "same-origin" && fetchSite != "none" {
		return fault.Errorf(fault.OriginNotAllowed, "only pages of this server may change this")
	}

	if origin != "" && !isOrigin(origin, here) {
		return notAllowed(origin)
	}

	return nil
}

// notAllowed returns the error for a page of an origin that may not call.
func notAllowed(origin string) *fault.Error {
	return fault.Errorf(fault.OriginNotAllowed, "the origin %s is not in ALLOWED_ORIGINS", input.Quote(origin))
}
