package catalogue

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"presswork/internal/inference"
	"presswork/internal/input"
	"presswork/internal/lazyregexp"
)

// modelName matches an allowed name of a model.
var modelName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}$`)

// completeModel checks an entry and replaces its ${NAME} values. With an error it returns the name of the invalid
// field.
func completeModel(m *inference.Model, getenv func(string) string) (string, error) {
	if field, err := checkNames(m); err != nil {
		return field, err
	}

	for i, c := range m.Capabilities {
		if err := oneOf(c, inference.Capabilities()); err != nil {
			return fmt.Sprintf("capabilities[%d]", i), err
		}
	}

	for field, tokens := range map[string]int{
		"context_window": m.ContextWindow, "max_completion_tokens": m.MaxCompletionTokens,
	} {
		if tokens < 0 {
			return field, fmt.Errorf("%d is negative; a number of tokens is 0 (unknown) or more", tokens)
		}
	}

	if m.ToolValidation != "" {
		allowed := []string{inference.ValidateOff, inference.ValidateFeedBack, inference.ValidateStrict}
		if err := oneOf(m.ToolValidation, allowed); err != nil {
			return "tool_validation", err
		}
	}

	if field, err := checkReasoning(&m.Reasoning); err != nil {
		return "reasoning." + field, err
	}

	if field, err := checkRouting(&m.Routing); err != nil {
		return "routing." + field, err
	}

	if field, err := checkAudio(&m.Audio); err != nil {
		return "audio." + field, err
	}

	if field, err := checkBatches(&m.Batches); err != nil {
		return "batches." + field, err
	}

	if len(m.Upstreams) == 0 {
		return "upstreams", errors.New("a model needs at least one upstream with a base_url")
	}

	for i := range m.Upstreams {
		if field, err := completeUpstream(&m.Upstreams[i], getenv); err != nil {
			return fmt.Sprintf("upstreams[%d].%s", i, field), err
		}
	}

	return "", nil
}

// checkNames checks the id and the aliases of a model. The first result is the path of the wrong field.
func checkNames(m *inference.Model) (string, error) {
	for i, name := range append([]string{m.ID}, m.Aliases...) {
		if modelName().MatchString(name) {
			continue
		}

		field := "id"
		if i > 0 {
			field = fmt.Sprintf("aliases[%d]", i-1)
		}

		return field, fmt.Errorf(
			"%q is not a model name: 1 to 128 letters, digits and . _ : / @ + -", input.Cut(name, 40))
	}

	return "", nil
}

// checkReasoning checks the reasoning settings of a model. The first result is the wrong field.
func checkReasoning(r *inference.Reasoning) (string, error) {
	if r.Efforts != nil {
		for i, e := range *r.Efforts {
			if err := oneOf(e, inference.Efforts()); err != nil {
				return fmt.Sprintf("efforts[%d]", i), err
			}
		}

		if r.Default != "" && !slices.Contains(*r.Efforts, r.Default) {
			return "default", fmt.Errorf("%q is not one of the efforts: %s", r.Default, strings.Join(*r.Efforts, ", "))
		}
	}

	if r.Default != "" {
		if err := oneOf(r.Default, inference.Efforts()); err != nil {
			return "default", err
		}
	}

	if r.Formats != nil {
		for i, f := range *r.Formats {
			if err := oneOf(f, inference.ReasoningFormats()); err != nil {
				return fmt.Sprintf("formats[%d]", i), err
			}
		}
	}

	if r.DefaultFormat != "" {
		if err := oneOf(string(r.DefaultFormat), inference.ReasoningFormats()); err != nil {
			return "default_format", err
		}
	}

	if r.Parser != "" {
		return "parser", oneOf(r.Parser, []string{
			inference.ParseField, inference.ParseThink, inference.ParsePrefilled, inference.ParseHarmony,
		})
	}

	return "", nil
}

// checkRouting checks the routing settings of a model. The first result is the wrong field.
func checkRouting(r *inference.Routing) (string, error) {
	for name, d := range map[string]time.Duration{
		"timeout": r.Timeout, "first_token_timeout": r.FirstTokenTimeout, "idle_timeout": r.IdleTimeout,
		"cooldown": r.Cooldown, "tool_timeout": r.ToolTimeout,
	} {
		if d < 0 {
			return name, fmt.Errorf("%s is negative; write a time such as 30s or 2m", d)
		}
	}

	if r.Retries != nil && (*r.Retries < 0 || *r.Retries > 10) {
		return "retries", fmt.Errorf("%d is not allowed; retries must be 0 to 10", *r.Retries)
	}

	if r.ToolRounds < 0 || r.ToolRounds > 64 {
		return "tool_rounds", fmt.Errorf("%d is not allowed; tool_rounds must be 1 to 64", r.ToolRounds)
	}

	if r.Strategy != "" {
		return "strategy", oneOf(r.Strategy, []string{inference.ByPriority, inference.LeastBusy})
	}

	return "", nil
}

// checkAudio checks the audio settings of a model. The first result is the wrong field.
func checkAudio(a *inference.Audio) (string, error) {
	if a.Part != 0 && (a.Part < inference.MinPart || a.Part > inference.MaxPart) {
		return "part", fmt.Errorf("%s is not allowed; the longest piece of a recording may be %s to %s",
			a.Part, inference.MinPart, inference.MaxPart)
	}

	if a.Parallel < 0 || a.Parallel > 16 {
		return "parallel", fmt.Errorf("%d is not allowed; 1 to 16 pieces of a recording may be sent at a time",
			a.Parallel)
	}

	return "", nil
}

// checkBatches checks the batch settings of a model. The first result is the wrong field.
func checkBatches(b *inference.Batches) (string, error) {
	if b.Size < 0 || b.Size > inference.MaxBatch {
		return "size", fmt.Errorf("%d is not allowed; one call of an upstream may have 1 to %d texts",
			b.Size, inference.MaxBatch)
	}

	if b.Parallel < 0 || b.Parallel > inference.MaxParallelBatches {
		return "parallel", fmt.Errorf("%d is not allowed; 1 to %d calls of a request may run at a time",
			b.Parallel, inference.MaxParallelBatches)
	}

	return "", nil
}

// checkTogether checks rules that involve several fields. It runs after the defaults are set. The first result is the
// wrong field.
func checkTogether(m *inference.Model) (string, error) {
	for i := range m.Upstreams {
		u := &m.Upstreams[i]
		if u.Kind == inference.WhisperServer && (m.Can(inference.CanChat) || m.Can(inference.CanSpeak)) {
			return "capabilities", fmt.Errorf(
				"a %s only transcribes: write capabilities: [%s]", inference.WhisperServer, inference.CanTranscribe)
		}

		for _, capability := range u.Lacks() {
			if m.Can(capability) {
				return "capabilities", fmt.Errorf("an upstream of the kind %s does not support %s", u.Kind, capability)
			}
		}

		same := func(o inference.Upstream) bool { return o.Key() == u.Key() }
		if j := slices.IndexFunc(m.Upstreams[:i], same); j >= 0 {
			return fmt.Sprintf("upstreams[%d].name", i), fmt.Errorf(
				"upstreams[%d] has the same name %q, base_url and model; give each upstream its own name", j, u.Name)
		}
	}

	return "", nil
}

// oneOf returns an error that lists the allowed values if value is not one of them.
func oneOf(value string, allowed []string) error {
	if slices.Contains(allowed, value) {
		return nil
	}

	return fmt.Errorf("%q is unknown%s; allowed: %s", input.Cut(value, 40),
		strings.TrimSuffix(input.DidYouMean(value, allowed), "?"), strings.Join(allowed, ", "))
}
