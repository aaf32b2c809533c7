package meter

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// ledgerTTL is how long a day is kept.
const ledgerTTL = 400 * 24 * time.Hour

// Day is a day's form in the ledger; days are UTC.
const Day = time.DateOnly

// MaxDays is how many days one question may span.
const MaxDays = 366

// Usage is what was used, of one key, model and day, or summed over some of
// them, whose names are "" then.
type Usage struct {
	// Key is the name of the key, Model the id of the model, Day as in Day.
	Key, Model, Day string
	// Requests are completions that were run, with those that failed.
	Requests         int64
	PromptTokens     int64
	CompletionTokens int64
	// ReasoningTokens are a part of CompletionTokens.
	ReasoningTokens int64
	// EstimatedTokens are the part of PromptTokens and CompletionTokens that no upstream
	// counted.
	EstimatedTokens int64
	// AudioSeconds are of recordings that were transcribed, rounded up.
	AudioSeconds int64
	// Cancelled counts requests whose caller left before the end.
	Cancelled int64
}

// counters are Usage's numbers as the ledger names them.
func (u *Usage) counters() map[string]*int64 {
	return map[string]*int64{
		"requests":   &u.Requests,
		"prompt":     &u.PromptTokens,
		"completion": &u.CompletionTokens,
		"reasoning":  &u.ReasoningTokens,
		"estimated":  &u.EstimatedTokens,
		"audio":      &u.AudioSeconds,
		"cancelled":  &u.Cancelled,
	}
}

func ledgerKey(day string) string { return "pw:usage:" + day }

const fieldSeparator = "\x1f"

// recordedTTL is how long it is remembered that a request was recorded or settled: longer
// than two runs of it can overlap.
const recordedTTL = 10 * time.Minute

// Record adds what a request used to the ledger, once for each id. at is when the
// request was accepted, by Redis' clock; zero is now. The ledger counts the request under
// that day, so a repeat after midnight finds the record that was made before.
func (m *Meter) Record(ctx context.Context, id string, at time.Time, u Usage) error {
	if at.IsZero() {
		var err error
		if at, err = m.rdb.Time(ctx).Result(); err != nil {
			return fmt.Errorf("recording usage: %w", err)
		}
	}

	name := ledgerKey(at.UTC().Format(Day))
	args := []any{recordedTTL.Milliseconds(), ledgerTTL.Milliseconds()}

	for counter, n := range u.counters() {
		if *n != 0 {
			args = append(args, u.Key+fieldSeparator+u.Model+fieldSeparator+counter, *n)
		}
	}
	// The braces put both keys on the same node of a cluster.
	if err := recordScript.Run(ctx, m.rdb, []string{name, "{" + name + "}:" + id}, args...).Err(); err != nil {
		return fmt.Errorf("recording usage: %w", err)
	}

	return nil
}

// Query asks the ledger.
type Query struct {
	// From and To are within the first and the last day.
	From, To time.Time
	// Key is whose use is asked for; nil for everybody's.
	Key *string
	// By is what to keep apart: any of day, model, key.
	By []string
}

// Query sums the ledger up, sorted by day, key and model.
func (m *Meter) Query(ctx context.Context, q Query) ([]Usage, error) {
	var days []string
	for d := q.From.UTC().Truncate(24 * time.Hour); !d.After(q.To) && len(days) < MaxDays; d = d.AddDate(0, 0, 1) {
		days = append(days, d.Format(Day))
	}
	read := make([]*redis.MapStringStringCmd, len(days))

	_, err := m.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, day := range days {
			read[i] = p.HGetAll(ctx, ledgerKey(day))
		}

		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading usage: %w", err)
	}
	sums := map[Usage]*Usage{}

	for i, day := range days {
		for field, value := range read[i].Val() {
			parts := strings.Split(field, fieldSeparator)

			n, err := strconv.ParseInt(value, 10, 64)
			if len(parts) != 3 || err != nil || q.Key != nil && parts[0] != *q.Key {
				continue
			}
			group := Usage{Key: parts[0], Model: parts[1], Day: day}
			group.keep(q.By)

			if sums[group] == nil {
				sums[group] = &Usage{Key: group.Key, Model: group.Model, Day: group.Day}
			}

			if counter := sums[group].counters()[parts[2]]; counter != nil {
				*counter += n
			}
		}
	}

	out := make([]Usage, 0, len(sums))
	for _, u := range sums {
		out = append(out, *u)
	}
	slices.SortFunc(out, func(a, b Usage) int {
		return strings.Compare(
			a.Day+fieldSeparator+a.Key+fieldSeparator+a.Model,
			b.Day+fieldSeparator+b.Key+fieldSeparator+b.Model,
		)
	})

	return out, nil
}

func (u *Usage) keep(by []string) {
	if !slices.Contains(by, "key") {
		u.Key = ""
	}

	if !slices.Contains(by, "model") {
		u.Model = ""
	}

	if !slices.Contains(by, "day") {
		u.Day = ""
	}
}
