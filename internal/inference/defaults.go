package inference

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// setDefaults sets the missing fields of an entry.
func (m *Model) setDefaults() {
	if m.Capabilities == nil {
		m.Capabilities = []string{CanChat, CanTools}
	}

	// A model with reasoning settings can reason, unless they reject every effort.
	rejectsEfforts := m.Reasoning.Efforts != nil && len(*m.Reasoning.Efforts) == 0
	if m.Reasoning != (Reasoning{}) && !rejectsEfforts && !m.Can(CanReason) {
		m.Capabilities = append(slices.Clone(m.Capabilities), CanReason)
	}

	// An upstream calls built-in tools as functions, so a model with one of the two capabilities has both.
	switch builtin := m.Can(CanBuiltinTools); {
	case builtin && !m.Can(CanTools):
		m.Capabilities = append(slices.Clone(m.Capabilities), CanTools)
	case !builtin && m.Can(CanTools):
		m.Capabilities = append(slices.Clone(m.Capabilities), CanBuiltinTools)
	}

	if m.Can(CanChat) && len(m.Upstreams) > 0 {
		// The model has the capabilities that the kinds of all its upstreams have.
		for _, capability := range []string{CanChoices, CanLogprobs, CanText} {
			lacks := func(u Upstream) bool { return !slices.Contains(kindCan(u.Kind), capability) }
			if !m.Can(capability) && !slices.ContainsFunc(m.Upstreams, lacks) {
				m.Capabilities = append(slices.Clone(m.Capabilities), capability)
			}
		}
	}
	m.ToolValidation = cmp.Or(m.ToolValidation, ValidateOff)
	m.OwnedBy = cmp.Or(m.OwnedBy, "presswork")

	m.Reasoning.Parser = cmp.Or(m.Reasoning.Parser, ParseField)
	if m.Reasoning.DefaultFormat == "" {
		m.Reasoning.DefaultFormat = Parsed
		// Clients of these models expect the <think> block in the content, as their servers send it.
		if m.Reasoning.Parser == ParseThink || m.Reasoning.Parser == ParsePrefilled {
			m.Reasoning.DefaultFormat = Raw
		}
	}
	r := &m.Routing
	r.Strategy = cmp.Or(r.Strategy, ByPriority)
	r.Timeout = cmp.Or(r.Timeout, 10*time.Minute)
	r.FirstTokenTimeout = cmp.Or(r.FirstTokenTimeout, 2*time.Minute)
	r.IdleTimeout = cmp.Or(r.IdleTimeout, time.Minute)
	r.Cooldown = cmp.Or(r.Cooldown, 30*time.Second)
	m.Audio.Part = cmp.Or(m.Audio.Part, 10*time.Minute)
	m.Audio.Parallel = cmp.Or(m.Audio.Parallel, 1)
	m.Batches.Size = cmp.Or(m.Batches.Size, 128)
	m.Batches.Parallel = cmp.Or(m.Batches.Parallel, 2)
	r.ToolRounds = cmp.Or(r.ToolRounds, 8)
	r.ToolTimeout = cmp.Or(r.ToolTimeout, 90*time.Second)

	for i := range m.Upstreams {
		u := &m.Upstreams[i]
		u.BaseURL = strings.TrimRight(u.BaseURL, "/")
		u.Kind = cmp.Or(u.Kind, Plain)
		u.Model = cmp.Or(u.Model, m.ID)
		u.Weight = cmp.Or(u.Weight, 1)
		u.Name = cmp.Or(u.Name, u.BaseURL)
	}

	if m.Created.IsZero() {
		m.Created = time.Now()
	}
}
