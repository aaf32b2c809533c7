package catalogue_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"presswork/internal/inference"
	"presswork/internal/inference/catalogue"
	"presswork/internal/test/wait"
)

// modelsYAML has a model with all fields, and one with only the required field.
const modelsYAML = `models:
  - id: openai/gpt-oss-20b
    aliases: [gpt-oss]
    owned_by: OpenAI
    context_window: 131072
    max_completion_tokens: 65536
    capabilities: [chat, tools, reasoning, json_schema, builtin_tools]
    reasoning: {efforts: [low, medium, high], default: medium, formats: [], default_format: parsed, parser: field}
    routing: {strategy: priority, timeout: 120s, first_token_timeout: 30s, idle_timeout: 20s, retries: 1, cooldown: 30s}
    upstreams:
      - {name: gpu1, kind: vllm, base_url: "http://10.0.0.1:8000/v1/", api_key: "${GPU1_KEY}", model: openai/gpt-oss-20b, weight: 3, max_concurrency: 16, priority: 0}
      - {name: groq, kind: groq, base_url: "https://api.groq.com/openai/v1", api_key: "${GROQ_KEY:-none}", priority: 1}
    price: {input_per_m: 0.075, output_per_m: 0.30}
  - id: small
    upstreams:
      - base_url: http://127.0.0.1:9000/v1
`

// env returns the value of an environment variable. Only GPU1_KEY is set.
func env(name string) string { return map[string]string{"GPU1_KEY": "s3cret"}[name] }

func TestParseSetsDefaults(t *testing.T) {
	t.Parallel()

	c, err := catalogue.Parse("models.yaml", []byte(modelsYAML), env)
	if err != nil {
		t.Fatal(err)
	}

	m, err := c.Find("gpt-oss")
	if err != nil || m.ID != "openai/gpt-oss-20b" || m.Routing.FirstTokenTimeout != 30*time.Second ||
		m.Price.OutputPerM != 0.3 {
		t.Fatalf("alias gpt-oss: got %+v, %v; want openai/gpt-oss-20b with its routing and price", m, err)
	}

	a, b := m.Upstreams[0], m.Upstreams[1]
	if a.APIKey != "s3cret" || a.BaseURL != "http://10.0.0.1:8000/v1" || b.APIKey != "none" || b.Model != m.ID ||
		b.Weight != 1 {
		t.Errorf(
			"upstreams are %+v; want keys from the environment, the model's id and weight 1 as defaults",
			m.Upstreams,
		)
	}

	small, err := c.Find("small")
	if err != nil || !small.Can(inference.CanTools) || small.Upstreams[0].Kind != inference.Plain ||
		small.Upstreams[0].Name != "127.0.0.1:9000" || small.Reasoning.DefaultFormat != inference.Parsed ||
		small.Routing.IdleTimeout != time.Minute {
		t.Errorf("model small: got %+v, %v; want the defaults", small, err)
	}

	if _, err := inference.NewCatalogue(nil).Find("x"); err == nil || !strings.Contains(err.Error(), "models.yaml") {
		t.Errorf("Find in an empty catalogue: got %v, want an error with models.yaml", err)
	}

	if c, err := catalogue.Parse("models.yaml", nil, env); err != nil || len(c.Models()) != 0 {
		t.Errorf("an empty file: got error %v, want no models and no error", err)
	}
}

