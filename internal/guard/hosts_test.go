package guard_test

import (
	"fmt"
	"testing"

	"presswork/internal/guard"
)

func TestHostGlobs(t *testing.T) {
	t.Parallel()

	for i, tc := range []struct {
		allow, deny, host string
		ok                bool
	}{
		{"", "", "a.example.com", true},
		{"*.example.com", "", "a.example.com", true},
		{"*.example.com", "", "A.B.Example.COM.", true},
		{"*.example.com", "", "example.com", false},
		{"*.example.com", "", "example.com.evil.test", false},
		{"*.example.com, example.com", "", "example.com", true},
		{"bücher.example", "", "xn--bcher-kva.example", true},
		{"*", "*.corp.example", "x.corp.example", false},
		{"*", "*.Bücher.example.", "a.bücher.example", false},
		{"*", "1.1.1.1", "16843009", false},
		{"*", "1.1.1.1", "[::ffff:1.1.1.1]", false},
		{"*.example.com", "", "127.0.0.1", false},
	} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
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
				t.Errorf("the glob %q is accepted", invalid)
			}
		})
	}
}
