package api_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"presswork/api"
	"presswork/internal/fault"
	"presswork/internal/inference/meter"
	"presswork/internal/test/redistest"
)

func TestResponsesHaveTheLimitsOfTheKey(t *testing.T) {
	t.Parallel()
	h := serveChat(t, sayHello(t), withoutKeys,
		func(o *api.Options) { o.RateLimitRPM = 3 },
		keysFile(t, "keys: [{name: all, key: alls, rpd: 100, tpm: 50000}, {name: few, key: fews}]"))
	h.key = ""
	wrong := strings.Replace(chatBody, "{", `{"temperature":9,`, 1)

	// The requests of a key count one after the other, so no row can run alone.
	for _, tc := range []struct {
		name, key    string
		send         func(auth string) reply
		status       int
		limit, left  string // requests
		limitsTokens bool
	}{
		{"a list", "alls", func(a string) reply { return h.get("/v1/models", a) }, http.StatusOK, "100", "100", true},
		{"a model", "alls", func(a string) reply { return h.get("/openai/v1/models/m", a) }, http.StatusOK, "100", "100", true},
		{"no such model", "alls", func(a string) reply { return h.get("/v1/models/x", a) }, http.StatusNotFound, "100", "100", true},
		{"an invalid request", "alls", func(a string) reply { return h.chat(wrong, a) }, http.StatusBadRequest, "100", "99", true},
		{"an answer", "alls", func(a string) reply { return h.chat(chatBody, a) }, http.StatusOK, "100", "98", true},
		{"a stream", "alls", func(a string) reply { return h.chat(streamBody, a) }, http.StatusOK, "100", "97", true},
		{"a list of another", "fews", func(a string) reply { return h.get("/v1/models", a) }, http.StatusOK, "3", "3", false},
		{"a completion", "fews", func(a string) reply { return h.chat(chatBody, a) }, http.StatusOK, "3", "2", false},
		{"a conversion", "fews", func(a string) reply { return h.post(`{"content":"x"}`, a) }, http.StatusAccepted, "3", "1", false},
		{"a preview", "fews", func(a string) reply {
			return h.do("POST", "/api/preview", strings.NewReader(`{"content":"x"}`), "Content-Type: application/json", a)
		}, http.StatusOK, "3", "0", false},
		{"one too many", "fews", func(a string) reply { return h.chat(chatBody, a) }, http.StatusTooManyRequests, "3", "0", false},
	} {
		res := tc.send("Authorization: Bearer " + tc.key)

		got := res.Header
		if res.StatusCode != tc.status || got.Get("X-Ratelimit-Limit-Requests") != tc.limit ||
			got.Get("X-Ratelimit-Remaining-Requests") != tc.left ||
			got.Get("X-Ratelimit-Reset-Requests") == "" ||
			(got.Get("X-Ratelimit-Limit-Tokens") == "50000") != tc.limitsTokens {
			t.Errorf("%s: got %d %v %s; want %d, %s of %s requests left", tc.name, res.StatusCode, got, res.body,
				tc.status, tc.left, tc.limit)
		}

		if res.StatusCode == http.StatusTooManyRequests {
			seconds, _ := strconv.Atoi(got.Get("Retry-After"))

			ms, _ := strconv.Atoi(got.Get("Retry-After-Ms"))
			if ms <= 0 || ms > 20_000 || seconds != (ms+999)/1000 {
				t.Errorf("%s: retry after %d ms and %d s, want the same of up to 20 s", tc.name, ms, seconds)
			}
		}
	}
}

func TestRequestsPerMinuteAreLimited(t *testing.T) {
	t.Parallel()

	o, err := redis.ParseURL(redistest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(o)
	t.Cleanup(func() { client.Close() })
	h := serve(t, keysFile(t, "keys: [{name: alice, key: alices, rpm: 2}]"), func(o *api.Options) {
		o.Meter, o.RateLimitRPM = meter.New(client, slog.New(slog.DiscardHandler)), 3
	})

	for key, want := range map[string]int{"alices": 2, testKey: 3} {
		for range 9 { // reading is not limited
			h.get("/api/themes", "X-API-Key: "+key).want(t, http.StatusOK, "")
		}

		for n := range want {
			body, status := `{"content":"x"}`, http.StatusAccepted
			if n == 0 { // rejected requests count
				body, status = `{"content":""}`, http.StatusBadRequest
			}
			res := h.post(body, "X-API-Key: "+key)
			res.want(t, status, "")

			got := res.Header
			if got.Get("X-Ratelimit-Limit-Requests") != fmt.Sprint(want) ||
				got.Get("X-Ratelimit-Remaining-Requests") != fmt.Sprint(want-1-n) {
				t.Errorf("request %d: the headers are %v, want %d of %d requests left", n+1, got, want-1-n, want)
			}
		}
		res := h.post(`{"content":"x"}`, "X-API-Key: "+key)
		res.want(t, http.StatusTooManyRequests, fault.RateLimited)
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
		ms, _ := strconv.Atoi(res.Header.Get("Retry-After-Ms"))
		// The bucket refills evenly: the next request is allowed after its share of a minute, whatever the time of
		// day.
		if share := 60_000 / want; ms <= share-20_000 || ms > share || seconds != (ms+999)/1000 {
			t.Errorf("retry after %d ms and %d s, want about %d ms", ms, seconds, share)
		}

		res = h.get("/api/themes", "X-API-Key: "+key)
		if res.StatusCode != http.StatusOK || res.Header.Get("X-Ratelimit-Remaining-Requests") != "0" {
			t.Errorf("a read after the limit: got %d %v, want 200 and no requests left", res.StatusCode, res.Header)
		}
	}

	// Without Redis the limits do not apply.
	if err := client.FlushAll(context.Background()).Err(); err != nil {
		t.Fatal(err)
	}
	client.Close()
	h.post(`{"content":"x"}`).want(t, http.StatusAccepted, "")
}
