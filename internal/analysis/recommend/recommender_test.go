package recommend_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/analysis/recommend"
	"presswork/internal/cache"
	"presswork/themes"
)

func catalogue(t *testing.T) []themes.Theme {
	t.Helper()
	catalogue := themes.Open(themes.Options{})

	return catalogue.List()
}

func TestRepeatedRequestsHitTheCache(t *testing.T) {
	t.Parallel()
	memory := cache.NewMemory(cache.Options{})
	opened := 0
	a := recommend.New(recommend.Options{Cache: func() cache.Cache { opened++; return memory }})
	list := catalogue(t)
	ask := func(text string, list []themes.Theme, s recommend.Preference) recommend.Result {
		t.Helper()

		advice, err := a.Recommend(t.Context(), "", []byte(text), list, s)
		if err != nil {
			t.Fatal(err)
		}

		return advice
	}
	first := ask(invitation, list, recommend.Preference{})

	second := ask(invitation, list, recommend.Preference{})
	if first.Hits != 0 || first.Lookups != 2 || second.Hits != 2 || opened != 1 {
		t.Errorf("%d hits of %d look-ups, then %d hits, %d caches opened; want 0 of 2, then 2, one cache",
			first.Hits, first.Lookups, second.Hits, opened)
	}

	if diff := cmp.Diff(first.Analysis, second.Analysis); diff != "" {
		t.Errorf("the cached analysis differs (-first +second):\n%s", diff)
	}

	if first.Recommendation.Primary == "" || len(first.Recommendation.Alternatives) != 2 {
		t.Errorf("got %+v, want a theme and two alternatives", first.Recommendation)
	}
	// Another text, preference or set of themes must not get the cached answer.
	custom := append(slices.Clip(list), themes.Theme{Name: "mine", Scheme: "light", Custom: true})
	for name, got := range map[string]recommend.Result{
		"text":   ask(invitation+" ", list, recommend.Preference{}),
		"mood":   ask(invitation, list, recommend.Preference{Mood: "dark"}),
		"themes": ask(invitation, custom, recommend.Preference{}),
	} {
		if got.Hits == 2 {
			t.Errorf("another %s got the cached answer", name)
		}
	}
	// The cache of an owner is not used for another.
	for _, hits := range []int{0, 2} {
		advice, err := a.Recommend(t.Context(), "ann", []byte(invitation), list, recommend.Preference{})
		if err != nil || advice.Hits != hits {
			t.Errorf("another owner: %d hits, %v; want %d", advice.Hits, err, hits)
		}
	}
	// Without a cache the analysis is the same.
	plain, err := recommend.New(recommend.Options{}).
		Recommend(t.Context(), "", []byte(invitation), list, recommend.Preference{})
	if diff := cmp.Diff(first.Analysis, plain.Analysis); diff != "" || err != nil || plain.Lookups != 0 {
		t.Errorf(
			"without a cache: %v, %d look-ups, want none; analysis (-cached +plain):\n%s",
			err,
			plain.Lookups,
			diff,
		)
	}
}

// brokenCache fails every call, or answers each Get with an invalid value.
type brokenCache struct {
	cache.Cache
	answer string
}

func (b brokenCache) Get(context.Context, cache.Kind, string) (json.RawMessage, bool, error) {
	if b.answer != "" {
		return json.RawMessage(b.answer), true, nil
	}

	return nil, false, errors.New("out of order")
}

func (brokenCache) Put(context.Context, cache.Kind, string, json.RawMessage) error {
	return errors.New("disk full")
}

func TestRecommendWorksWithABrokenCache(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		cache brokenCache
		says  string
	}{
		"out of order": {brokenCache{}, "out of order"},
		"nonsense":     {brokenCache{answer: `["no"]`}, "cannot unmarshal"},
	} {
		var log bytes.Buffer
		a := recommend.New(
			recommend.Options{
				Cache: func() cache.Cache { return c.cache },
				Log:   slog.New(slog.NewTextHandler(&log, nil)),
			},
		)

		advice, err := a.Recommend(t.Context(), "", []byte(invitation), catalogue(t), recommend.Preference{})
		if err != nil || advice.Recommendation.Primary == "" || !strings.Contains(log.String(), c.says) ||
			!strings.Contains(log.String(), "disk full") {
			t.Errorf("%s: got %+v, %v, log:\n%s", name, advice.Recommendation, err, log.String())
		}
	}
}

func TestRankStartsWithTheRecommendation(t *testing.T) {
	t.Parallel()

	a := recommend.New(recommend.Options{})
	for _, text := range [][]byte{[]byte(invitation), nil} {
		advice, names, err := a.Rank(t.Context(), text, catalogue(t), recommend.Preference{Mood: "creative"})

		want := append([]string{advice.Recommendation.Primary}, advice.Recommendation.Alternatives...)
		if err != nil || len(names) != 35 || !cmp.Equal(names[:3], want) {
			t.Errorf("got %v, %v; want 35 names that start with %v", names, err, want)
		}
	}
}

func TestCancelledRecommendReturnsTheCause(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)

	_, err := recommend.New(recommend.Options{}).Recommend(ctx, "", []byte("x"), catalogue(t), recommend.Preference{})
	if !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
}

// BenchmarkFirstAdvice measures the first recommendation of a process, which also loads the models.
func BenchmarkFirstAdvice(b *testing.B) {
	catalogue := themes.Open(themes.Options{})
	text := []byte(strings.Repeat(invitation, 10*1024/len(invitation)))
	b.ReportAllocs()

	for b.Loop() {
		c, err := cache.OpenSQLite(b.Context(), b.TempDir(), cache.Options{})
		if err != nil {
			b.Fatal(err)
		}

		a := recommend.New(recommend.Options{Cache: func() cache.Cache { return c }})
		if _, err := a.Recommend(b.Context(), "", text, catalogue.List(), recommend.Preference{}); err != nil {
			b.Fatal(err)
		}

		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
