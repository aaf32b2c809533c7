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

// UpstreamStatus is the state of an upstream of a model.
type UpstreamStatus struct {
	// Model is the model's id, Upstream the upstream's name; Kind and BaseURL are as in inference.Upstream.
	Model    string `json:"model"`
	Upstream string `json:"upstream"`
	Kind     string `json:"kind"`
	BaseURL  string `json:"base_url"`
	// Name is the model's name at the upstream.
	Name     string `json:"name"`
	Priority int    `json:"priority"`
	// Share is the share of the requests of its priority that the upstream gets, 0 to 1.
	Share float64 `json:"share"`
	// MaxConcurrency is as in inference.Upstream. Active counts the requests of this process that run at the upstream.
	MaxConcurrency int `json:"max_concurrency,omitempty"`
	Active         int `json:"active"`
	// CoolingUntil is when the upstream may be chosen again after a failure, and LastError is the message of that
	// failure. Both are empty for an upstream that may be chosen.
	CoolingUntil time.Time `json:"cooling_until,omitzero"`
	LastError    string    `json:"last_error,omitempty"`
	// Only Check fills in the fields below. OK reports whether the upstream answered; Error says why it did not.
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	// Latency is how long the upstream took to list its models.
	Latency time.Duration `json:"latency,omitempty"`
	// Served reports whether the list has the model. Serves holds the first 50 names of the list.
	Served bool     `json:"served"`
	Serves []string `json:"serves,omitempty"`
}

// Explain lists the upstreams of a model in the order in which they are tried.
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
		active, coolUntil, last := g.balance.status(u)

		s.Active = active
		if coolUntil.After(time.Now()) {
			s.CoolingUntil = coolUntil
			if last != nil {
				s.LastError = inference.AsError(last).Message
			}
		}
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b UpstreamStatus) int { return a.Priority - b.Priority })

	return list
}

// Check asks every upstream of the models which models it serves. It asks all of them at the same time and waits at
// most 5 s.
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
		wg.Go(func() { g.checkUpstream(ctx, upstreams[i], &all[i]) })
	}
	wg.Wait()

	return all
}

// checkUpstream fills in the fields of s that only Check fills in.
func (g *Gateway) checkUpstream(ctx context.Context, u *inference.Upstream, s *UpstreamStatus) {
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
