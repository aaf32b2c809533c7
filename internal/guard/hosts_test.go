package guard_test

import (
	"testing"

	"presswork/internal/guard"
)

func TestHostPatternsAllowAndDenyHosts(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		allow, deny, host string
		ok                bool
	}{
		"no patterns":                  {"", "", "a.example.com", true},
		"a subdomain":                  {"*.example.com", "", "a.example.com", true},
		"in other letters":             {"*.example.com", "", "A.B.Example.COM.", true},
		"the domain itself":            {"*.example.com", "", "example.com", false},
		"another domain":               {"*.example.com", "", "example.com.evil.test", false},
		"two patterns":                 {"*.example.com, example.com", "", "example.com", true},
		"a name in Punycode":           {"bücher.example", "", "xn--bcher-kva.example", true},
		"denied":                       {"*", "*.corp.example", "x.corp.example", false},
		"denied in other letters":      {"*", "*.Bücher.example.", "a.bücher.example", false},
		"a denied address as a number": {"*", "1.1.1.1", "16843009", false},
		"a denied address as IPv6":     {"*", "1.1.1.1", "[::ffff:1.1.1.1]", false},
		"an address instead of a name": {"*.example.com", "", "127.0.0.1", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := policy(t, guard.Options{AllowHosts: tc.allow, DenyHosts: tc.deny})
			if _, err := p.CheckURL("http://" + tc.host + "/"); (err == nil) != tc.ok {
				t.Errorf("allow %q, deny %q, host %s: got %v, want it allowed: %v", tc.allow, tc.deny, tc.host,
					err, tc.ok)
			}
		})
	}

	for _, invalid := range []string{"a b", "http://x", "x/y", "[a-z].example", "bü*.example"} {
		t.Run(invalid, func(t *testing.T) {
			if _, err := guard.New(guard.Options{DenyHosts: invalid}); err == nil {
				t.Error("the pattern is accepted, want an error")
			}
		})
	}
}