func TestParseErrorNamesLineAndField(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		replaced, replacement string // in modelsYAML
		want                  string
	}{
		{"owned_by: OpenAI", "ownedby: OpenAI", `line 4: unknown field "ownedby"`},
		{"context_window: 131072", "context_window: lots", "line 5: "},
		{"builtin_tools", "bultin_tools", `line 7: models[0].capabilities[4]: "bultin_tools" is unknown; did you mean "builtin_tools"`},
		{"default: medium", "default: max", "line 8: models[0].reasoning.default: "},
		{"parser: field", "parser: fields", "line 8: models[0].reasoning.parser: "},
		{"retries: 1", "retries: 100", "line 9: models[0].routing.retries: "},
		{"kind: vllm", "kind: vlm", `line 11: models[0].upstreams[0].kind: "vlm" is unknown; did you mean "vllm"`},
		{"${GPU1_KEY}", "${GPU2_KEY}", "line 11: models[0].upstreams[0].api_key: ${GPU2_KEY} is not set"},
		{"http://127.0.0.1:9000/v1", "127.0.0.1:9000", "line 16: models[1].upstreams[0].base_url: "},
		{"id: small", "id: gpt-oss", `line 14: models[1].id: "gpt-oss" is already`},
		{"id: small", "id: a b", "line 14: models[1].id: "},
		{"      - base_url: http://127.0.0.1:9000/v1", "      []", "line 16: models[1].upstreams: "},
		{
			"name: groq, kind: groq, base_url: \"https://api.groq.com/openai/v1\"", "name: gpu1, base_url: \"http://10.0.0.1:8000/v1\"",
			`line 12: models[0].upstreams[1].name: upstreams[0] has the same name "gpu1"`,
		},
		{"id: small", "id: small\n    fallbacks: [smal]", `models[1].fallbacks[0]: "smal" is not the name of a model in this file`},
		{"id: small", "id: small\n    fallbacks: [small]", "models[1].fallbacks[0]: a model cannot replace itself"},
		{"models:", "models: [", "line "},
	} {
		t.Run(test.replacement, func(t *testing.T) {
			_, err := catalogue.Parse("models.yaml",
				[]byte(strings.Replace(modelsYAML, test.replaced, test.replacement, 1)), env)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "s3cret") ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one line with %q and no secret", err, test.want)
			}
		})
	}
}

func TestSourceFollowsFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "models.yaml")
	// write replaces the file at once, so that the source never reads half of it.
	write := func(text string) {
		t.Helper()

		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}

		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}

	_, err := catalogue.NewSource(t.Context(), catalogue.SourceOptions{Path: path})
	if err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("without a file: got %v, want an error with \"does not exist\"", err)
	}
	write(modelsYAML)
	errorLog := make(logLines, 1)

	s, err := catalogue.NewSource(t.Context(), catalogue.SourceOptions{
		Path:     path,
		Getenv:   env,
		Interval: 5 * time.Millisecond,
		Log:      slog.New(slog.NewTextHandler(errorLog, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	if err != nil {
		t.Fatal(err)
	}

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan struct{})

	go func() { s.Run(ctx); close(done) }()
	awaitModels(t, s, 2)
	write("models:\n  - {id: other, upstreams: [{base_url: \"http://x/v1\"}]}\n")
	awaitModels(t, s, 1)
	// An invalid file changes nothing.
	write("models: [{id: broken}]")

	if line := <-errorLog; !strings.Contains(line, "models[0].upstreams") {
		t.Errorf("logged %s, want the field models[0].upstreams", line)
	}
	awaitModels(t, s, 1)
	write(modelsYAML + "# and back\n")
	awaitModels(t, s, 2)
	stop()
	<-done
}

// logLines is an io.Writer that sends each line of a log.
type logLines chan string

func (l logLines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// awaitModels waits until the source has that number of models.
func awaitModels(t *testing.T, s *catalogue.Source, want int) {
	t.Helper()
	wait.Until(t, fmt.Sprintf("the source has %d models", want),
		func() bool { return len(s.Current().Models()) == want })
}

func TestSourceReadsFileThatAppears(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "models.yaml")
	find := func(context.Context) ([]inference.Model, error) { return []inference.Model{{ID: "found"}}, nil }

	s, err := catalogue.NewSource(t.Context(), catalogue.SourceOptions{
		Path: path, Optional: true, Getenv: env, Interval: time.Millisecond, DiscoverInterval: time.Millisecond,
		Discover: []func(context.Context) ([]inference.Model, error){find},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})

	go func() { s.Run(ctx); close(done) }()
	awaitModels(t, s, 1)

	if err := os.WriteFile(path+".new", []byte(modelsYAML), 0o600); err != nil {
		t.Fatal(err)
	}

	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	awaitModels(t, s, 2)
	stop()
	<-done

	if err := syscall.Mkfifo(path+".pipe", 0o600); err != nil {
		t.Fatal(err)
	}

	_, err = catalogue.NewSource(t.Context(), catalogue.SourceOptions{Path: path + ".pipe"})
	if err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a named pipe: got %v, want \"not a regular file\"", err)
	}
}

