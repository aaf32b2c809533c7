package guard

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"presswork/internal/fault"
)

// maxURL is the longest URL that is accepted, in bytes.
const maxURL = 8 << 10

// CheckURL parses a URL as browsers do and returns it in canonical form. The caller must use that form from then on.
// Errors: InvalidURL when raw is not a well-formed http or https URL, or has a user name; AddressNotAllowed when its
// host or port is refused.
//
// CheckURL resolves no names. DialContext rejects a host name that resolves to a refused address.
func (p *Policy) CheckURL(raw string) (*url.URL, error) {
	u, err := parseURL(raw)
	if err != nil {
		return nil, fault.Errorf(fault.InvalidURL, "%q is not a valid URL: %v", clip(raw), err)
	}

	name, addr, err := canonicalHost(u.Hostname())
	if err != nil {
		return nil, fault.Errorf(fault.InvalidURL, "%q is not a valid URL: %v", clip(raw), err)
	}

	port := portOf(u)
	if err := p.checkWritten(name, addr, port); err != nil {
		return nil, err
	}

	return u, nil
}

// checkWritten rejects a host and port that can be rejected without a resolver.
func (p *Policy) checkWritten(name string, addr netip.Addr, port uint16) error {
	if err := p.hosts.check(name, addr); err != nil {
		return err
	}

	switch {
	case addr.IsValid():
		return p.check("", netip.AddrPortFrom(addr, port))
	case isMetadata(name):
		return refuse(Never, name, "cloud metadata addresses are never allowed")
	case isLocalhost(name):
		return p.check(name, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port))
	case webPort(port), p.allowsName(name, port), p.allPrivate, len(p.prefixes) > 0:
		return nil
	}

	for _, e := range p.allowed {
		if e.addr.IsValid() && (e.port == 0 || e.port == port) {
			return nil
		}
	}

	return p.refusePort(name, port)
}

// portOf returns the port of a URL that parseURL has returned. Its Host contains a port only if that differs from the
// scheme's default.
func portOf(u *url.URL) uint16 {
	if port := u.Port(); port != "" {
		n, _ := strconv.ParseUint(port, 10, 16) // parseURL has checked it
		return uint16(n)
	}

	if u.Scheme == "https" {
		return 443
	}

	return 80
}

// parseURL splits a URL before net/url parses it. net/url rejects some URLs that browsers accept (%zz in a path, a
// percent sign in a host). A hostile author could use the difference.
func parseURL(raw string) (*url.URL, error) {
	raw = strings.Trim(raw, " \t\r\n")
	if len(raw) > maxURL {
		return nil, fmt.Errorf("it is longer than %d bytes", maxURL)
	}

	if strings.ContainsFunc(raw, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, fmt.Errorf("it has control characters")
	}

	scheme, rest, ok := strings.Cut(raw, "://")
	if scheme = strings.ToLower(scheme); !ok || (scheme != "http" && scheme != "https") {
		return nil, fmt.Errorf("it must begin with http:// or https://")
	}

	authority, path := rest, ""
	if end := strings.IndexAny(rest, `/\?#`); end >= 0 {
		authority, path = rest[:end], rest[end:]
	}

	if strings.Contains(authority, "@") {
		return nil, fmt.Errorf("it must not contain a user name or password")
	}

	host, err := canonicalAuthority(scheme, authority)
	if err != nil {
		return nil, err
	}

	u, err := url.Parse(scheme + "://" + host + escapePath(path))
	if err != nil {
		return nil, errors.New("it cannot be read")
	}

	return u, nil
}

// canonicalAuthority returns a host and port in canonical form, without the scheme's default port.
func canonicalAuthority(scheme, authority string) (string, error) {
	host, port := authority, ""
	if colon := strings.LastIndexByte(authority, ':'); colon > strings.LastIndexByte(authority, ']') {
		host, port = authority[:colon], authority[colon+1:]
	}

	if host == "" {
		return "", fmt.Errorf("it has no host")
	}

	if strings.Contains(host, ":") && host[0] != '[' {
		return "", fmt.Errorf("an IPv6 address needs brackets")
	}

	name, addr, err := canonicalHost(host)
	if err != nil {
		return "", err
	}

	switch {
	case addr.Is6():
		name = "[" + addr.String() + "]"
	case addr.IsValid():
		name = addr.String()
	}

	if port == "" {
		return name, nil
	}

	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return "", fmt.Errorf("the port is not a number from 1 to 65535")
	}

	if (scheme == "http" && n == 80) || (scheme == "https" && n == 443) {
		return name, nil
	}

	return fmt.Sprintf("%s:%d", name, n), nil
}

// escapePath escapes a path, query and fragment as browsers do. Backslashes before the query become slashes. A percent
// sign that begins no escape is escaped itself.
func escapePath(s string) string {
	var b strings.Builder
	inPath := true

	for i := range len(s) {
		c := s[i]

		inPath = inPath && c != '?' && c != '#'
		switch {
		case c == '\\' && inPath:
			b.WriteByte('/')
		case c == '%' && !(i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2])):
			b.WriteString("%25")
		case c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>`{}\\^|", c) >= 0:
			fmt.Fprintf(&b, "%%%02X", c)
		default:
			b.WriteByte(c)
		}
	}

	return b.String()
}

// isHex reports whether c is a hexadecimal digit.
func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
