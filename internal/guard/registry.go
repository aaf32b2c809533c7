package guard

import "net/netip"

// class says which exemptions open a special range.
type class int

const (
	// closed ranges are opened by an entry that names them.
	closed class = iota
	// private ranges are also opened by the setting "true".
	private
	// never ranges are opened by nothing.
	never
)

// special is one range outside the public internet.
type special struct {
	prefix netip.Prefix
	class  class
	name   string // for errors
	source string // the standard or the provider that defines it, for errors
}

// registry lists the special ranges. It has three sources:
//   - the IANA special-purpose registries of both families: the entries that are not globally reachable, October 2025
//   - the multicast registries
//   - the addresses on which cloud providers serve credentials
//
// The first match counts, so metadata addresses come before the ranges around them. ORCHID, Teredo and the other
// parts of 2001::/23 are one entry: no web server uses them.
var registry = []special{
	{netip.MustParsePrefix("169.254.169.254/32"), never, "cloud metadata", "AWS, GCP, Azure and others"},
	{netip.MustParsePrefix("100.100.100.200/32"), never, "cloud metadata", "Alibaba"},
	{netip.MustParsePrefix("192.0.0.192/32"), never, "cloud metadata", "Oracle"},
	{netip.MustParsePrefix("168.63.129.16/32"), never, "cloud metadata", "Azure"},
	{netip.MustParsePrefix("fd00:ec2::/32"), never, "cloud metadata", "AWS"},
	{netip.MustParsePrefix("fd20:ce::254/128"), never, "cloud metadata", "GCP"},
	{netip.MustParsePrefix("fd00:42::42/128"), never, "cloud metadata", "Scaleway"},

	{netip.MustParsePrefix("0.0.0.0/8"), never, "this host", "RFC 1122"},
	{netip.MustParsePrefix("10.0.0.0/8"), private, "private network", "RFC 1918"},
	{netip.MustParsePrefix("100.64.0.0/10"), closed, "carrier-grade NAT", "RFC 6598"},
	{netip.MustParsePrefix("127.0.0.0/8"), private, "loopback", "RFC 1122"},
	{netip.MustParsePrefix("169.254.0.0/16"), never, "link-local", "RFC 3927"},
	{netip.MustParsePrefix("172.16.0.0/12"), private, "private network", "RFC 1918"},
	{netip.MustParsePrefix("192.0.0.0/24"), closed, "protocol assignments", "RFC 6890"},
	{netip.MustParsePrefix("192.0.2.0/24"), closed, "documentation", "RFC 5737"},
	{netip.MustParsePrefix("192.88.99.0/24"), closed, "6to4 relay", "RFC 7526"},
	{netip.MustParsePrefix("192.168.0.0/16"), private, "private network", "RFC 1918"},
	{netip.MustParsePrefix("198.18.0.0/15"), closed, "benchmarking", "RFC 2544"},
	{netip.MustParsePrefix("198.51.100.0/24"), closed, "documentation", "RFC 5737"},
	{netip.MustParsePrefix("203.0.113.0/24"), closed, "documentation", "RFC 5737"},
	{netip.MustParsePrefix("224.0.0.0/4"), never, "multicast", "RFC 5771"},
	{netip.MustParsePrefix("255.255.255.255/32"), never, "broadcast", "RFC 919"},
	{netip.MustParsePrefix("240.0.0.0/4"), closed, "reserved", "RFC 1112"},

	{netip.MustParsePrefix("::/128"), never, "this host", "RFC 4291"},
	{netip.MustParsePrefix("::1/128"), private, "loopback", "RFC 4291"},
	{netip.MustParsePrefix("::/96"), closed, "IPv4-compatible", "RFC 4291"},
	{netip.MustParsePrefix("::ffff:0:0:0/96"), closed, "IPv4-translated", "RFC 2765"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), closed, "local NAT64", "RFC 8215"},
	{netip.MustParsePrefix("100::/64"), closed, "discard-only", "RFC 6666"},
	{netip.MustParsePrefix("100:0:0:1::/64"), closed, "dummy prefix", "RFC 9780"},
	{netip.MustParsePrefix("2001::/23"), closed, "protocol assignments", "RFC 2928"},
	{netip.MustParsePrefix("2001:db8::/32"), closed, "documentation", "RFC 3849"},
	{netip.MustParsePrefix("3fff::/20"), closed, "documentation", "RFC 9637"},
	{netip.MustParsePrefix("5f00::/16"), closed, "segment routing", "RFC 9602"},
	{netip.MustParsePrefix("fc00::/7"), private, "unique local", "RFC 4193"},
	{netip.MustParsePrefix("fe80::/10"), never, "link-local", "RFC 4291"},
	{netip.MustParsePrefix("fec0::/10"), closed, "site-local", "RFC 3879"},
	{netip.MustParsePrefix("ff00::/8"), never, "multicast", "RFC 4291"},
}

