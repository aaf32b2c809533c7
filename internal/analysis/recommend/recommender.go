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
	// The log reports a broken cache once, not for each document.
	readWarning, writeWarning sync.Once
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
// Owners do not share cache entries: response times would reveal that another owner has sent the same text. The
// only error is the cause of ctx. If the cache fails, the result is computed again.
func (a *Recommender) Recommend(
	ctx context.Context, owner string, markdown []byte, list []themes.Theme, s Preference,
) (Result, error) {
	infos, content := themeInfos(list), sha256.Sum256(markdown)
	q := lookup{Recommender: a, cache: a.cache(), owner: owner, content: content[:]}
	p := q.profile(ctx, markdown)
	recommendation := cached(ctx, &q, cache.Theme, []any{q.usedModel, infos, s}, func() finding.Recommendation {
		return a.rules().Recommend(p, infos, s)
	})
	result := Result{p.Analysis, q.lookups, q.hits}

	result.Recommendation = recommendation
	if a.model != nil && q.usedModel == "" {
		result.Recommendation.Reasons = append(
			slices.Clone(recommendation.Reasons),
			"the model gave no usable answer; the built-in analyser was used",
		)
	}

	return result, context.Cause(ctx)
}

// RecommendSeries is Recommend for documents of one folder, in the order of the texts. From MinSeries on, a document of
// unclear type gets that of the others, and documents of one type share a theme.
func (a *Recommender) RecommendSeries(
	ctx context.Context, owner string, texts [][]byte, list []themes.Theme, s Preference,
) ([]Result, error) {
	results, profiles := make([]Result, len(texts)), make([]Profile, len(texts))

	for i, text := range texts {
		content := sha256.Sum256(text)
		q := lookup{Recommender: a, cache: a.cache(), owner: owner, content: content[:]}
		profiles[i] = q.profile(ctx, text)
		results[i] = Result{Lookups: q.lookups, Hits: q.hits}
	}

	for i, advice := range a.rules().series(profiles, themeInfos(list), s) {
		results[i].Analysis = profiles[i].Analysis
		results[i].Recommendation = advice
	}

	return results, context.Cause(ctx)
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
		p = (&lookup{Recommender: a, cache: a.cache(), content: content[:]}).profile(ctx, markdown)
	}
	rules := a.rules()
	result := Result{Analysis: p.Analysis}
	result.Recommendation = rules.Recommend(p, infos, s)

	return result, rules.Rank(p, infos, s), context.Cause(ctx)
}

// lookup looks up the results for one document and counts its cache lookups.
type lookup struct {
	*Recommender
	cache         cache.Cache
	owner         string
	content       []byte // hash of the document
	lookups, hits int    // of the cache
	usedModel     string // the model that produced the profile, or "" for the built-in analyser
}

// profile returns the profile of the document: that of the model if there is one and it answers, else that of the
// built-in analyser. It sets usedModel.
func (q *lookup) profile(ctx context.Context, markdown []byte) Profile {
	if q.model == nil {
		return q.analyse(ctx, markdown)
	}
	var failed error

	p := cached(ctx, q, cache.Analysis, []any{q.model.Name}, func() (p Profile) {
		p = q.analyse(ctx, markdown)

		var r reading
		if r, failed = q.model.read(ctx, markdown); failed == nil {
			p = r.mergeInto(p)
		}

		return p
	}, func() bool { return failed == nil })
	if failed == nil {
		q.usedModel = q.model.Name
	} else if ctx.Err() == nil {
		q.log.WarnContext(ctx, "the document was analysed without the model", "model", q.model.Name, "reason", failed)
	}

	return p
}

// analyse returns the profile that the built-in analyser finds.
func (q *lookup) analyse(ctx context.Context, markdown []byte) Profile {
	return cached(ctx, q, cache.Analysis, nil, func() Profile {
		return q.rules().Profile(analysis.Examine(markdown))
	})
}

// cached returns the value in the cache, or else computes and stores it. It stores nothing if one of keep returns
// false. The key of the value is made of the owner, the text, the version of the analyser, and parts.
func cached[T any](
	ctx context.Context,
	q *lookup,
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
		q.readWarning.Do(func() { q.log.WarnContext(ctx, "the cache cannot be read", "error", err) })
	}
	value = compute()

	for _, mayStore := range keep {
		if !mayStore() {
			return value
		}
	}

	b, err := json.Marshal(value)
	if err == nil {
		err = q.cache.Put(ctx, kind, key, b)
	}

	if err != nil && ctx.Err() == nil {
		q.writeWarning.Do(func() { q.log.WarnContext(ctx, "the cache cannot be written", "error", err) })
	}

	return value
}

// version identifies the data of the analyser and the rules. A new version makes older cache entries unreachable.
var version = sync.OnceValue(func() string { return key(analysis.Version(), themeData) })

// key returns a hash of the parts as a hexadecimal number.
func key(parts ...any) string {
	h := sha256.New()
	// Encoding plain strings, numbers and booleans cannot fail.
	_ = json.NewEncoder(h).Encode(parts)

	return hex.EncodeToString(h.Sum(nil))
}

// themeInfos returns what the rules need to know of each theme.
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
