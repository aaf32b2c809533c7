package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/gateway"
)

func TestImagesAreFetchedForEnginesThatCannot(t *testing.T) {
	t.Parallel()

	const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"
	for name, test := range map[string]struct {
		traits  inference.Traits
		data    string
		failure error
		status  int
		sees    string // the start of the image URL that the engine gets
	}{
		"inlined":      {inference.Traits{}, png, nil, 0, "data:image/png;base64,"},
		"passed on":    {inference.Traits{FetchesImages: true}, "", nil, 0, "https://example.org/a.png"},
		"rejected":     {inference.Traits{}, "", fault.Errorf(fault.AddressNotAllowed, "the address is not allowed"), 400, ""},
		"too large":    {inference.Traits{}, "", fault.Errorf(fault.ContentTooLarge, "the image is too large"), 413, ""},
		"not an image": {inference.Traits{}, "hello", nil, 400, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen string
			e := &engine{
				traits: test.traits,
				run: func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
					seen = r.Messages[0].Parts[1].Image.URL
					return answerHello(ctx, r, emit)
				},
			}
			c := inference.NewCatalogue([]inference.Model{
				{
					ID:           "m",
					Capabilities: []string{inference.CanChat, inference.CanVision},
					Upstreams:    []inference.Upstream{{Name: "a", BaseURL: "http://a"}},
				},
			})
			g := gateway.New(gateway.Options{
				Catalogue: func() *inference.Catalogue { return c },
				Open:      func(inference.Upstream) (inference.Engine, error) { return e, nil },
				FetchImage: func(context.Context, string) ([]byte, string, error) {
					return []byte(test.data), "image/png", test.failure
				},
			})
			r := chatRequest()
			r.Messages[0].Parts = append(
				r.Messages[0].Parts,
				inference.Part{Image: &inference.Image{URL: "https://example.org/a.png"}},
			)

			_, err := g.Complete(t.Context(), r, discard)

			got := inference.AsError(err)
			if test.status == 0 && err != nil || test.status != 0 && (got == nil || got.Status != test.status) ||
				!strings.HasPrefix(seen, test.sees) {
				t.Errorf("the engine got %.40q, %v; want %q, status %d", seen, err, test.sees, test.status)
			}

			if r.Messages[0].Parts[1].Image.URL != "https://example.org/a.png" {
				t.Error("the image in the request of the caller was replaced, want it unchanged")
			}
		})
	}
}

func TestJSONCorrectionOffersNoTools(t *testing.T) {
	t.Parallel()
	var offered []int
	e := &engine{run: func(_ context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
		offered = append(offered, len(r.Offered()))

		text := "not JSON"
		if len(offered) == 2 {
			text = "{}"
		}

		return emit(&inference.Delta{Content: text, Finish: "stop"})
	}}
	r := chatRequest()
	r.Format.Type, r.Tools = inference.JSONObject, []inference.Tool{{Type: inference.FunctionTool, Name: "f"}}

	_, err := newGateway(map[string]*engine{"a": e}, nil).Complete(t.Context(), r, discard)
	if err != nil || !slices.Equal(offered, []int{1, 0}) {
		t.Errorf("the calls offered %v tools, want [1 0]: %v", offered, err)
	}
}

func TestAnswersOfMoreThan16MiBFail(t *testing.T) {
	t.Parallel()
	const size = 1 << 20

	text := strings.Repeat("x", size)
	for name, d := range map[string]inference.Delta{
		"content": {Content: text}, "reasoning": {Reasoning: text}, "arguments": {ToolCalls: []inference.RawToolDelta{{Name: "f", Arguments: text}}},
		"another field": {Extra: []byte(`{"annotations":["` + text + `"]}`)},
	} {
		t.Run(name, func(t *testing.T) {
			e := &engine{run: func(_ context.Context, _ *inference.Request, emit func(*inference.Delta) error) error {
				for range 20 { // MiB
					if err := emit(&d); err != nil {
						return err
					}
				}

				return emit(&inference.Delta{Finish: "stop"})
			}}

			g := newGateway(map[string]*engine{"a": e}, func(m *inference.Model) { m.Routing.Retries = new(0) })

			_, err := complete(t.Context(), g)
			if err == nil || err.Status != 502 || !strings.Contains(err.Message, "more than") {
				t.Errorf("got %v, want status 502 and \"more than\"", err)
			}
		})
	}
}

func TestHiddenReasoningHidesItsLogprobs(t *testing.T) {
	t.Parallel()
	probability := func(text string) json.RawMessage {
		return json.RawMessage(`{"content":[{"token":"` + text + `"}],"refusal":null}`)
	}
	e := &engine{run: func(_ context.Context, _ *inference.Request, emit func(*inference.Delta) error) error {
		for _, d := range []inference.Delta{
			{Reasoning: "secret", Logprobs: probability("secret")},
			{Content: "A", Logprobs: probability("A")},
			{Content: "B", Logprobs: probability("B")},
			{Finish: "stop"},
		} {
			if err := emit(&d); err != nil {
				return err
			}
		}

		return nil
	}}

	for format, want := range map[inference.ReasoningFormat]string{inference.Hidden: "AA BB", inference.Parsed: "secretsecret AA BB"} {
		t.Run(string(format), func(t *testing.T) {
			var got []string
			r := chatRequest()
			r.Admitted, r.ReasoningFormat, r.Logprobs = true, format, true
			g := newGateway(
				map[string]*engine{"a": e},
				func(m *inference.Model) { m.Capabilities = append(m.Capabilities, inference.CanLogprobs) },
			)

			_, err := g.Complete(t.Context(), r, func(c *inference.Chunk) error {
				var list struct{ Content []struct{ Token string } }
				if c.Logprobs != nil {
					if err := json.Unmarshal(c.Logprobs, &list); err != nil {
						return err
					}
				}

				for _, p := range list.Content {
					got = append(got, c.Reasoning+c.Content+p.Token)
				}

				return nil
			})
			if err != nil || strings.Join(got, " ") != want {
				t.Errorf("got text and token pairs %v, want %s (%v)", got, want, err)
			}
		})
	}
}

func TestHiddenReasoningIsHiddenInEveryField(t *testing.T) {
	t.Parallel()
	const fields = `{"thinking":"secret","thinking_blocks":[{"thinking":"secret"}],"reasoning_details":[{"text":"secret"}],"reasoning_text":"secret",` +
		`"thoughts":"secret","provider_specific_fields":{"reasoning_content":"secret"},"extra_content":{"google":{"thought":"secret"}},"annotations":[{"type":"url_citation"}],"refusal":"no"}`
	e := &engine{run: func(_ context.Context, _ *inference.Request, emit func(*inference.Delta) error) error {
		return errors.Join(
			emit(&inference.Delta{Reasoning: "secret", Extra: json.RawMessage(fields)}),
			emit(&inference.Delta{Content: "Hi", Finish: "stop"}),
		)
	}}
	r := chatRequest()
	r.Admitted, r.ReasoningFormat = true, inference.Hidden
	var shown []string

	_, err := newGateway(map[string]*engine{"a": e}, nil).Complete(t.Context(), r, func(c *inference.Chunk) error {
		shown = append(shown, c.Content+c.Reasoning+string(c.Extra))
		return nil
	})

	want := `{"annotations":[{"type":"url_citation"}],"refusal":"no"}Hi`
	if got := strings.Join(shown, ""); err != nil || got != want {
		t.Errorf("emitted %s, %v; want %s", got, err, want)
	}
}