// Prefixes of IPv6. All but globalV6 embed an IPv4 address.
var (
	globalV6   = netip.MustParsePrefix("2000::/3")
	nat64      = netip.MustParsePrefix("64:ff9b::/96")
	localNAT64 = netip.MustParsePrefix("64:ff9b:1::/48")
	sixToFour  = netip.MustParsePrefix("2002::/16")
	teredo     = netip.MustParsePrefix("2001::/32")
	compatible = netip.MustParsePrefix("::/96")
	translated = netip.MustParsePrefix("::ffff:0:0:0/96")
)

// metadataNames are the host names under which cloud providers serve credentials.
var metadataNames = []string{
	"metadata.google.internal", "metadata.goog", "metadata.azure.internal", "metadata.tencentyun.com",
	"instance-data", "instance-data.ec2.internal",
}

// classify returns the special range of an address. ok is false for an address of the public internet. For an IPv6
// address that embeds an IPv4 address, the stricter of both ranges counts. The address must be unmapped and have no
// zone.
func classify(a netip.Addr) (s special, ok bool) {
	s, ok = specialRange(a)
	for _, v4 := range embedded(a) {
		if inner, found := specialRange(v4); found && (!ok || inner.class == never) {
			s, ok = inner, true
			if s.class == private {
				// "true" does not open private addresses that a translator reaches.
				s.class = closed
			}
		}
	}

	return s, ok
}

// specialRange returns the first special range that contains a. Addresses of IPv6 that no registry has assigned count
// as reserved.
func specialRange(a netip.Addr) (special, bool) {
	for _, s := range registry {
		if s.prefix.Contains(a) {
			return s, true
		}
	}

	if a.Is6() && !globalV6.Contains(a) && !nat64.Contains(a) {
		return special{class: closed, name: "reserved", source: "RFC 4291"}, true
	}

	return special{}, false
}

// embedded returns the IPv4 addresses to which a transition mechanism could send a packet for a.
func embedded(a netip.Addr) []netip.Addr {
	if !a.Is6() {
		return nil
	}
	b := a.As16()
	tail := netip.AddrFrom4([4]byte(b[12:16]))

	switch {
	case a == netip.IPv6Unspecified() || a == netip.IPv6Loopback():
		return nil
	case nat64.Contains(a), compatible.Contains(a), translated.Contains(a):
		return []netip.Addr{tail}
	case sixToFour.Contains(a):
		return []netip.Addr{netip.AddrFrom4([4]byte(b[2:6]))}
	case teredo.Contains(a):
		return []netip.Addr{netip.AddrFrom4([4]byte(b[4:8])), netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]})}
	case localNAT64.Contains(a):
		// The network's operator chooses the prefix length. RFC 6052 puts the address into the last four bytes (/96) or
		// around byte 8 (/48). The unused layout is zero.
		var out []netip.Addr

		for _, v4 := range []netip.Addr{tail, netip.AddrFrom4([4]byte{b[6], b[7], b[9], b[10]})} {
			if v4 != netip.IPv4Unspecified() {
				out = append(out, v4)
			}
		}

		return out
	}

	return nil
}
