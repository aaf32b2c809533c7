package inferencetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
)

// relay answers POST /v1/images/generations and /v1/moderations with the fields of the request. The model
// "relay-large" sends an image of 1 MB in base64, "relay-broken" invalid JSON, and "relay-limited" status 429.
func (s *Server) relay(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	req := Request{Header: r.Header.Clone(), Raw: raw}
	_ = json.Unmarshal(raw, &req.Body)
	s.change(func() { s.requests = append(s.requests, req) })

	if !json.Valid(raw) {
		fail(w, http.StatusBadRequest, "the body is not JSON")
		return
	}
	image := "aGk="

	switch path.Base(req.Body.Model) {
	case "relay-large":
		image = strings.Repeat("aGkh", 1<<18)
	case "relay-broken":
		fmt.Fprint(w, "<html>")
		return
	case "relay-limited":
		fail(w, http.StatusTooManyRequests, "slow down")
		return
	}
	w.Header().Set("Content-Type", "application/json")

	if path.Base(r.URL.Path) == "moderations" {
		fmt.Fprintf(w, `{"id":"modr-1","model":%q,"results":[{"flagged":true}],"got":%s}`, req.Body.Model, raw)
		return
	}
	fmt.Fprintf(w, `{"created":1,"data":[{"b64_json":%q}],"usage":{"input_tokens":5,"output_tokens":7},"got":%s}`,
		image, raw)
}
