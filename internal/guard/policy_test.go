package guard_test

import (
	"context"
	"net/netip"
	"strings"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/guard"
)

// policy returns a policy with valid options.
func policy(t *testing.T, o guard.Options) *guard.Policy {
	t.Helper()

	p, err := guard.New(o)
	if err != nil {
		t.Fatal(err)
	}

	return p
}

// allowed reports whether the policy allows an address and a port.
func allowed(t *testing.T, p *guard.Policy, addrPort string) bool {
	t.Helper()

	err := p.Check(netip.MustParseAddrPort(addrPort))
	if err != nil && fault.CodeOf(err) != fault.AddressNotAllowed {
		t.Errorf("%s: got the code %s, want %s", addrPort, fault.CodeOf(err), fault.AddressNotAllowed)
	}

	return err == nil
}

func TestPublicInternetIsAllowedOnWebPortsOnly(t *testing.T) {
	t.Parallel()

	p := policy(t, guard.Options{})
	for _, ap := range []string{
		"1.1.1.1:443", "93.184.216.34:80", "11.0.0.1:443", "9.255.255.255:443", "172.32.0.1:443", "100.128.0.1:443",
		"192.0.1.1:443", "198.20.0.1:443", "223.255.255.255:443", "[2606:4700:4700::1111]:443", "[2a00::1]:80",
		"[64:ff9b::101:101]:443", "[2002:101:101::1]:443", "[::ffff:1.1.1.1]:443",
	} {
		t.Run(ap, func(t *testing.T) {
			if !allowed(t, p, ap) {
				t.Error("the address is rejected, want it allowed")
			}
		})
	}

	for _, ap := range []string{"1.1.1.1:22", "1.1.1.1:6379", "1.1.1.1:8080", "1.1.1.1:0", "[2606:4700:4700::1111]:25"} {
		t.Run(ap, func(t *testing.T) {
			if allowed(t, p, ap) {
				t.Error("the address is allowed, want it rejected")
			}
		})
	}
}

// TestEverySpecialRangeIsRejected has the first and the last address of every special range, and every way to write an
// IPv4 address as IPv6. The ranges are those entries of the IANA special-purpose and multicast registries that are not
// globally reachable.
func TestEverySpecialRangeIsRejected(t *testing.T) {
	t.Parallel()

	for name, addrs := range map[string]string{
		"this network":     "0.0.0.0 0.255.255.255",
		"RFC 1918":         "10.0.0.0 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.0 192.168.255.255",
		"CGNAT":            "100.64.0.0 100.127.255.255",
		"loopback":         "127.0.0.0 127.0.0.1 127.255.255.255 ::1",
		"link-local":       "169.254.0.0 169.254.255.255 fe80:: fe80::1 febf:ffff::1",
		"assignments":      "192.0.0.0 192.0.0.8 192.0.0.9 192.0.0.170 192.0.0.255",
		"documentation":    "192.0.2.0 192.0.2.255 198.51.100.0 198.51.100.255 203.0.113.0 203.0.113.255 2001:db8:: 2001:db8:ffff:: 3fff:: 3fff:fff::",
		"6to4 relay":       "192.88.99.0 192.88.99.255",
		"benchmarking":     "198.18.0.0 198.19.255.255 2001:2:: 2001:2:0:ffff::",
		"multicast":        "224.0.0.0 239.255.255.255 ff00:: ff02::1 ffff::1",
		"reserved":         "240.0.0.0 255.255.255.254 255.255.255.255",
		"unspecified":      "::",
		"v4-mapped":        "::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254",
		"v4-compatible":    "::127.0.0.1 ::10.0.0.1 ::1.1.1.1",
		"v4-translated":    "::ffff:0:127.0.0.1 ::ffff:0:1.1.1.1",
		"NAT64":            "64:ff9b::127.0.0.1 64:ff9b::10.0.0.1 64:ff9b::169.254.169.254 64:ff9b::100.100.100.200",
		"local NAT64":      "64:ff9b:1:: 64:ff9b:1::1.1.1.1 64:ff9b:1:a9fe:a9:fe00::",
		"discard":          "100:: 100::ffff:ffff:ffff:ffff 100:0:0:1::1",
		"Teredo":           "2001:: 2001:0:ffff::1",
		"ORCHID and DRIP":  "2001:10:: 2001:1f:ffff:: 2001:20:: 2001:2f:ffff:: 2001:30::1 2001:1ff:ffff::1",
		"6to4":             "2002:7f00:1:: 2002:a00:1::1 2002:a9fe:a9fe:: 2002:c0a8:101::1",
		"segment routing":  "5f00:: 5f00:ffff::1",
		"ULA":              "fc00:: fdff:ffff::1 fd12:3456::1",
		"site-local":       "fec0:: feff:ffff::1",
		"not yet assigned": "4000::1 8000::1 c000::1 200::1 400::1",
		"metadata":         "169.254.169.254 100.100.100.200 192.0.0.192 168.63.129.16 fd00:ec2::254 fd00:ec2::23 fd20:ce::254 fd00:42::42",
		"zone":             "fe80::1%eth0 2606:4700:4700::1111%eth0",
	} {
		t.Run(name, func(t *testing.T) {
			p := policy(t, guard.Options{})

			for addr := range strings.FieldsSeq(addrs) {
				for _, port := range []uint16{80, 443} {
					err := p.Check(netip.AddrPortFrom(netip.MustParseAddr(addr), port))
					if fault.CodeOf(err) != fault.AddressNotAllowed {
						t.Errorf("%s: got %v, want %s", addr, err, fault.AddressNotAllowed)
					}
				}
			}
		})
	}
}

