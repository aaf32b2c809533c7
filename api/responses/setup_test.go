package responses_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"presswork/api/responses"
	"presswork/internal/inference"
	"presswork/internal/inference/gateway"
	"presswork/internal/inference/inferencetest"
	"presswork/internal/inference/openai"
	"presswork/internal/inference/seal"
	"presswork/internal/test/wait"
)

// owner is the holder of the key in these tests.
const owner = "ann"

func sealer(t testing.TB, secret string) *seal.Sealer {
	t.Helper()

	s, err := seal.New([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}

	return s
}

func parse(t testing.TB, body string) (*inference.Request, *responses.Format, error) {
	t.Helper()

	r, f, err := responses.Parse([]byte(body), responses.Options{
		CheckModel: func(string) error { return nil }, Owner: owner, Sealer: sealer(t, "0123456789abcdef"),
	})
	if err == nil {
		f.Model, f.Created = r.Model, time.Unix(1770770815, 0)
	}

	return r, f, err
}

// answer is what a model that plays a scenario sends for a request, in chunks.
type answer struct {
	format *responses.Format
	chunks []*inference.Chunk
	err    error
}

// ask runs a request with the scripted model that its body names.
func ask(t *testing.T, base string, tools inference.Toolbox, body string) answer {
	t.Helper()

	r, format, err := parse(t, body)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	c := inference.NewCatalogue([]inference.Model{{
		ID: r.Model,
		Capabilities: []string{
			inference.CanChat, inference.CanTools, inference.CanVision, inference.CanReason,
			inference.CanLogprobs, inference.CanChoices,
		},
		Upstreams: []inference.Upstream{{Name: "scripted", BaseURL: base}},
	}})
	g := gateway.New(gateway.Options{
		Catalogue: func() *inference.Catalogue { return c }, Open: openai.New, Tools: tools,
	})

	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()
	a := answer{format: format}

	_, a.err = g.Complete(ctx, r, func(chunk *inference.Chunk) error {
		a.chunks = append(a.chunks, chunk)
		return nil
	})

	return a
}

// events returns the stream of an answer.
func (a answer) events() string {
	w := a.format.Events("call")

	out := w.Begin(nil)
	for _, chunk := range a.chunks {
		out = w.Append(out, chunk)
	}

	if a.err != nil {
		return string(w.Fail(out, inference.AsError(a.err)))
	}

	return string(w.End(out))
}

// whole returns the body of an answer that is sent whole.
func (a answer) whole() string {
	c := a.format.Collector("call")
	for _, chunk := range a.chunks {
		c.Add(&inference.Frame{Chunk: chunk})
	}

	return string(c.Append(nil))
}

// readable hides the fields that repeat the request, which are the same in every event.
func readable(events string) string {
	lines := strings.Split(events, "\n")
	for i, line := range lines {
		before, rest, found := strings.Cut(line, `"background":false,`)
		if !found {
			continue
		}

		if _, after, ok := strings.Cut(rest, `"model":`); ok {
			lines[i] = before + `…,"model":` + after
		}
	}

	return completedAt.ReplaceAllString(strings.Join(lines, "\n"), `"completed_at":0`)
}

// completedAt is a time that depends on the speed of the machine.
var completedAt = regexp.MustCompile(`"completed_at":\d+`)

func start(t *testing.T) string {
	_, base := inferencetest.Start(t)
	return base
}
