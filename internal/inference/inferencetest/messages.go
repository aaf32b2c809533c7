package inferencetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
)

// The parts of streams of the Messages API.
const (
	messageStart = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant",` +
		`"model":"claude","content":[],"stop_reason":null,"usage":{"input_tokens":7,` +
		`"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":1}}}`
	messageStop = `{"type":"message_stop"}`
	textStart   = `{"type":"content_block_start","index":%d,"content_block":{"type":"text","text":""}}`
	textDelta   = `{"type":"content_block_delta","index":%d,"delta":{"type":"text_delta","text":%s}}`
	blockStop   = `{"type":"content_block_stop","index":%d}`
	ping        = `{"type":"ping"}`
)

// messageScenarios are the models of POST /v1/messages with the events that they send. A scenario without events
// fails with the status in its name.
var messageScenarios = map[string]func(body string) []string{
	"claude-text": func(string) []string {
		return append(texts(0, "Hello", " there."), messageEnd("end_turn", "null", 5), messageStop)
	},
	// claude-think signs its thoughts, one of them hidden, before it answers.
	"claude-think": func(string) []string {
		return append(thoughts(), append(texts(2, "Oslo."), messageEnd("end_turn", "null", 9), messageStop)...)
	},
	// claude-call thinks and calls a tool twice; it answers when it has the results.
	"claude-call": func(body string) []string {
		if strings.Contains(body, `"tool_result"`) {
			return append(texts(0, "Sunny."), messageEnd("end_turn", "null", 3), messageStop)
		}

		return append(
			thoughts(),
			`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"weather","input":{}}}`,
			`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"city\":"}}`,
			`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"\"Oslo\"}"}}`,
			fmt.Sprintf(blockStop, 2),
			`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_2","name":"weather",`+
				`"input":{"city":"Rome"}}}`,
			fmt.Sprintf(blockStop, 3),
			messageEnd("tool_use", "null", 12),
			messageStop,
		)
	},
	"claude-cite": func(string) []string {
		events := texts(0, "Water is wet.")
		citation := `{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{` +
			`"type":"char_location","cited_text":"It is wet.","document_index":0,"start_char_index":0,"end_char_index":10}}}`

		return append(
			append(events[:len(events)-1], citation, events[len(events)-1]),
			messageEnd("end_turn", "null", 4), messageStop,
		)
	},
	"claude-stop": func(string) []string {
		return append(texts(0, "One"), messageEnd("stop_sequence", `"two"`, 1), messageStop)
	},
	"claude-length": func(string) []string {
		return append(texts(0, "One"), messageEnd("max_tokens", "null", 1), messageStop)
	},
	"claude-refusal": func(string) []string {
		return append(texts(0, "I"), messageEnd("refusal", "null", 1), messageStop)
	},
	// claude-strange sends events, blocks and deltas that no client knows.
	"claude-strange": func(string) []string {
		events := texts(0, "Hello.")
		strange := []string{
			`{"type":"content_block_delta","index":9,"delta":{"type":"text_delta","text":"lost"}}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"hologram","text":"lost"}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"hologram_delta","text":"lost"}}`,
			`{"type":"content_block_stop","index":1}`,
			`{"type":"content_block_stop","index":77}`,
			`{"type":"new_event"}`,
			`{"type":5,"index":"x"}`,
		}

		return append(append(events, strange...), messageEnd("end_turn", "null", 5), messageStop)
	},
	"claude-cut":   func(string) []string { events := texts(0, "Hel"); return events[:len(events)-1] },
	"claude-pause": func(string) []string { return append(texts(0, "Hel"), messageEnd("pause_turn", "null", 1)) },
	"claude-fails": func(string) []string {
		return []string{messageStart, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}
	},
	"claude-breaks": func(string) []string {
		return append(texts(0, "Hel"), `{"type":"error","error":{"type":"api_error","message":"Internal"}}`)
	},
	"claude-529": nil,
	"claude-400": nil,
	"claude-401": nil,
}

// texts returns the start of a message if index is 0, and a block with a text.
func texts(index int, pieces ...string) []string {
	var events []string
	if index == 0 {
		events = []string{messageStart}
	}
	events = append(events, fmt.Sprintf(textStart, index), ping)

	for _, piece := range pieces {
		events = append(events, fmt.Sprintf(textDelta, index, quote(piece)))
	}

	return append(events, fmt.Sprintf(blockStop, index))
}

// thoughts returns the start of a message with two thoughts.
func thoughts() []string {
	return []string{
		messageStart,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Which"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":" city?"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2lnbmVk"}}`,
		fmt.Sprintf(blockStop, 0),
		`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"aGlkZGVu"}}`,
		fmt.Sprintf(blockStop, 1),
	}
}

// messageEnd returns the event with the reason for the end. sequence is JSON: the stop sequence, or null.
func messageEnd(reason, sequence string, tokens int) string {
	return fmt.Sprintf(
		`{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":%s},"usage":{"output_tokens":%d}}`,
		reason,
		sequence,
		tokens,
	)
}

// message answers POST /v1/messages.
func (s *Server) message(w http.ResponseWriter, r *http.Request) {
	raw, name := s.keepMessage(r)

	events, known := messageScenarios[name]
	if !known {
		failMessage(w, http.StatusNotFound, "not_found_error", "model: "+name)
		return
	}

	switch name {
	case "claude-529":
		failMessage(w, 529, "overloaded_error", "Overloaded")
		return
	case "claude-400":
		failMessage(w, http.StatusBadRequest, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum")
		return
	case "claude-401":
		failMessage(w, http.StatusUnauthorized, "authentication_error", "invalid x-api-key")
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")

	for _, data := range events(string(raw)) {
		var e struct {
			Type string `json:"type"`
		}
		_ = json.Unmarshal([]byte(data), &e)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.Type, data)
		w.(http.Flusher).Flush()
	}
}

// keepMessage records a request and returns its body and the model.
func (s *Server) keepMessage(r *http.Request) (raw []byte, model string) {
	raw, _ = io.ReadAll(r.Body)
	req := Request{Header: r.Header.Clone(), Raw: raw}
	_ = json.Unmarshal(raw, &req.Body)
	s.change(func() { s.requests = append(s.requests, req) })

	return raw, path.Base(req.Body.Model)
}

// failMessage sends an error in the form of the Messages API.
func failMessage(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"type":"error","error":{"type":%q,"message":%q}}`, kind, message)
}