func TestAllowTrueOpensOnlyPrivateNetworks(t *testing.T) {
	t.Parallel()

	p := policy(t, guard.Options{Allow: "true"})
	for _, ap := range []string{"127.0.0.1:3000", "127.9.9.9:80", "10.1.2.3:9000", "172.20.0.5:81", "192.168.1.1:443", "[::1]:8080", "[fd12::1]:99", "[::ffff:10.0.0.1]:25"} {
		t.Run(ap, func(t *testing.T) {
			if !allowed(t, p, ap) {
				t.Error("the address is rejected, want it allowed")
			}
		})
	}

	for _, ap := range []string{
		"169.254.169.254:80", "169.254.1.1:80", "[fe80::1]:80", "100.100.100.200:80", "100.64.0.1:80", "168.63.129.16:80", "192.0.0.192:80",
		"[fd00:ec2::254]:80", "[fd20:ce::254]:80", "0.0.0.0:80", "[::]:80", "224.0.0.1:80", "255.255.255.255:80", "240.0.0.1:80",
		"1.1.1.1:8080", "[64:ff9b::127.0.0.1]:80", "[2002:7f00:1::]:80", "[::127.0.0.1]:80",
	} {
		t.Run(ap, func(t *testing.T) {
			if allowed(t, p, ap) {
				t.Error("the address is allowed, want it rejected")
			}
		})
	}
}

func TestExemptionsOpenOnlyWhatTheyName(t *testing.T) {
	t.Parallel()

	for _, tc := range []struct{ allow, opened, closed string }{
		{"10.1.0.0/16", "10.1.2.3:81", "10.2.0.1:80"},
		{"10.1.2.3", "10.1.2.3:81", "10.1.2.4:80"},
		{"10.1.2.3:9000", "10.1.2.3:9000", "10.1.2.3:9001"},
		{"0x0a.1.515:9000", "10.1.2.3:9000", "10.1.2.4:9000"},
		{"[fd00::1]:9000", "[fd00::1]:9000", "[fd00::1]:9001"},
		{"fd00::1", "[fd00::1]:9001", "[fd00::2]:80"},
		{"fd00::/8, 127.0.0.1:5", "127.0.0.1:5", "127.0.0.1:80"},
		{"fd00::/8", "[fd99::1]:5", "[fd00:ec2::254]:80"},
		{"::1", "[::1]:7", "127.0.0.1:80"},
		{"1.1.1.1:8443", "1.1.1.1:8443", "1.1.1.1:8444"},
		{"0.0.0.0/0", "100.64.0.1:22", "169.254.169.254:80"},
		{"0.0.0.0/0", "240.0.0.1:22", "0.0.0.0:80"},
		{"::/0", "[2606:4700::1]:22", "[64:ff9b::169.254.169.254]:80"},
		{"2002::/16", "[2002:a00:1::1]:80", "[2002:a9fe:a9fe::1]:80"},
		{"64:ff9b:1::/48", "[64:ff9b:1::10.0.0.1]:80", "[64:ff9b:1:a9fe:a9:fe00::]:80"},
		{"2001::/32", "[2001:0:101:101::fefe:fefe]:80", "[2001:0:101:101:0:0:5601:5601]:80"},
	} {
		t.Run(tc.allow+" and "+tc.opened, func(t *testing.T) {
			p := policy(t, guard.Options{Allow: tc.allow})
			if !allowed(t, p, tc.opened) {
				t.Errorf("%s is rejected, want it allowed", tc.opened)
			}

			if allowed(t, p, tc.closed) {
				t.Errorf("%s is allowed, want it rejected", tc.closed)
			}
		})
	}
}

