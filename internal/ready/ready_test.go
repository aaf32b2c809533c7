package ready_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/fault"
	"presswork/internal/ready"
)

func fine(detail map[string]any) func(context.Context) (map[string]any, error) {
	return func(context.Context) (map[string]any, error) { return detail, nil }
}

func broken(err error) func(context.Context) (map[string]any, error) {
	return func(context.Context) (map[string]any, error) { return nil, err }
}

func TestWhenEveryCheckPassesTheNodeIsReady(t *testing.T) {
	t.Parallel()
	ok, body := ready.Run(t.Context(), []ready.Check{
		{Name: "redis", Probe: fine(nil)},
		{Name: "browser", Probe: fine(map[string]any{"sandbox": true})},
	})

	got, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}

	want := `{"status":"ready","checks":{"browser":{"ok":true,"sandbox":true},"redis":{"ok":true}}}`
	if !ok || string(got) != want {
		t.Errorf("ok %v\n%s", ok, cmp.Diff(want, string(got)))
	}
}

func TestAFailedCheckIsNotReadyAndHidesItsCause(t *testing.T) {
	t.Parallel()
	secret := errors.New("dial tcp 10.9.8.7:6379: refused")
	ok, body := ready.Run(t.Context(), []ready.Check{
		{Name: "redis", Probe: broken(secret)},
		{Name: "store", Probe: broken(fault.Errorf(fault.StoreUnavailable, "the store does not answer"))},
	})

	got, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}

	want := `{"status":"not_ready","checks":{"redis":{"error":"unavailable","ok":false},` +
		`"store":{"error":"the store does not answer","ok":false}}}`
	if ok || string(got) != want {
		t.Errorf("ok %v\n%s", ok, cmp.Diff(want, string(got)))
	}

	if !errors.Is(body.Checks["redis"].Err, secret) {
		t.Errorf("the log gets %v", body.Checks["redis"].Err)
	}
}

func TestAnOptionalCheckOnlyWarns(t *testing.T) {
	t.Parallel()

	ok, body := ready.Run(t.Context(), []ready.Check{
		{Name: "redis", Probe: fine(nil)},
		{Name: "workers", Optional: true, Probe: broken(errors.New("none"))},
	})
	if !ok || body.Status != "ready" || body.Checks["workers"].OK {
		t.Errorf("ok %v, body %+v", ok, body)
	}
}

func TestACostlyProbeIsCached(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked, answer := 0, errors.New("full")
		probe := ready.Every(15*time.Second, func(context.Context) error { asked++; return answer })

		ask := func() error {
			_, err := probe(t.Context())
			return err
		}
		for range 10 {
			if err := ask(); !errors.Is(err, answer) {
				t.Error(err)
			}
		}

		if asked != 1 {
			t.Errorf("asked %d times at once", asked)
		}
		answer = nil
		time.Sleep(time.Second)

		for range 14 {
			if err := ask(); err != nil {
				t.Errorf("a failure is cached for more than a second: %v", err)
			}
			time.Sleep(time.Second)
		}

		if asked != 2 {
			t.Errorf("asked %d times", asked)
		}
		time.Sleep(time.Second)
		_ = ask()

		if asked != 3 {
			t.Errorf("asked %d times after 15 s", asked)
		}
	})
}

func TestChecksRunTogetherAndNoneOutlastsTheCap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		silent := make(chan struct{})
		began := time.Now()

		ok, body := ready.Run(t.Context(), []ready.Check{
			{Name: "silent", Probe: func(context.Context) (map[string]any, error) { <-silent; return nil, nil }},
			{
				Name:  "obedient",
				Probe: func(ctx context.Context) (map[string]any, error) { <-ctx.Done(); return nil, ctx.Err() },
			},
			{
				Name:  "slow",
				Probe: func(context.Context) (map[string]any, error) { time.Sleep(ready.Cap / 2); return nil, nil },
			},
		})
		if took := time.Since(began); ok || took != ready.Cap {
			t.Errorf("ok %v after %s, want not ready after %s", ok, took, ready.Cap)
		}

		if !body.Checks["slow"].OK {
			t.Error("a check within the cap failed")
		}

		for _, name := range []string{"silent", "obedient"} {
			b, _ := json.Marshal(body.Checks[name])
			if !strings.Contains(string(b), "no answer within 2s") {
				t.Errorf("%s: %s", name, b)
			}
		}
		close(silent)
	})
}
