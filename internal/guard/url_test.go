package guard_test

import (
	"fmt"
	"strings"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/guard"
)

func TestCheckURLCanonicalisesAsBrowsersDo(t *testing.T) {
	t.Parallel()

	p := policy(t, guard.Options{})
	for raw, want := range map[string]string{
		"https://example.com":                     "https://example.com",
		" HTTPS://Example.COM:443/A?b=c#d\n":      "https://example.com/A?b=c#d",
		"http://example.com.:80/":                 "http://example.com/",
		"http://example.com\\a\\b?c\\d":           "http://example.com/a/b?c%5Cd",
		"http://x.example/%zz":                    "http://x.example/%25zz",
		"http://x.example/%41?q=%zz&r=a b#%":      "http://x.example/%41?q=%25zz&r=a%20b#%25",
		"http://bücher.example/ä":                 "http://xn--bcher-kva.example/%C3%A4",
		"http://faß.example/":                     "http://xn--fa-hia.example/",
		"http://ｅｘａｍｐｌｅ.com/":                     "http://example.com/",
		"http://ex%61mple.com/":                   "http://example.com/",
		"http://1.1.1.1/":                         "http://1.1.1.1/",
		"http://16843009/":                        "http://1.1.1.1/",
		"http://0x1.0x01010101/":                  "",
		"http://0x1.0x010101/":                    "http://1.1.1.1/",
		"http://001.1.1.1./":                      "http://1.1.1.1/",
		"https://[2606:4700:4700:0::1111]:443/":   "https://[2606:4700:4700::1111]/",
		"http://example.com\\@127.0.0.1@x/":       "http://example.com/@127.0.0.1@x/",
		"http://1.2.3.0xg/":                       "http://1.2.3.0xg/",
		"http://under_score.example/":             "http://under_score.example/",
		"http://a--b.example/":                    "http://a--b.example/",
		"https://example.com?x":                   "https://example.com?x",
		"https://user.example/path@with:at?a@b#c": "https://user.example/path@with:at?a@b#c",
	} {
		t.Run(raw, func(t *testing.T) {
			u, err := p.CheckURL(raw)
			switch {
			case want == "" && err == nil:
				t.Errorf("CheckURL(%q) = %s, want an error", raw, u)
			case want != "" && err != nil:
				t.Errorf("CheckURL(%q): got %v, want %s", raw, err, want)
			case want != "" && u.String() != want:
				t.Errorf("CheckURL(%q) = %s, want %s", raw, u, want)
			}
		})
	}
}

func TestCheckURLRejectsInvalidAddresses(t *testing.T) {
	t.Parallel()

	p := policy(t, guard.Options{})
	for _, raw := range []string{
		"", "x", "/x", "//x.example/", "example.com", "http:", "http:/", "http://", "http:///x", "http:example.com", "http:/example.com", "http:\\\\example.com",
		"ftp://example.com/", "file:///etc/passwd", "FILE://x", "gopher://x/", "javascript:alert(1)", "data:text/html,x", "ws://x.example", "chrome://crash", "view-source:http://x.example",
		"http://u@example.com/", "http://u:p@example.com/", "http://@example.com/", "http://:80/", "http://example.com:0/", "http://example.com:65536/",
		"http://example.com:8x/", "http://example.com:-1/", "http://exa mple.com/", "http://exam\tple.com/", "http://exam\nple.com/", "http://example.com/\r\nX: y", "http://a\x00b.example/",
		"http://a..b.example/", "http://.example/", "http://./", "http://../", "http://%zz/", "http://%00.example/", "http://a%2fb.example/", "http://a%3a80/", "http://a<b.example/", "http://a^b.example/",
		"http://[::1/", "http://::1/", "http://[::1%25eth0]/", "http://[fe80::1%eth0]/", "http://[1.2.3.4]/", "http://[x::]/", "http://[::1]x/",
		"http://1.2.3.4.5/", "http://256.1.1.1/", "http://1.2.3.256/", "http://08.1.1.1/", "http://4294967296/", "http://1.16777216/", "http://example.1/", "http://x.0x/",
		"http://xn--a/", "http://" + strings.Repeat("a", 64) + ".example/", "http://" + strings.Repeat("a.", 130) + "example/", "http://example.com/" + strings.Repeat("a", 9000),
	} {
		t.Run(fmt.Sprintf("%.40q", raw), func(t *testing.T) {
			u, err := p.CheckURL(raw)
			if fault.CodeOf(err) != fault.InvalidURL {
				t.Errorf("CheckURL(%.80q) = %v, %v; want %s", raw, u, err, fault.InvalidURL)
			}

			if err != nil && len(fault.AsError(err).Message) > 1200 {
				t.Errorf("CheckURL(%.80q): the message has %d bytes, want up to 1200", raw,
					len(fault.AsError(err).Message))
			}
		})
	}
}

