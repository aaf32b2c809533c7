package access

import (
	"net/netip"
	"testing"

	"presswork/internal/fault"
)

func TestServerWithoutKeysRejectsForeignPages(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		allowed                 []string
		here, origin, fetchSite string
		want                    fault.Code // "" for none
	}{
		"no page":                  {here: "localhost:8000"},
		"its own page":             {here: "localhost:8000", origin: "http://localhost:8000", fetchSite: "same-origin"},
		"an address":               {here: "192.0.2.7:8000"},
		"another host name":        {here: "evil.example", want: fault.Forbidden},
		"a page of another site":   {here: "localhost", origin: "https://evil.example", want: fault.OriginNotAllowed},
		"an image on another site": {here: "localhost", fetchSite: "cross-site", want: fault.OriginNotAllowed},
		"a navigation from a site": {allowed: []string{"*"}, here: "localhost", fetchSite: "cross-site"},
		"a listed page": {
			allowed: []string{"https://app.example"}, here: "app.example", origin: "https://APP.example",
			fetchSite: "cross-site",
		},
		"any page": {allowed: []string{"*"}, here: "evil.example", origin: "https://evil.example", fetchSite: "cross-site"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := NewOrigins("127.0.0.1:8000", tc.allowed).CheckOpen(Site(tc.here), tc.origin, tc.fetchSite)
			if got := codeOf(err); got != tc.want {
				t.Errorf("got %q (%v), want %q", got, err, tc.want)
			}
		})
	}
}

// codeOf returns the code of an error, or "" for nil.
func codeOf(err error) fault.Code {
	if err == nil {
		return ""
	}

	return fault.CodeOf(err)
}

func TestClientIsTheRightmostUntrustedAddress(t *testing.T) {
	t.Parallel()

	proxies, err := ParseProxies([]string{"10.0.0.0/8", "192.0.2.1"})
	if err != nil {
		t.Fatal(err)
	}

	for name, tc := range map[string]struct {
		peer, forwardedFor, forwardedHost string
		ip, site                          string
	}{
		"no proxy": {
			peer: "203.0.113.5", forwardedFor: "198.51.100.9", forwardedHost: "x", ip: "203.0.113.5", site: "here",
		},
		"one proxy": {peer: "10.1.2.3", forwardedFor: "198.51.100.9", ip: "198.51.100.9", site: "here"},
		"two proxies": {
			peer: "10.1.2.3", forwardedFor: "1.1.1.1, 198.51.100.9, 192.0.2.1", ip: "198.51.100.9", site: "here",
		},
		"an invalid entry": {peer: "10.1.2.3", forwardedFor: "198.51.100.9, unknown", ip: "10.1.2.3", site: "here"},
		"a host":           {peer: "10.1.2.3", forwardedHost: "docs.example", ip: "10.1.2.3", site: "docs.example"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ip, site := proxies.Client(Forwarded{
				Peer:          netip.MustParseAddr(tc.peer),
				Host:          "here",
				ForwardedFor:  tc.forwardedFor,
				ForwardedHost: tc.forwardedHost,
			})
			if ip.String() != tc.ip || string(site) != tc.site {
				t.Errorf("got the client %s and the site %s, want %s and %s", ip, site, tc.ip, tc.site)
			}
		})
	}
}

func TestOnlyPagesOfThisServerMayWrite(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		origin, fetchSite string
		want              fault.Code // "" for none
	}{
		"no page":                     {},
		"its own page":                {origin: "http://localhost:8000", fetchSite: "same-origin"},
		"an address that was typed":   {fetchSite: "none"},
		"a page of another site":      {fetchSite: "cross-site", want: fault.OriginNotAllowed},
		"a page of a sister site":     {fetchSite: "same-site", want: fault.OriginNotAllowed},
		"an old browser's page":       {origin: "http://localhost:8000"},
		"an old browser's other page": {origin: "http://localhost:9000", want: fault.OriginNotAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := CheckSameSite("localhost:8000", tc.origin, tc.fetchSite)
			if got := codeOf(err); got != tc.want {
				t.Errorf("got %q (%v), want %q", got, err, tc.want)
			}
		})
	}
}