func TestSourceFollowsModelsOfThisMachine(t *testing.T) {
	t.Parallel()
	var found atomic.Pointer[[]inference.Model]
	found.Store(&[]inference.Model{{ID: "a"}, {ID: "a"}, {ID: "b", Aliases: []string{"a"}}})
	var calls atomic.Int64
	find := func(context.Context) ([]inference.Model, error) {
		calls.Add(1)

		if models := found.Load(); models != nil {
			return *models, nil
		}

		return nil, fmt.Errorf("find: %w", context.DeadlineExceeded)
	}

	s, err := catalogue.NewSource(t.Context(), catalogue.SourceOptions{
		Discover:         []func(context.Context) ([]inference.Model, error){find},
		DiscoverInterval: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}

	if m, err := s.Current().Find("a"); err != nil || m.ID != "a" || len(s.Current().Models()) != 2 {
		t.Errorf("got %+v, %v; want the models a and b, each once", m, err)
	}
	created := s.Current().Models()[0].Created
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})

	go func() { s.Run(ctx); close(done) }()
	found.Store(&[]inference.Model{{ID: "a"}})
	awaitModels(t, s, 1)

	if m := s.Current().Models()[0]; !m.Created.Equal(created) {
		t.Errorf("Created is %s, want %s as before", m.Created, created)
	}
	// A server keeps its models if it does not answer in time.
	found.Store(nil)

	before := calls.Load()
	wait.Until(t, "Discover was called again", func() bool { return calls.Load() >= before+3 })

	if got := s.Current().Models(); len(got) != 1 {
		t.Errorf("the source has %d models of a slow server, want 1", len(got))
	}
	found.Store(&[]inference.Model{})
	awaitModels(t, s, 0)
	stop()
	<-done
}

// FuzzCatalogue checks that Parse reads a file completely, or returns an error that names the file and quotes no
// secret. The catalogue finds every model, and requests can be made to its upstreams.
func FuzzCatalogue(f *testing.F) {
	for _, seed := range []string{
		modelsYAML, "models: [{id: a, aliases: [b, b], upstreams: [{base_url: http://h/v1}]}]", "models: [{id: a, upstreams: [{base_url: http://h/v1, api_key: [SECRET]}]}]",
		"models: [{id: a, upstreams: [{base_url: http://u:SECRET@h/v1?k=SECRET}]}]", "models:\n  - id: a\n    upstreams:\n      - base_url: ${NONE}\n        api_key SECRET\n",
		"models: [{id: a, capabilities: [chat], reasoning: {efforts: []}, routing: {timeout: -1s}, audio: {part: 1h}, upstreams: [{base_url: http://h, headers: {\"A\\r\\nB\": \"c\\n\"}}]}]",
		"models: &m [*m]", "models: [{<<: {id: a}, upstreams: [{base_url: 'http://[::1%25lo]:99999/'}]}]", "models: {a: \"", "---\n---\n", "models:\n\t- id: a",
		"models: [{id: a, upstreams: [{base_url: 'http://h', weight: 99999999999999999999, model: ${KEY:-${KEY}}}]}]",
	} {
		f.Add(seed)
	}
	const secret = "9rYq7"
	f.Fuzz(func(t *testing.T, text string) {
		data := strings.ReplaceAll(text, "api_key: SECRET", "api_key: "+secret)

		c, err := catalogue.Parse("models.yaml", []byte(data),
			func(name string) string { return map[string]string{"KEY": secret}[name] })
		if err != nil {
			if text := err.Error(); !strings.HasPrefix(text, "models.yaml") || strings.Contains(text, secret) {
				t.Errorf("Parse(%q): %s; want the file name and no secret", data, text)
			}

			return
		}

		for _, m := range c.Models() {
			if found, err := c.Find(m.ID); err != nil || found != m {
				t.Errorf("Parse(%q): Find(%q) = %v, %v; want the model", data, m.ID, found, err)
			}

			for _, u := range m.Upstreams {
				r, err := http.NewRequest(http.MethodPost, u.BaseURL+"/chat/completions", nil)
				if err != nil || r.URL.Host == "" || u.Name == "" || u.Kind == "" {
					t.Errorf("Parse(%q): the upstream %+v has no host, name or kind (%v)", data, u, err)
				}
			}
		}
	})
}
