package responses

import (
	"slices"

	"presswork/internal/inference"
)

// Fit drops the oldest turns of a request whose truncation is auto, until its prompt fits into limit tokens by
// estimate. It keeps the instructions and the last turn. Tools stay with the results of their calls.
func (f *Format) Fit(r *inference.Request, limit int) {
	if !f.truncate {
		return
	}
	excess := r.EstimateTokens() - limit
	from := slices.IndexFunc(r.Messages, func(m inference.Message) bool {
		return m.Role != inference.System && m.Role != inference.Developer
	})

	if excess <= 0 || from < 0 {
		return
	}
	isUser := func(m inference.Message) bool { return m.Role == inference.User }
	to := from

	// Delete whole turns: each begins with a message of the user.
	for excess > 0 {
		next := slices.IndexFunc(r.Messages[to+1:], isUser)
		if next < 0 {
			break
		}
		turn := inference.Request{Messages: r.Messages[to : to+1+next]}
		excess -= turn.EstimateTokens() - (&inference.Request{}).EstimateTokens()
		to += 1 + next
	}
	r.Messages = slices.Delete(r.Messages, from, to)
}