func TestCheckURLRejectsDisguisedAddresses(t *testing.T) {
	t.Parallel()

	p := policy(t, guard.Options{})
	for _, raw := range []string{
		"http://127.0.0.1/", "http://127.1/", "http://127.0.1/", "http://2130706433/", "http://0x7f000001/", "http://0x7f.1/", "http://0X7F.0.0.1/", "http://017700000001/", "http://0177.0.0.1/",
		"http://①②⑦.0.0.1/", "http://１２７.０.０.１/", "http://127。0。0。1/", "http://127.0.0.1./", "http://%31%32%37.0.0.1/", "http://127%2e0%2e0%2e1/", "http://0/", "http://0x0/", "http://0.0.0.0/", "http://00000000177.1/",
		"http://localhost/", "http://LOCALHOST./", "http://foo.localhost/", "http://ⓛocalhost/", "http://local%68ost/",
		"http://[::1]/", "http://[0:0:0:0:0:0:0:1]/", "http://[::]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[::127.0.0.1]/", "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/", "http://[fe80::1]/", "http://[fec0::1]/", "http://[fd00::1]/",
		"http://169.254.169.254/latest/meta-data/", "http://2852039166/", "http://0xa9fea9fe/", "http://0251.0376.0251.0376/", "http://[::ffff:a9fe:a9fe]/", "http://169.254.43518/", "http://100.100.100.200/", "http://168.63.129.16/", "http://192.0.0.192/", "http://[fd00:ec2::254]/",
		"http://metadata.google.internal/", "http://METADATA.google.internal./", "http://metadata.goog/", "http://instance-data/",
		"http://10.0.0.1/", "http://192.168.0.1/", "http://172.16.0.1/", "http://100.64.0.1/", "http://198.18.0.1/", "http://240.0.0.1/", "http://255.255.255.255/", "http://4294967295/", "http://224.0.0.1/",
		"http://example.com:22/", "http://1.1.1.1:6379/", "http://example.com:8080/",
	} {
		t.Run(raw, func(t *testing.T) {
			u, err := p.CheckURL(raw)
			if fault.CodeOf(err) != fault.AddressNotAllowed {
				t.Errorf("CheckURL(%q) = %v, %v; want %s", raw, u, err, fault.AddressNotAllowed)
			}
		})
	}
}

func TestCheckURLDoesNotResolveNames(t *testing.T) {
	t.Parallel()

	for _, tc := range []struct {
		allow, url string
		ok         bool
	}{
		{"", "http://intranet/", true},
		{"", "http://intranet:9000/", false},
		{"true", "http://intranet:9000/", true},
		{"10.0.0.0/8", "http://intranet:9000/", true},
		{"10.0.0.1:9000", "http://intranet:9000/", true},
		{"10.0.0.1:9000", "http://intranet:9001/", false},
		{"Intranet.:9000", "http://INTRANET:9000/", true},
		{"intranet:9000", "http://intranet:9001/", false},
		{"intranet", "http://intranet:9001/", true},
		{"true", "http://localhost:3000/", true},
		{"localhost:3000", "http://localhost:3000/", true},
		{"localhost:3000", "http://localhost:3001/", false},
		{"true", "http://metadata.google.internal/", false},
		{"metadata.google.internal", "http://metadata.google.internal/", false},
	} {
		t.Run(tc.allow+" and "+tc.url, func(t *testing.T) {
			if _, err := policy(t, guard.Options{Allow: tc.allow}).CheckURL(tc.url); (err == nil) != tc.ok {
				t.Errorf("got %v, want it allowed: %v", err, tc.ok)
			}
		})
	}
}

// FuzzCheckURL checks that the canonical form of an address is canonical.
func FuzzCheckURL(f *testing.F) {
	for _, s := range []string{"http://x/%zz", "http://①②⑦.0.0.1/", "http://[::ffff:127.0.0.1]:80/", "http://a\\@b", "https://xn--/"} {
		f.Add(s)
	}

	p, err := guard.New(guard.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := p.CheckURL(raw)
		if err != nil {
			return
		}

		again, err := p.CheckURL(u.String())
		if err != nil || again.String() != u.String() {
			t.Errorf("CheckURL(%q) = %q, and CheckURL of that = %v, %v; want the same", raw, u, again, err)
		}
	})
}