func TestOwnServicesStayClosed(t *testing.T) {
	t.Parallel()

	p := policy(t, guard.Options{
		Allow: "true, 0.0.0.0/0, ::/0",
		Never: []string{"127.0.0.1:6379", "localhost:8000", ":9090", "10.0.0.9:9000"},
	})
	for _, ap := range []string{"127.0.0.1:6379", "127.8.8.8:6379", "[::1]:6379", "[::ffff:127.0.0.1]:6379", "[::1]:8000", "127.0.0.1:9090", "10.0.0.9:9000", "[::ffff:10.0.0.9]:9000"} {
		t.Run(ap, func(t *testing.T) {
			if allowed(t, p, ap) {
				t.Error("the address is allowed, want it rejected")
			}
		})
	}

	for _, ap := range []string{"127.0.0.1:6380", "10.0.0.8:9000", "192.168.200.201:6379"} {
		t.Run(ap, func(t *testing.T) {
			if !allowed(t, p, ap) {
				t.Error("the address is rejected, want it allowed")
			}
		})
	}
}

func TestLaterOwnServicesAreClosed(t *testing.T) {
	t.Parallel()
	var ownServices []string
	p := policy(
		t,
		guard.Options{Allow: "true", NeverNow: func() []string { return ownServices }, Lookup: resolveTo("10.0.0.7")},
	)

	const node, upstream = "10.0.0.7:7001", "10.0.0.7:11434"
	for _, ap := range []string{node, upstream} {
		if !allowed(t, p, ap) {
			t.Errorf("%s is rejected before it is an own service, want it allowed", ap)
		}
	}

	ownServices = []string{node, "ollama:11434", "not an address"}
	if allowed(t, p, node) {
		t.Errorf("%s is allowed, want it rejected as an own service", node)
	}

	_, err := p.DialContext(t.Context(), "tcp", upstream)
	if fault.CodeOf(err) != fault.AddressNotAllowed {
		t.Errorf("%s: got %v, want %s", upstream, err, fault.AddressNotAllowed)
	}
}

func TestDialRejectsAnOwnServiceByName(t *testing.T) {
	t.Parallel()
	listener := listenLoopback(t)

	p := policy(t, guard.Options{
		Allow: "true",
		Never: []string{"redis:" + listener.port},
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		},
	})
	for _, host := range []string{"127.0.0.1", "other.example", "redis"} {
		t.Run(host, func(t *testing.T) {
			_, err := p.DialContext(t.Context(), "tcp", host+":"+listener.port)
			if fault.CodeOf(err) != fault.AddressNotAllowed {
				t.Errorf("got %v, want %s", err, fault.AddressNotAllowed)
			}
		})
	}

	if n := listener.connections(t); n != 0 {
		t.Errorf("%d connections reached the listener, want none", n)
	}
}

func TestInvalidSettingsSayWhatIsAllowed(t *testing.T) {
	t.Parallel()

	for allow, says := range map[string]string{
		"10.0.0.0/33":         "not a CIDR",
		"::ffff:10.0.0.0/104": "not a CIDR",
		"http://x":            "CIDR",
		"host:99999":          "1 to 65535",
		"host:0":              "1 to 65535",
		"host:":               "host[:port]",
		"a b":                 "host[:port]",
		"169.254.169.254":     "never allowed",
		"169.254.0.0/16":      "never allowed",
		"fe80::/10":           "never allowed",
		"fd00:ec2::254":       "never allowed",
	} {
		t.Run(allow, func(t *testing.T) {
			_, err := guard.New(guard.Options{Allow: "10.0.0.1," + allow})
			if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), `"`+allow) {
				t.Errorf("Allow %s: got %v, want an error with %q", allow, err, says)
			}
		})
	}

	if _, err := guard.New(guard.Options{Never: []string{"redis"}}); err == nil {
		t.Error("an own service without a port: got no error, want one")
	}
}

func TestErrorNamesTheSetting(t *testing.T) {
	t.Parallel()
	p := policy(t, guard.Options{Setting: "OUTBOUND_ALLOW_PRIVATE"})
	err := p.Check(netip.MustParseAddrPort("10.0.0.1:80"))

	want := "10.0.0.1 is not allowed: it is not on the public internet (private network, RFC 1918); the operator can allow it in OUTBOUND_ALLOW_PRIVATE"
	if got := fault.AsError(err).Message; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}

	err = p.Check(netip.MustParseAddrPort("169.254.169.254:80"))
	if got := fault.AsError(err).Message; strings.Contains(got, "OUTBOUND") {
		t.Errorf("the message is %s, want no setting: metadata is never allowed", got)
	}
}
