package anthropic

import (
	"encoding/json"
	"fmt"

	"presswork/internal/inference"
)

// Budgets is the value of Reasoning.Switch for models that take a number of tokens for their thoughts. Other models
// decide it by the effort.
const Budgets = "budget"

// minBudget is the smallest budget that the API accepts, in tokens.
const minBudget = 1024

// addThinking adds how much the model is to think. The caller's own field has priority over the effort. The API rejects
// thinking with a forced call or without the thoughts of an earlier round, so both turn it off. It also rejects
// sampling options with thinking, so those are left out.
func (b *body) addThinking(m *inference.Model, r *inference.Request) {
	own, effort := r.Fields["thinking"], r.ReasoningEffort
	chosen := effort != "" && effort != "default" && m.Can(inference.CanReason) && r.Fields["output_config"] == nil
	forced := r.ToolChoice.Mode == inference.ChooseRequired || r.ToolChoice.Mode == inference.ChooseNamed

	switch {
	case own != nil && typeOf(own) == "disabled":
		b.Thinking = own
		return
	case own == nil && !chosen:
		return
	case effort == "none" || forced || lostThoughts(r) && (typeOf(own) == "enabled" || m.Reasoning.Switch == Budgets):
		b.Thinking = json.RawMessage(`{"type":"disabled"}`)
		return
	case own != nil:
		b.Thinking = own
	case m.Reasoning.Switch == Budgets:
		// Keep at least half of the tokens for the answer.
		budget := min(budgetOf(effort), b.MaxTokens/2)
		if budget < minBudget {
			return // the answer has no tokens to spare for thoughts
		}
		b.Thinking = fmt.Appendf(nil, `{"type":"enabled","budget_tokens":%d}`, budget)
	default:
		b.Thinking = json.RawMessage(`{"type":"adaptive","display":"summarized"}`)
		b.Output = outputConfig{Effort: effortOf(effort)}
	}
	b.Temperature, b.TopP, b.thinks = nil, nil, true
}

// typeOf returns the type in a field "thinking" of a client.
func typeOf(value json.RawMessage) string {
	var thinking struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(value, &thinking) // the upstream rejects other values

	return thinking.Type
}

// lostThoughts reports whether the last answer of the model has calls without the thoughts before them, as clients of
// chat completions send it. Models with budgets reject thinking then.
func lostThoughts(r *inference.Request) bool {
	lost := false

	for _, m := range r.Messages {
		switch m.Role {
		case inference.User:
			lost = false
		case inference.Assistant:
			lost = lost || len(m.ToolCalls) > 0 && len(m.Thoughts) == 0
		}
	}

	return lost
}

// effortOf returns the effort of the API, which has no "minimal".
func effortOf(effort string) string {
	if effort == "minimal" {
		return "low"
	}

	return effort
}

// budgetOf returns the tokens for an effort. The values double from level to level; addThinking also limits them.
func budgetOf(effort string) int {
	switch effort {
	case "medium":
		return 2048
	case "high":
		return 4096
	case "xhigh":
		return 8192
	case "max":
		return 16384
	}

	return minBudget
}
