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

// ledgerTTL is how long the ledger of one day is stored.
const ledgerTTL = 400 * 24 * time.Hour

// Day is the layout of a day in the ledger, for time.Format. Days are in UTC.
const Day = time.DateOnly

// MaxDays is the largest number of days that one query covers. Query ignores later days.
const MaxDays = 366

// Usage is the usage of one key and model on one day, or a sum over several. A field that was summed over is "".
type Usage struct {
	// Key is the name of the API key, Model the id of the model. Day has the layout of the constant Day.
	Key, Model, Day string
	// Requests counts the requests that ran, including those that failed.
	Requests         int64
	PromptTokens     int64
	CompletionTokens int64
	// ReasoningTokens are a part of CompletionTokens.
	ReasoningTokens int64
	// EstimatedTokens is the part of PromptTokens and CompletionTokens that was estimated, because the upstream
	// sent no counts.
	EstimatedTokens int64
	// AudioSeconds is the length of the transcribed recordings, rounded up to whole seconds.
	AudioSeconds int64
	// Cancelled counts requests whose client disconnected before the end.
	Cancelled int64
}

// counters returns pointers to the counts of u by their names in the ledger.
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

// ledgerKey returns the Redis key of the ledger of one day.
func ledgerKey(day string) string { return "pw:usage:" + day }

// fieldSeparator separates the parts of a ledger field. It cannot be part of a key's or model's name.
const fieldSeparator = "\x1f"

// recordedTTL is how long a request counts as recorded or settled. Two runs of one request overlap for less time.
const recordedTTL = 10 * time.Minute

// Record adds the usage of a request to the ledger, once for each id. at is when the request was accepted, by the
// clock of Redis; zero means now. The ledger counts the request under the day of at. A repeat after midnight
// therefore finds the earlier record. Errors are those of Redis.
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
	// A Redis cluster hashes only the text in braces, so both keys are on one node, as a script requires.
	if err := recordScript.Run(ctx, m.rdb, []string{name, "{" + name + "}:" + id}, args...).Err(); err != nil {
		return fmt.Errorf("recording usage: %w", err)
	}

	return nil
}

// Query selects and groups records of the ledger.
type Query struct {
	// From is a time in the first day, To a time in the last.
	From, To time.Time
	// Key is the name of an API key; nil selects all keys.
	Key *string
	// By lists the fields to group by: any of "day", "model" and "key".
	By []string
}

// Query returns the sums of the ledger, sorted by day, key and model. It reads at most MaxDays days from q.From. It
// fails if Redis does not answer.
func (m *Meter) Query(ctx context.Context, q Query) ([]Usage, error) {
	var days []string
	for d := q.From.UTC().Truncate(24 * time.Hour); !d.After(q.To) && len(days) < MaxDays; d = d.AddDate(0, 0, 1) {
		days = append(days, d.Format(Day))
	}
	results := make([]*redis.MapStringStringCmd, len(days))

	_, err := m.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, day := range days {
			results[i] = p.HGetAll(ctx, ledgerKey(day))
		}

		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading usage: %w", err)
	}
	sums := map[Usage]*Usage{}

	for i, day := range days {
		for field, value := range results[i].Val() {
			parts := strings.Split(field, fieldSeparator)

			n, err := strconv.ParseInt(value, 10, 64)
			if len(parts) != 3 || err != nil || q.Key != nil && parts[0] != *q.Key {
				continue
			}
			group := Usage{Key: parts[0], Model: parts[1], Day: day}
			group.clearUngrouped(q.By)

			if sums[group] == nil {
				sums[group] = &Usage{Key: group.Key, Model: group.Model, Day: group.Day}
			}

			// Counters of a newer version are skipped.
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

// clearUngrouped clears the fields that are not in by, so that records of one group have equal fields.
func (u *Usage) clearUngrouped(by []string) {
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
