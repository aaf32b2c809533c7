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

func TestWhatWasAskedOnceIsRemembered(t *testing.T) {
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
		t.Errorf("hits %d then %d, opened %d times", first.Hits, second.Hits, opened)
	}

	if diff := cmp.Diff(first.Analysis, second.Analysis); diff != "" {
		t.Errorf("the cache tells another story: %s", diff)
	}

	if first.Recommendation.Primary == "" || len(first.Recommendation.Alternatives) != 2 {
		t.Errorf("%+v", first.Recommendation)
	}
	// Another text, wish or set of themes is another question.
	custom := append(slices.Clip(list), themes.Theme{Name: "mine", Scheme: "light", Custom: true})
	for name, got := range map[string]recommend.Result{
		"text":   ask(invitation+" ", list, recommend.Preference{}),
		"mood":   ask(invitation, list, recommend.Preference{Mood: "dark"}),
		"themes": ask(invitation, custom, recommend.Preference{}),
	} {
		if got.Hits == 2 {
			t.Errorf("another %s got the same answer", name)
		}
	}
	// Documents of one owner do not affect another.
	for _, hits := range []int{0, 2} {
		advice, err := a.Recommend(t.Context(), "ann", []byte(invitation), list, recommend.Preference{})
		if err != nil || advice.Hits != hits {
			t.Errorf("another owner: %d hits, want %d (%v)", advice.Hits, hits, err)
		}
	}
	// The same without a cache.
	plain, err := recommend.New(recommend.Options{}).
		Recommend(t.Context(), "", []byte(invitation), list, recommend.Preference{})
	if diff := cmp.Diff(first.Analysis, plain.Analysis); diff != "" || err != nil || plain.Lookups != 0 {
		t.Errorf("%v, %d lookups, %s", err, plain.Lookups, diff)
	}
}

// broken is a cache that fails, or answers nonsense.
type broken struct {
	cache.Cache
	answer string
}

func (b broken) Get(context.Context, cache.Kind, string) (json.RawMessage, bool, error) {
	if b.answer != "" {
		return json.RawMessage(b.answer), true, nil
	}

	return nil, false, errors.New("out of order")
}

func (broken) Put(context.Context, cache.Kind, string, json.RawMessage) error {
	return errors.New("disk full")
}

func TestABrokenCacheCostsNoAdvice(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		cache broken
		says  string
	}{
		"out of order": {broken{}, "out of order"},
		"nonsense":     {broken{answer: `["no"]`}, "cannot unmarshal"},
	} {
		var said bytes.Buffer
		a := recommend.New(
			recommend.Options{
				Cache: func() cache.Cache { return c.cache },
				Log:   slog.New(slog.NewTextHandler(&said, nil)),
			},
		)

		advice, err := a.Recommend(t.Context(), "", []byte(invitation), catalogue(t), recommend.Preference{})
		if err != nil || advice.Recommendation.Primary == "" || !strings.Contains(said.String(), c.says) ||
			!strings.Contains(said.String(), "disk full") {
			t.Errorf("%s: %+v, %v, said %s", name, advice.Recommendation, err, said.String())
		}
	}
}

func TestRankBeginsWithTheRecommendation(t *testing.T) {
	t.Parallel()

	a := recommend.New(recommend.Options{})
	for _, text := range [][]byte{[]byte(invitation), nil} {
		advice, names, err := a.Rank(t.Context(), text, catalogue(t), recommend.Preference{Mood: "creative"})

		want := append([]string{advice.Recommendation.Primary}, advice.Recommendation.Alternatives...)
		if err != nil || len(names) != 35 || !cmp.Equal(names[:3], want) {
			t.Errorf("%v: %v begins not with %v", err, names, want)
		}
	}
}

func TestAnInterruptionIsTheOnlyError(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)

	_, err := recommend.New(recommend.Options{}).Recommend(ctx, "", []byte("x"), catalogue(t), recommend.Preference{})
	if !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

// BenchmarkFirstAdvice is what a process pays that has not read the models yet.
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
