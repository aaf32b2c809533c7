package inference

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"presswork/internal/input"
)

var modelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}$`)

// complete checks the entry and fills in what it leaves out. It returns the
// field at fault with the error.
func (m *Model) complete(getenv func(string) string) (string, error) {
	for i, name := range append([]string{m.ID}, m.Aliases...) {
		if !modelName.MatchString(name) {
			field := "id"
			if i > 0 {
				field = fmt.Sprintf("aliases[%d]", i-1)
			}

			return field, fmt.Errorf(
				"%q is not a model name: 1 to 128 letters, digits and . _ : / @ + -",
				clip(name, 40),
			)
		}
	}

	for i, c := range m.Capabilities {
		if err := oneOf(c, Capabilities()); err != nil {
			return fmt.Sprintf("capabilities[%d]", i), err
		}
	}

	if m.ContextWindow < 0 || m.MaxCompletionTokens < 0 {
		return "context_window", errors.New("token counts may not be negative")
	}

	if m.ToolValidation != "" {
		if err := oneOf(m.ToolValidation, []string{ValidateOff, ValidateFeedBack, ValidateStrict}); err != nil {
			return "tool_validation", err
		}
	}

	if field, err := m.Reasoning.check(); err != nil {
		return "reasoning." + field, err
	}

	if field, err := m.Routing.check(); err != nil {
		return "routing." + field, err
	}

	if m.Audio.Part != 0 && (m.Audio.Part < MinPart || m.Audio.Part > MaxPart) {
		return "audio.part", fmt.Errorf("the longest piece of a recording may be %s to %s", MinPart, MaxPart)
	}

	if m.Audio.Parallel < 0 || m.Audio.Parallel > 16 {
		return "audio.parallel", errors.New("1 to 16 pieces of a recording may be sent at a time")
	}

	if len(m.Upstreams) == 0 {
		return "upstreams", errors.New("a model needs at least one upstream with a base_url")
	}

	for i := range m.Upstreams {
		if field, err := m.Upstreams[i].complete(getenv); err != nil {
			return fmt.Sprintf("upstreams[%d].%s", i, field), err
		}
	}
	m.fill()

	for i := range m.Upstreams {
		u := &m.Upstreams[i]
		if u.Kind == WhisperServer && (m.Can(CanChat) || m.Can(CanSpeak)) {
			return "capabilities", fmt.Errorf(
				"a %s only transcribes: write capabilities: [%s]",
				WhisperServer,
				CanTranscribe,
			)
		}

		if j := slices.IndexFunc(m.Upstreams[:i], func(o Upstream) bool { return o.key() == u.key() }); j >= 0 {
			return fmt.Sprintf(
					"upstreams[%d].name",
					i,
				), fmt.Errorf(
					"upstreams[%d] is called %q, too, at the same base_url and for the same model; "+
						"give each a name of its own",
					j,
					u.Name,
				)
		}
	}

	return "", nil
}

func (r *Reasoning) check() (string, error) {
	if r.Efforts != nil {
		for i, e := range *r.Efforts {
			if err := oneOf(e, Efforts()); err != nil {
				return fmt.Sprintf("efforts[%d]", i), err
			}
		}

		if r.Default != "" && !slices.Contains(*r.Efforts, r.Default) {
			return "default", fmt.Errorf("%q is not one of the efforts: %s", r.Default, strings.Join(*r.Efforts, ", "))
		}
	}

	if r.Default != "" {
		if err := oneOf(r.Default, Efforts()); err != nil {
			return "default", err
		}
	}

	if r.Formats != nil {
		for i, f := range *r.Formats {
			if err := oneOf(f, ReasoningFormats()); err != nil {
				return fmt.Sprintf("formats[%d]", i), err
			}
		}
	}

	if r.DefaultFormat != "" {
		if err := oneOf(string(r.DefaultFormat), ReasoningFormats()); err != nil {
			return "default_format", err
		}
	}

	if r.Parser != "" {
		return "parser", oneOf(r.Parser, []string{ParseField, ParseThink, ParsePrefilled, ParseHarmony})
	}

	return "", nil
}

func (r *Routing) check() (string, error) {
	for name, d := range map[string]time.Duration{"timeout": r.Timeout, "first_token_timeout": r.FirstTokenTimeout, "idle_timeout": r.IdleTimeout, "cooldown": r.Cooldown, "tool_timeout": r.ToolTimeout} {
		if d < 0 {
			return name, errors.New("a time may not be negative; write 30s or 2m")
		}
	}

	if r.Retries != nil && (*r.Retries < 0 || *r.Retries > 10) {
		return "retries", errors.New("retries must be 0 to 10")
	}

	if r.ToolRounds < 0 || r.ToolRounds > 64 {
		return "tool_rounds", errors.New("tool_rounds must be 1 to 64")
	}

	if r.Strategy != "" {
		return "strategy", oneOf(r.Strategy, []string{ByPriority, LeastBusy})
	}

	return "", nil
}

func (u *Upstream) complete(getenv func(string) string) (string, error) {
	for field, value := range map[string]*string{"base_url": &u.BaseURL, "api_key": &u.APIKey, "model": &u.Model} {
		var err error
		if *value, err = expand(*value, getenv); err != nil {
			return field, err
		}
	}

	for name, value := range u.Headers {
		var err error
		if u.Headers[name], err = expand(value, getenv); err != nil {
			return "headers", err
		}
	}

	at, err := url.Parse(u.BaseURL)
	switch {
	case u.BaseURL == "":
		return "base_url", errors.New("it is required, such as http://127.0.0.1:8000/v1")
	case err != nil || at.Host == "" || (at.Scheme != "http" && at.Scheme != "https") || at.RawQuery != "" || at.User != nil:
		return "base_url", errors.New(
			"it must be an http or https address without user and query, such as http://127.0.0.1:8000/v1",
		)
	case u.Weight < 0 || u.MaxConcurrency < 0:
		return "weight", errors.New("weight and max_concurrency may not be negative")
	}

	u.Name = cmp.Or(u.Name, at.Host)
	if u.Kind != "" {
		return "kind", oneOf(u.Kind, Kinds())
	}

	return "", nil
}

// fill puts the defaults in.
func (m *Model) fill() {
	if m.Capabilities == nil {
		m.Capabilities = []string{CanChat, CanTools}
	}

	if m.Reasoning != (Reasoning{}) && (m.Reasoning.Efforts == nil || len(*m.Reasoning.Efforts) > 0) &&
		!m.Can(CanReason) {
		// An entry with reasoning settings is of a model that reasons.
		m.Capabilities = append(slices.Clone(m.Capabilities), CanReason)
	}

	switch builtin := m.Can(CanBuiltinTools); {
	case builtin && !m.Can(CanTools):
		m.Capabilities = append(slices.Clone(m.Capabilities), CanTools)
	case !builtin && m.Can(CanTools):
		m.Capabilities = append(slices.Clone(m.Capabilities), CanBuiltinTools)
	}

	if m.Can(CanChat) {
		for _, capability := range []string{CanChoices, CanLogprobs, CanText} {
			lacks := func(u Upstream) bool { return !slices.Contains(kindCan(u.Kind), capability) }
			if len(m.Upstreams) > 0 && !m.Can(capability) && !slices.ContainsFunc(m.Upstreams, lacks) {
				m.Capabilities = append(slices.Clone(m.Capabilities), capability)
			}
		}
	}
	m.ToolValidation = cmp.Or(m.ToolValidation, ValidateOff)
	m.OwnedBy = cmp.Or(m.OwnedBy, "presswork")

	m.Reasoning.Parser = cmp.Or(m.Reasoning.Parser, ParseField)
	if m.Reasoning.DefaultFormat == "" {
		m.Reasoning.DefaultFormat = Parsed
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

var fromEnv = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\}`)

func expand(value string, getenv func(string) string) (string, error) {
	var missing string
	out := fromEnv.ReplaceAllStringFunc(value, func(ref string) string {
		m := fromEnv.FindStringSubmatch(ref)
		if v := getenv(m[1]); v != "" {
			return v
		}

		if m[2] == "" {
			missing = m[1]
		}

		return strings.TrimPrefix(m[2], ":-")
	})

	if missing != "" {
		return "", fmt.Errorf("${%s} is not set in the environment", missing)
	}

	return out, nil
}

func oneOf(value string, allowed []string) error {
	if slices.Contains(allowed, value) {
		return nil
	}

	return fmt.Errorf(
		"%q is unknown%s; allowed: %s",
		clip(value, 40),
		strings.TrimSuffix(input.DidYouMean(value, allowed), "?"),
		strings.Join(allowed, ", "),
	)
}
