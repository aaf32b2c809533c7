package inferencetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"
)

// Counted is the number of tokens that POST /v1/messages/count_tokens and vLLM's /tokenize return.
const Counted = 4321

// countTokens answers the routes that count tokens: POST /v1/messages/count_tokens, /tokenize of vLLM and of
// llama-server, and /apply-template of llama-server. The model "count-broken" gets status 404. The
// template of llama-server has one word, which is one token, for each message and each tool.
func (s *Server) countTokens(w http.ResponseWriter, r *http.Request) {
	raw, model := s.keepMessage(r)
	if model == "count-broken" {
		fail(w, http.StatusNotFound, "File Not Found")
		return
	}

	var body struct {
		Messages []json.RawMessage `json:"messages"`
		Tools    []json.RawMessage `json:"tools"`
		Content  *string           `json:"content"`
	}
	_ = json.Unmarshal(raw, &body)
	w.Header().Set("Content-Type", "application/json")

	switch route := path.Base(r.URL.Path); {
	case route == "apply-template":
		fmt.Fprintf(w, `{"prompt":%q}`, strings.Repeat("word ", len(body.Messages)+len(body.Tools)))
	case route == "count_tokens":
		fmt.Fprintf(w, `{"input_tokens":%d}`, Counted)
	case body.Content != nil:
		ids := make([]int, len(strings.Fields(*body.Content)))
		_ = json.NewEncoder(w).Encode(map[string]any{"tokens": ids})
	default:
		fmt.Fprintf(w, `{"count":%d,"max_model_len":8192,"tokens":[]}`, Counted)
	}
}
