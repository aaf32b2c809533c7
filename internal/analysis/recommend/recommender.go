// Package recommend analyses documents, chooses themes for them and caches both results. The command line and the
// service share it, so that they give the same answers.
package recommend

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"

	"presswork/internal/analysis"
	"presswork/internal/analysis/finding"
	"presswork/internal/cache"
	"presswork/themes"
)

// Options configure a Recommender.
type Options struct {
	// Cache opens the cache of analyses and choices. It is called once, for the first document. If Cache is nil or
	// returns nil, nothing is cached.
	Cache func() cache.Cache
	// Model replaces the built-in analyser. If the model fails, the analyser is used. Default: none.
	Model *Model
	// Log gets a warning when the cache cannot be used. Default: discard.
	Log *slog.Logger
}

// Recommender recommends themes for documents. It is safe for concurrent use.
type Recommender struct {
	model *Model
	cache func() cache.Cache
	log   *slog.Logger
	// rules are loaded for the first document.
	rules func() *Rules
	// A broken cache is reported once, not for each document.
	unread, unwritten sync.Once
}

// New returns a Recommender. It opens nothing until the first document.
func New(o Options) *Recommender {
	if o.Cache == nil {
		o.Cache = func() cache.Cache { return nil }
	}

	return &Recommender{
		model: o.Model,
		cache: sync.OnceValue(o.Cache),
		log:   cmp.Or(o.Log, slog.New(slog.DiscardHandler)),
		rules: sync.OnceValue(NewRules),
	}
}

// AsksModel reports whether a model analyses the documents.
func (a *Recommender) AsksModel() bool { return a.model != nil }

// Result is an analysis with its recommendation and the cache statistics.
type Result struct {
	finding.Analysis
	// Lookups counts the cache lookups, Hits those that found an entry.
	Lookups, Hits int
}

// Recommend analyses an owner's document and recommends one of the themes, which must be in the catalogue's order.
// Owners do not share cache entries: response times would reveal that another owner has sent the same text. It
// returns an error only if ctx ends, its cause. A failing cache costs only the computation.
func (a *Recommender) Recommend(
	ctx context.Context, owner string, markdown []byte, list []themes.Theme, s Preference,
) (Result, error) {
	infos, content := themeInfos(list), sha256.Sum256(markdown)
	q := question{Recommender: a, cache: a.cache(), owner: owner, content: content[:]}
	p := q.profile(ctx, markdown)
	recommendation := answer(ctx, &q, cache.Theme, []any{q.reader, infos, s}, func() finding.Recommendation {
		return a.rules().Recommend(p, infos, s)
	})
	advice := Result{p.Analysis, q.lookups, q.hits}

	advice.Recommendation = recommendation
	if a.model != nil && q.reader == "" {
		advice.Recommendation.Reasons = append(
			slices.Clone(recommendation.Reasons),
			"the model could not be asked: this is the program's own reading",
		)
	}

	return advice, context.Cause(ctx)
}

// Rank is Recommend for all themes, the best first. Without a document, only the preference counts.
func (a *Recommender) Rank(
	ctx context.Context,
	markdown []byte,
	list []themes.Theme,
	s Preference,
) (Result, []string, error) {
	infos := themeInfos(list)
	var p Profile

	if markdown != nil {
		content := sha256.Sum256(markdown)
		p = (&question{Recommender: a, cache: a.cache(), content: content[:]}).profile(ctx, markdown)
	}
	rules := a.rules()
	advice := Result{Analysis: p.Analysis}
	advice.Recommendation = rules.Recommend(p, infos, s)

	return advice, rules.Rank(p, infos, s), context.Cause(ctx)
}

// question holds the state of one document's cache lookups.
type question struct {
	*Recommender
	cache         cache.Cache
	owner         string
	content       []byte // its hash
	lookups, hits int
	reader        string // the model that produced profile, or "" for the built-in analyser
}

// profile returns the model's reading if there is one, else the analyser's.
func (q *question) profile(ctx context.Context, markdown []byte) Profile {
	if q.model == nil {
		return q.local(ctx, markdown)
	}
	var failed error

	p := answer(ctx, q, cache.Analysis, []any{q.model.Name}, func() (p Profile) {
		p = q.local(ctx, markdown)

		var r reading
		if r, failed = q.model.read(ctx, markdown); failed == nil {
			p = r.mergeInto(p)
		}

		return p
	}, func() bool { return failed == nil })
	if failed == nil {
		q.reader = q.model.Name
	} else if ctx.Err() == nil {
		q.log.WarnContext(ctx, "the document was analysed without the model", "model", q.model.Name, "reason", failed)
	}

	return p
}

func (q *question) local(ctx context.Context, markdown []byte) Profile {
	return answer(ctx, q, cache.Analysis, nil, func() Profile {
		return q.rules().Profile(analysis.Examine(markdown))
	})
}

// answer returns what the cache has for the document, else computes and stores
// it, unless some keep refuses it. Parts are what the answer
// depends on beside the owner, the text and the analyser.
func answer[T any](
	ctx context.Context,
	q *question,
	kind cache.Kind,
	parts []any,
	compute func() T,
	keep ...func() bool,
) T {
	if q.cache == nil || ctx.Err() != nil {
		return compute()
	}
	key := key(version(), q.owner, q.content, parts)
	q.lookups++
	stored, found, err := q.cache.Get(ctx, kind, key)

	var value T
	if found && err == nil {
		if err = json.Unmarshal(stored, &value); err == nil {
			q.hits++
			return value
		}
	}

	if err != nil {
		q.unread.Do(func() { q.log.WarnContext(ctx, "the cache cannot be read", "error", err) })
	}
	value = compute()

	for _, wanted := range keep {
		if !wanted() {
			return value
		}
	}

	b, err := json.Marshal(value)
	if err == nil {
		err = q.cache.Put(ctx, kind, key, b)
	}

	if err != nil && ctx.Err() == nil {
		q.unwritten.Do(func() { q.log.WarnContext(ctx, "analyses cannot be remembered", "error", err) })
	}

	return value
}

// version identifies the data of the analyser and the rules. A new version makes older cache entries unreachable.
var version = sync.OnceValue(func() string { return key(analysis.Version(), themeData) })

// key returns a hash of everything that the answer depends on.
func key(parts ...any) string {
	h := sha256.New()
	// Encoding plain strings, numbers and booleans cannot fail.
	_ = json.NewEncoder(h).Encode(parts)

	return hex.EncodeToString(h.Sum(nil))
}

func themeInfos(list []themes.Theme) []ThemeInfo {
	infos := make([]ThemeInfo, 0, len(list))
	for _, t := range list {
		infos = append(
			infos,
			ThemeInfo{Name: t.Name, Scheme: t.Scheme, Colors: t.Colors, Tags: t.Tags, Custom: t.Custom},
		)
	}

	return infos
}
