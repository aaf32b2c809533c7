package guard

import (
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// maxHost is the longest host that is accepted, in bytes. Percent signs and other scripts can make a name longer than
// its canonical form of at most 253 bytes.
const maxHost = 1 << 10

// canonicalHost parses a host as browsers do (WHATWG URL, host parsing). It decodes percent signs and maps names by
// UTS 46. A name that ends in a number is an IPv4 address in any notation (0x7f.1, 2130706433, ①②⑦.0.0.1). It returns a
// lower-case name without a trailing dot, or a valid address.
func canonicalHost(host string) (name string, addr netip.Addr, err error) {
	if len(host) > maxHost {
		return "", addr, errors.New("the host is too long")
	}

	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, closed := strings.CutSuffix(inner, "]")
		if !closed || !strings.Contains(inner, ":") {
			return "", addr, errors.New("the address in brackets is not closed or not IPv6")
		}
		host = inner
	}

	if strings.Contains(host, ":") {
		addr, err := netip.ParseAddr(host)
		if err != nil || addr.Zone() != "" {
			return "", netip.Addr{}, errors.New("the host is not a valid IPv6 address")
		}

		return "", addr, nil
	}

	name, err = asciiName(host)
	if err != nil {
		return "", addr, err
	}

	if endsInNumber(name) {
		addr, err = parseIPv4(name)
		return "", addr, err
	}

	return name, addr, nil
}

// asciiName returns a host name in lower-case ASCII (Punycode).
func asciiName(host string) (string, error) {
	bad := errors.New("the host name is not valid")

	decoded, err := url.PathUnescape(host)
	if err != nil {
		return "", bad
	}
	// idna.Lookup would reject underscores, which browsers accept.
	profile := idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false),
		idna.CheckHyphens(false), idna.BidiRule())
	name, err := profile.ToASCII(decoded)

	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if err != nil || name == "" || len(name) > 253 {
		return "", bad
	}

	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 {
			return "", bad
		}
	}

	if strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune("#%/:<>?@[\\]^|\"'`{}", r)
	}) {
		return "", bad
	}

	return name, nil
}

// endsInNumber reports whether browsers parse the name as an IPv4 address.
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	hex, ok := strings.CutPrefix(last, "0x")

	return ok && strings.Trim(hex, "0123456789abcdef") == ""
}

// parseIPv4 parses one to four parts, each decimal, octal (0…) or hexadecimal (0x…). The last part fills the remaining
// bytes.
func parseIPv4(name string) (netip.Addr, error) {
	bad := errors.New("the host ends in a number but is not an IPv4 address")

	parts := strings.Split(name, ".")
	if len(parts) > 4 {
		return netip.Addr{}, bad
	}
	var sum uint64

	for i, part := range parts {
		n, err := parseNumber(part)

		limit := uint64(256)
		if i == len(parts)-1 {
			// The last of n parts holds the remaining 5-n bytes.
			limit = 1 << (8 * (5 - len(parts)))
		}

		if err != nil || n >= limit {
			return netip.Addr{}, bad
		}
		sum = sum*limit + n
	}

	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), nil
}

// parseNumber parses a part of an IPv4 address as browsers do: 0x is hexadecimal, a leading 0 octal.
func parseNumber(part string) (uint64, error) {
	if hex, ok := strings.CutPrefix(part, "0x"); ok {
		if hex == "" {
			return 0, nil
		}

		return strconv.ParseUint(hex, 16, 64)
	}

	if len(part) > 1 && part[0] == '0' {
		return strconv.ParseUint(part[1:], 8, 64)
	}

	return strconv.ParseUint(part, 10, 64)
}

// isLocalhost reports whether browsers resolve a name to loopback without a resolver (RFC 6761).
func isLocalhost(name string) bool {
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// isMetadata reports whether cloud providers serve credentials under a name.
func isMetadata(name string) bool { return slices.Contains(metadataNames, name) }
