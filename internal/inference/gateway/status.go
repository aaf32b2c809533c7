package gateway

import (
	"context"
	"slices"
	"sync"
	"time"

	"presswork/internal/inference"
)

// checkTimeout bounds the check of one upstream.
const checkTimeout = 5 * time.Second

// UpstreamStatus is how an upstream of a model stands.
type UpstreamStatus struct {
	// Model is the model's id, Upstream the upstream's name; Kind and BaseURL are
	// as in Upstream.
	Model    string `json:"model"`
	Upstream string `json:"upstream"`
	Kind     string `json:"kind"`
	BaseURL  string `json:"base_url"`
	// Name is the model's name there.
	Name     string `json:"name"`
	Priority int    `json:"priority"`
	// Share is the part of this priority's requests it gets, 0 to 1.
	Share float64 `json:"share"`
	// MaxConcurrency is as in Upstream; Active requests of this process run there.
	MaxConcurrency int `json:"max_concurrency,omitempty"`
	Active         int `json:"active"`
	// CoolingUntil and LastError are of the failure that keeps it from being
	// chosen.
	CoolingUntil time.Time `json:"cooling_until,omitzero"`
	LastError    string    `json:"last_error,omitempty"`
	// The rest is filled in by Check only. OK is whether the upstream answered,
	// Error why it did not.
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	// Latency is what its list of models took.
	Latency time.Duration `json:"latency,omitempty"`
	// Served is whether it lists the model; Serves are the names it lists, at most
	// 50.
	Served bool     `json:"served"`
	Serves []string `json:"serves,omitempty"`
}

// Explain lists the upstreams a model's requests go to, in the order in which
// they are tried.
func (g *Gateway) Explain(m *inference.Model) []UpstreamStatus {
	var list []UpstreamStatus

	for i := range m.Upstreams {
		u := &m.Upstreams[i]
		s := UpstreamStatus{
			Model:          m.ID,
			Upstream:       u.Name,
			Kind:           u.Kind,
			BaseURL:        u.BaseURL,
			Name:           u.Model,
			Priority:       u.Priority,
			MaxConcurrency: u.MaxConcurrency,
		}
		weights := 0

		for _, o := range m.Upstreams {
			if o.Priority == u.Priority {
				weights += o.Weight
			}
		}
		s.Share = float64(u.Weight) / float64(weights)
		active, coolTo, last := g.balance.look(u)

		s.Active = active
		if coolTo.After(time.Now()) {
			s.CoolingUntil = coolTo
			if last != nil {
				s.LastError = inference.AsError(last).Message
			}
		}
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b UpstreamStatus) int { return a.Priority - b.Priority })

	return list
}

// Check asks every upstream of the models which models it serves, all at once,
// within 5 s.
func (g *Gateway) Check(ctx context.Context, models []*inference.Model) []UpstreamStatus {
	var all []UpstreamStatus
	var upstreams []*inference.Upstream

	for _, m := range models {
		for _, s := range g.Explain(m) {
			i := slices.IndexFunc(m.Upstreams, func(u inference.Upstream) bool {
				return u.Name == s.Upstream && u.BaseURL == s.BaseURL && u.Model == s.Name
			})
			all, upstreams = append(all, s), append(upstreams, &m.Upstreams[i])
		}
	}

	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() { g.check(ctx, upstreams[i], &all[i]) })
	}
	wg.Wait()

	return all
}

func (g *Gateway) check(ctx context.Context, u *inference.Upstream, s *UpstreamStatus) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()

	engine, err := g.engine(u)
	if err != nil {
		s.Error = inference.AsError(err).Message
		return
	}
	begun := time.Now()
	names, err := engine.Models(ctx)

	s.Latency = time.Since(begun)
	if err != nil {
		s.Error = inference.AsError(err).Message
		return
	}
	s.OK, s.Served = true, slices.Contains(names, u.Model)
	s.Serves = names[:min(len(names), 50)]
}
