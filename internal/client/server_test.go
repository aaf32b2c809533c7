package client

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestErrorsNameTheServerWithoutItsPassword(t *testing.T) {
	t.Parallel()

	responses := map[string]func(http.ResponseWriter){
		"needs a key (set the key with --key": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusForbidden)
			w.Write([]byte(`{"error":{"message":"needs a key"}}`))
		},
		"is not a Presswork server": func(w http.ResponseWriter) { w.Write([]byte("<html>")) },
		"answered 502":              func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) },
	}
	for want, respond := range responses {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/admin/api/fleet" || r.Header.Get("X-API-Key") != "k" {
					t.Errorf("got a request of %s with %v, want the fleet with the key", r.URL, r.Header)
				}
				respond(w)
			}))
			t.Cleanup(h.Close)

			s, err := New(strings.Replace(h.URL, "http://", "http://me:hush@", 1)+"/v1", "k")
			if err != nil {
				t.Fatal(err)
			}

			_, err = s.Fleet(t.Context())
			if err == nil || !strings.Contains(err.Error(), want) ||
				!strings.Contains(err.Error(), "http://me:xxxxx@") {
				t.Errorf("got %v, want %q and the address without its password", err, want)
			}
		})
	}
}

func TestOnlyHTTPAddressesAreAccepted(t *testing.T) {
	t.Parallel()

	for _, address := range []string{"", "localhost", "localhost:8000", "ftp://host", "http://"} {
		t.Run(cmp.Or(address, "no address"), func(t *testing.T) {
			if _, err := New(address, ""); err == nil || !strings.Contains(err.Error(), "http://HOST:PORT") {
				t.Errorf("New(%q): got %v, want the allowed form", address, err)
			}
		})
	}
}

func TestAgeUsesTheLargestUnit(t *testing.T) {
	t.Parallel()

	for d, want := range map[time.Duration]string{
		-time.Second:            "0 ms",
		528 * time.Millisecond:  "528 ms",
		4200 * time.Millisecond: "4.2 s",
		75 * time.Second:        "1 min",
		30 * time.Hour:          "30 h",
		49 * time.Hour:          "2 d",
	} {
		t.Run(fmt.Sprint(d), func(t *testing.T) {
			if got := age(d); got != want {
				t.Errorf("age(%s) = %q, want %q", d, got, want)
			}
		})
	}
}
