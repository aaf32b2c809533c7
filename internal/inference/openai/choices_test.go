package openai_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"presswork/internal/inference"
	"presswork/internal/inference/inferencetest"
	"presswork/internal/inference/openai"
)

// choice is one answer of a chat or of a text, whole or in pieces.
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

// bothWays returns the answers to a request twice: from a Collector, and joined from the events of a Writer.
func bothWays(
	t *testing.T,
	base, scenario string,
	r *inference.Request,
) (whole, streamed []choice, object string, result inference.Result, err error) {
	t.Helper()
	m := model(scenario, inference.VLLM, base)
	head := openai.HeadOf(r)
	collector, writer := openai.NewCollector(head), openai.NewWriter(head)
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
			t.Fatalf("%v: %s", jerr, event)
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
					s.Logprobs.Content, s.Logprobs.Tokens = append(
						s.Logprobs.Content,
						c.Logprobs.Content...), append(
						s.Logprobs.Tokens,
						c.Logprobs.Tokens...)
				}
			}
		}
	}

	return body.Choices, streamed, body.Object, result, err
}

func TestSeveralAnswersWithTheirLogProbabilities(t *testing.T) {
	t.Parallel()
	server, base := inferencetest.Start(t)
	r := parse(t, `{"model":"many","n":3,"logprobs":true,"top_logprobs":2,"messages":[{"role":"user","content":"Hi"}]}`)

	whole, streamed, object, result, err := bothWays(t, base, "many", r)
	if err != nil || object != "chat.completion" || len(whole) != 3 {
		t.Fatalf("%d answers as %s: %v", len(whole), object, err)
	}

	for i := range whole {
		for _, c := range []choice{whole[i], streamed[i]} {
			if c.Index != i || c.Message.Content != fmt.Sprintf("Answer number %d", i) || c.Finish != "stop" ||
				c.Logprobs == nil ||
				fmt.Sprint(c.Logprobs.Content) != fmt.Sprintf("[{Answer} { number} { %d}]", i) {
				t.Errorf("answer %d: %+v", i, c)
			}
		}

		if streamed[i].Delta.Role != "assistant" {
			t.Errorf("answer %d has the role %q", i, streamed[i].Delta.Role)
		}
	}

	if u := result.Usage; u.PromptTokens != 11 || u.CompletionTokens != 9 {
		t.Errorf("usage %+v", u)
	}

	if b := string(server.Requests()[0].Raw); !strings.Contains(b, `"n":3,"logprobs":true,"top_logprobs":2`) {
		t.Errorf("sent %s", b)
	}

	_, _, _, _, err = bothWays(t, base, "few",
		parse(t, `{"model":"few","n":2,"messages":[{"role":"user","content":"Hi"}]}`))

	e := inference.AsError(err)
	if e == nil || e.Code != inference.UpstreamError || !strings.Contains(e.Message, "fewer answers") {
		t.Errorf("one answer for two: %+v", e)
	}
}

func TestTextsAreContinued(t *testing.T) {
	t.Parallel()
	server, base := inferencetest.Start(t)

	r, err := openai.ParseTextRequest(
		[]byte(
			`{"model":"many","prompt":["Once","<think>Twice"],"n":2,"logprobs":1,"echo":true,"suffix":".","stop":"x","max_tokens":7,"stream":true}`,
		),
		openai.ParseOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}

	whole, streamed, object, result, err := bothWays(t, base, "many", r)
	if err != nil || object != "text_completion" || len(whole) != 4 {
		t.Fatalf("%d answers as %s: %v", len(whole), object, err)
	}

	for i := range whole {
		for _, c := range []choice{whole[i], streamed[i]} {
			if c.Index != i || c.Text != fmt.Sprintf("Answer number %d", i) || c.Finish != "stop" ||
				c.Logprobs == nil || strings.Join(c.Logprobs.Tokens, "") != c.Text {
				t.Errorf("answer %d: %+v", i, c)
			}
		}
	}

	if u := result.Usage; u.PromptTokens != 11 || u.CompletionTokens != 12 {
		t.Errorf("usage %+v", u)
	}

	want := `{"model":"many","prompt":["Once","\u003cthink\u003eTwice"],"suffix":".","echo":true,"stream":true,"stream_options":{"include_usage":true},"max_tokens":7,"stop":["x"],"n":2,"logprobs":1}`
	if b := string(server.Requests()[0].Raw); b != want {
		t.Errorf("sent %s", b)
	}

	_, err = newGateway(model("many", inference.Plain, base)).Complete(t.Context(), r, nil)

	e := inference.AsError(err)
	if e == nil || e.Status != 400 || e.Param != "model" || !strings.Contains(e.Message, "/v1/chat/completions") {
		t.Errorf("from an engine that is not known to continue texts: %+v", e)
	}
}
