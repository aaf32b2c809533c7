package meter_test

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/redis/go-redis/v9"

	"presswork/internal/inference/meter"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
)

// open returns a meter on an empty Redis.
func open(t *testing.T) *meter.Meter {
	t.Helper()

	o, err := redis.ParseURL(redistest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	rdb := redis.NewClient(o)
	t.Cleanup(func() { rdb.Close() })

	return meter.New(rdb, slog.New(slog.DiscardHandler))
}

// reserve reserves a request of the key "ann". It returns the grant, or the limit that the request exceeds.
func reserve(t *testing.T, m *meter.Meter, id string, l meter.Limits, tokens int) (*meter.Grant, *meter.Exceeded) {
	t.Helper()

	g, err := m.Reserve(t.Context(), "ann", id, l, tokens)
	if err == nil {
		return g, nil
	}

	e, ok := errors.AsType[*meter.Exceeded](err)
	if !ok {
		t.Fatal(err)
	}

	return nil, e
}

func TestEveryLimitIsEnforced(t *testing.T) {
	t.Parallel()

	for _, tc := range []struct {
		limits   meter.Limits
		tokens   int            // of each request
		allowed  int            // requests before the limit
		exceeded meter.Exceeded // by the next request
		after    time.Duration  // until that request would be allowed
	}{
		{meter.Limits{RPM: 3}, 5, 3, meter.Exceeded{Dimension: meter.RPM, Limit: 3, Used: 3, Requested: 1}, 20 * time.Second},
		{meter.Limits{RPD: 2, RPM: 100}, 5, 2, meter.Exceeded{Dimension: meter.RPD, Limit: 2, Used: 2, Requested: 1}, 12 * time.Hour},
		{meter.Limits{TPM: 100}, 40, 2, meter.Exceeded{Dimension: meter.TPM, Limit: 100, Used: 80, Requested: 40}, 12 * time.Second},
		{meter.Limits{TPD: 100}, 100, 1, meter.Exceeded{Dimension: meter.TPD, Limit: 100, Used: 100, Requested: 100}, 24 * time.Hour},
		{meter.Limits{TPM: 100}, 101, 0, meter.Exceeded{Dimension: meter.TPM, Limit: 100, Requested: 101}, 0},
		{meter.Limits{Concurrency: 2}, 9, 2, meter.Exceeded{Dimension: meter.Concurrency, Limit: 2, Used: 2, Requested: 1}, 0},
	} {
		t.Run(fmt.Sprintf("%+v", tc.limits), func(t *testing.T) {
			t.Parallel()
			var refused *meter.Exceeded
			// Capacity returns with time. On a slow machine the requests are repeated until they take at most 10 s.
			took := time.Hour
			for took > 10*time.Second {
				m, began := open(t), time.Now()
				for n := range tc.allowed {
					if _, refused := reserve(t, m, fmt.Sprint(n), tc.limits, tc.tokens); refused != nil {
						t.Fatalf("request %d: %v", n, refused)
					}
				}
				_, refused = reserve(t, m, "one more", tc.limits, tc.tokens)
				took = time.Since(began)
			}

			if refused == nil {
				t.Fatalf("request %d was allowed, want it rejected", tc.allowed+1)
			}

			diff := cmp.Diff(tc.exceeded, *refused, cmpopts.IgnoreFields(meter.Exceeded{}, "Used", "After", "States"))
			if diff != "" {
				t.Errorf("exceeded limit (-want +got):\n%s", diff)
			}

			back := tc.exceeded.Used - refused.Used
			if back < 0 || float64(back) > math.Ceil(took.Minutes()*float64(tc.limits.TPM)) {
				t.Errorf("%d used, want %d or what remains of it %s after the first request", refused.Used,
					tc.exceeded.Used, took)
			}

			if gap := tc.after - refused.After; gap < 0 || gap > took+time.Millisecond {
				t.Errorf("After is %s, want %s, less the %s since the first request", refused.After, tc.after, took)
			}

			if refused.TooLarge() != (tc.allowed == 0) {
				t.Errorf("TooLarge() = %t, want %t", refused.TooLarge(), tc.allowed == 0)
			}
		})
	}
}

func TestRejectedRequestReservesNothing(t *testing.T) {
	t.Parallel()
	m := open(t)
	l := meter.Limits{RPD: 10, TPD: 100} // less than one request refills during the test
	reserve(t, m, "a", l, 90)

	for n := range 5 {
		if _, refused := reserve(t, m, fmt.Sprint(n), l, 50); refused == nil || refused.Dimension != meter.TPD {
			t.Fatalf("got %v, want the limit %s exceeded", refused, meter.TPD)
		}
	}

	g, refused := reserve(t, m, "b", l, 1)
	if refused != nil {
		t.Fatal(refused)
	}

	if got := g.States[meter.RPD]; got.Limit != 10 || got.Remaining != 8 {
		t.Errorf("requests of the day: got %+v, want 8 of 10 remaining", got)
	}
}

func TestSettlingReturnsUnusedTokens(t *testing.T) {
	t.Parallel()
	m := open(t)
	l := meter.Limits{TPM: 1000}
	// remaining reserves a request without tokens and returns the remaining tokens of the minute.
	remaining := func(id string) int {
		g, refused := reserve(t, m, id, l, 0)
		if refused != nil {
			t.Fatal(refused)
		}

		return g.States[meter.TPM].Remaining
	}
	// settle settles the reservation id with tokens. use identifies the caller that settles.
	settle := func(id, use string, tokens int) {
		t.Helper()

		if err := m.Settle(t.Context(), "ann", id, l, use, tokens); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	// checkRemaining allows for the tokens that have refilled since the start.
	checkRemaining := func(got, want int) {
		t.Helper()

		refilled := int(time.Since(began).Minutes()*float64(l.TPM)) + 1
		if got < want || got > want+refilled {
			t.Errorf("%d tokens remain, want %d to %d", got, want, want+refilled)
		}
	}
	reserve(t, m, "a", l, 800)
	checkRemaining(remaining("x1"), 200)
	settle("a", "run 1", 100)
	checkRemaining(remaining("x2"), 900)
	// The worker settles after the API. Its usage still counts, and the reservation is not returned a second time.
	settle("a", "caller", 0)
	checkRemaining(remaining("x3"), 900)
	settle("a", "run 2", 300)
	checkRemaining(remaining("x4"), 600)
	// go-redis repeats a script after a lost response.
	settle("a", "run 2", 300)
	checkRemaining(remaining("x5"), 600)
}

func TestRepeatedReservationCountsOnce(t *testing.T) {
	t.Parallel()
	m := open(t)

	l := meter.Limits{RPD: 1, Concurrency: 1}
	for range 3 {
		if _, refused := reserve(t, m, "same", l, 0); refused != nil {
			t.Fatal(refused)
		}
	}
}

func TestReservingRequestsLeavesTokensUnchanged(t *testing.T) {
	t.Parallel()
	m := open(t)
	all := meter.Limits{RPD: 1000, TPM: 6000}
	reserve(t, m, "a", all, 6000)
	// The tokens refill at 100 a second while only requests are reserved.
	var states map[meter.Dimension]meter.State
	requests := 0

	wait.Until(t, "15 tokens have refilled", func() bool {
		reserve(t, m, fmt.Sprint(requests), meter.Limits{RPD: 1000}, 0)
		requests++

		var err error
		if states, err = m.States(t.Context(), "ann", all); err != nil {
			t.Fatal(err)
		}

		return states[meter.TPM].Remaining >= 15
	})

	if got, want := states[meter.RPD].Remaining, 999-requests; got != want {
		t.Errorf("%d requests remain, want %d", got, want)
	}

	again, err := m.States(t.Context(), "ann", all)
	if err != nil || again[meter.RPD].Remaining != states[meter.RPD].Remaining {
		t.Errorf("reading the states again: got %+v, %v; want %+v", again, err, states)
	}
}

func TestConcurrencyLimitHoldsForParallelRequests(t *testing.T) {
	t.Parallel()
	m := open(t)
	var running, most atomic.Int64

	var all sync.WaitGroup
	for n := range 50 {
		all.Go(func() {
			g, err := m.Reserve(t.Context(), "ann", fmt.Sprint(n), meter.Limits{Concurrency: 4}, 0)
			if err != nil {
				return
			}

			now := running.Add(1)
			for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
			}
			running.Add(-1)
			g.Release(t.Context())
			g.Release(t.Context()) // the second release must not free another slot
		})
	}
	all.Wait()

	if n := most.Load(); n < 1 || n > 4 {
		t.Errorf("%d requests ran at a time, want 1 to 4", n)
	}

	if _, refused := reserve(t, m, "after", meter.Limits{Concurrency: 1}, 0); refused != nil {
		t.Errorf("after all were released: got %v, want a grant", refused)
	}
}

func TestLedgerSumsByGroup(t *testing.T) {
	t.Parallel()
	m := open(t)
	wait.ForDay()

	for i, u := range []meter.Usage{
		{Key: "ann", Model: "a/b", Requests: 1, PromptTokens: 10, CompletionTokens: 5, ReasoningTokens: 2},
		{Key: "ann", Model: "a/b", Requests: 1, PromptTokens: 1, Cancelled: 1},
		{Key: "ann", Model: "c", Requests: 1, PromptTokens: 100, EstimatedTokens: 40},
		{Key: "bob", Model: "c", Requests: 1, PromptTokens: 1000},
	} {
		for range 2 { // the ledger counts each request once
			if err := m.Record(t.Context(), fmt.Sprint("request ", i), time.Time{}, u); err != nil {
				t.Fatal(err)
			}
		}
	}
	now := time.Now()
	day, today := now.UTC().Format(meter.Day), now.UTC().Truncate(24*time.Hour)

	ann := "ann"
	for _, tc := range []struct {
		query meter.Query
		want  []meter.Usage
	}{
		{meter.Query{By: []string{"day", "model", "key"}, Key: &ann}, []meter.Usage{
			{Key: "ann", Model: "a/b", Day: day, Requests: 2, PromptTokens: 11, CompletionTokens: 5, ReasoningTokens: 2, Cancelled: 1},
			{Key: "ann", Model: "c", Day: day, Requests: 1, PromptTokens: 100, EstimatedTokens: 40},
		}},
		{meter.Query{By: []string{"key"}}, []meter.Usage{
			{Key: "ann", Requests: 3, PromptTokens: 111, CompletionTokens: 5, ReasoningTokens: 2, EstimatedTokens: 40, Cancelled: 1},
			{Key: "bob", Requests: 1, PromptTokens: 1000},
		}},
		{meter.Query{By: []string{"model"}}, []meter.Usage{
			{Model: "a/b", Requests: 2, PromptTokens: 11, CompletionTokens: 5, ReasoningTokens: 2, Cancelled: 1},
			{Model: "c", Requests: 2, PromptTokens: 1100, EstimatedTokens: 40},
		}},
	} {
		t.Run("by "+strings.Join(tc.query.By, ", "), func(t *testing.T) {
			// Query covers the whole first and last day, at any time of day.
			for name, from := range map[string]time.Time{
				"three days earlier": now.AddDate(0, 0, -3), "end of yesterday": today.Add(-time.Nanosecond),
				"start of today": today, "end of today": today.Add(24*time.Hour - time.Nanosecond),
			} {
				t.Run("from "+name, func(t *testing.T) {
					for _, to := range []time.Time{today, now, today.AddDate(0, 0, 2)} {
						tc.query.From, tc.query.To = from, to

						got, err := m.Query(t.Context(), tc.query)
						if err != nil {
							t.Fatal(err)
						}

						if diff := cmp.Diff(tc.want, got); diff != "" {
							t.Errorf("by %v, from %s to %s (-want +got) %s", tc.query.By, from, to, diff)
						}
					}
				})
			}
		})
	}

	got, err := m.Query(
		t.Context(),
		meter.Query{From: now.AddDate(0, 0, -9), To: now.AddDate(0, 0, -8), By: []string{"day"}},
	)
	if err != nil || len(got) != 0 {
		t.Errorf("the week before: got %v, %v; want no usage", got, err)
	}
}

func TestRepeatAfterMidnightCountsOnce(t *testing.T) {
	t.Parallel()
	m := open(t)

	accepted := time.Date(2026, 2, 28, 23, 59, 59, 999e6, time.UTC)
	for range 2 {
		err := m.Record(t.Context(), "request", accepted, meter.Usage{Key: "ann", Requests: 1, PromptTokens: 7})
		if err != nil {
			t.Fatal(err)
		}
	}

	got, err := m.Query(
		t.Context(),
		meter.Query{From: accepted.AddDate(0, 0, -1), To: accepted.AddDate(0, 0, 1), By: []string{"day"}},
	)
	if want := []meter.Usage{{Day: "2026-02-28", Requests: 1, PromptTokens: 7}}; err != nil || !cmp.Equal(want, got) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}
