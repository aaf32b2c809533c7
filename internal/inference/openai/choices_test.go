package openai_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"presswork/internal/inference"
	"presswork/internal/inference/inferencetest"
	"presswork/internal/inference/openai/wire"
)

// choice is one choice of a chat or text completion, or a piece of it in a stream.
type choice struct {
	Index   int    `json:"index"`
	Text    string `json:"text"`
	Message struct {
		Content string `json:"content"`
	} `json:"message"`
	Delta struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"delta"`
	Logprobs *struct {
		Content []struct{ Token string } `json:"content"`
		Tokens  []string                 `json:"tokens"`
	} `json:"logprobs"`
	Finish string `json:"finish_reason"`
}

// completeBothWays runs a request once. It returns the choices as a Collector writes them, and the choices joined from
// the events of a Writer.
func completeBothWays(
	t *testing.T,
	base, scenario string,
	r *inference.Request,
) (whole, streamed []choice, object string, result inference.Result, err error) {
	t.Helper()
	m := model(scenario, inference.VLLM, base)
	head := wire.HeadOf(r)
	collector, writer := wire.NewCollector(head), wire.NewWriter(head)
	var events []byte
	result, err = newGateway(m).Complete(t.Context(), r, func(c *inference.Chunk) error {
		collector.Add(&inference.Frame{Chunk: c})
		events = writer.Append(events, c)

		return nil
	})

	var body struct {
		Object  string
		Choices []choice
	}
	if jerr := json.Unmarshal(collector.Append(nil), &body); jerr != nil {
		t.Fatal(jerr)
	}
	streamed = make([]choice, len(body.Choices))

	for event := range strings.SplitSeq(strings.TrimSpace(string(events)), "\n\n") {
		if event == "" {
			continue
		}

		var chunk struct{ Choices []choice }
		if jerr := json.Unmarshal([]byte(strings.TrimPrefix(event, "data: ")), &chunk); jerr != nil {
			t.Fatalf("an event is not JSON: %v: %s", jerr, event)
		}

		for _, c := range chunk.Choices {
			s := &streamed[c.Index]
			s.Index, s.Text, s.Finish = c.Index, s.Text+c.Text, s.Finish+c.Finish
			s.Message.Content += c.Delta.Content

			s.Delta.Role += c.Delta.Role
			if c.Logprobs != nil {
				if s.Logprobs == nil {
					s.Logprobs = c.Logprobs
				} else {
					s.Logprobs.Content = append(s.Logprobs.Content, c.Logprobs.Content...)
					s.Logprobs.Tokens = append(s.Logprobs.Tokens, c.Logprobs.Tokens...)
				}
			}
		}
	}

	return body.Choices, streamed, body.Object, result, err
}

func TestSeveralAnswersHaveTheirLogProbabilities(t *testing.T) {
	t.Parallel()
	server, base := inferencetest.Start(t)
	r := chat(t, "many", `"n":3,"logprobs":true,"top_logprobs":2`)

	whole, streamed, object, result, err := completeBothWays(t, base, "many", r)
	if err != nil || object != "chat.completion" || len(whole) != 3 {
		t.Fatalf("got %d choices as %s, %v; want 3 as chat.completion", len(whole), object, err)
	}

	for i := range whole {
		for _, c := range []choice{whole[i], streamed[i]} {
			if c.Index != i || c.Message.Content != fmt.Sprintf("Answer number %d", i) || c.Finish != "stop" ||
				c.Logprobs == nil ||
				fmt.Sprint(c.Logprobs.Content) != fmt.Sprintf("[{Answer} { number} { %d}]", i) {
				t.Errorf("choice %d: got %+v, want \"Answer number %d\" with its log probabilities", i, c, i)
			}
		}

		if streamed[i].Delta.Role != "assistant" {
			t.Errorf("choice %d has the role %q, want assistant once", i, streamed[i].Delta.Role)
		}
	}

	if u := result.Usage; u.PromptTokens != 11 || u.CompletionTokens != 9 {
		t.Errorf("usage is %+v, want 11 prompt and 9 completion tokens", u)
	}

	if b := string(server.Requests()[0].Raw); !strings.Contains(b, `"n":3,"logprobs":true,"top_logprobs":2`) {
		t.Errorf("sent %s, want the fields n, logprobs and top_logprobs", b)
	}

	_, _, _, _, err = completeBothWays(t, base, "few", chat(t, "few", `"n":2`))

	e := inference.AsError(err)
	if e == nil || e.Code != inference.UpstreamError || !strings.Contains(e.Message, "fewer answers") {
		t.Errorf("one choice instead of two: got %+v, want %s", e, inference.UpstreamError)
	}
}

func TestTextsAreContinued(t *testing.T) {
	t.Parallel()
	server, base := inferencetest.Start(t)

	r, err := wire.ParseTextRequest(
		[]byte(
			`{"model":"many","prompt":["Once","<think>Twice"],"n":2,"logprobs":1,"echo":true,"suffix":".","stop":"x","max_tokens":7,"stream":true}`,
		),
		wire.ParseOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}

	whole, streamed, object, result, err := completeBothWays(t, base, "many", r)
	if err != nil || object != "text_completion" || len(whole) != 4 {
		t.Fatalf("got %d choices as %s, %v; want 4 as text_completion", len(whole), object, err)
	}

	for i := range whole {
		for _, c := range []choice{whole[i], streamed[i]} {
			if c.Index != i || c.Text != fmt.Sprintf("Answer number %d", i) || c.Finish != "stop" ||
				c.Logprobs == nil || strings.Join(c.Logprobs.Tokens, "") != c.Text {
				t.Errorf("choice %d: got %+v, want \"Answer number %d\" with its log probabilities", i, c, i)
			}
		}
	}

	if u := result.Usage; u.PromptTokens != 11 || u.CompletionTokens != 12 {
		t.Errorf("usage is %+v, want 11 prompt and 12 completion tokens", u)
	}

	want := `{"model":"many","prompt":["Once","\u003cthink\u003eTwice"],"suffix":".","echo":true,"stream":true,"stream_options":{"include_usage":true},"max_tokens":7,"stop":["x"],"n":2,"logprobs":1}`
	if b := string(server.Requests()[0].Raw); b != want {
		t.Errorf("the upstream got %s, want %s", b, want)
	}

	_, err = newGateway(model("many", inference.Plain, base)).Complete(t.Context(), r, nil)

	e := inference.AsError(err)
	if e == nil || e.Status != 400 || e.Param != "model" || !strings.Contains(e.Message, "/v1/chat/completions") {
		t.Errorf("an engine that cannot continue texts: got %+v, want status 400 for model", e)
	}
}
