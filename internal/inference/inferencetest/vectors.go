package inferencetest

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// vectorRequest is a request for embeddings or a ranking.
type vectorRequest struct {
	Model          string          `json:"model"`
	Input          json.RawMessage `json:"input"`
	Dimensions     int             `json:"dimensions"`
	EncodingFormat string          `json:"encoding_format"`
	Query          string          `json:"query"`
	Documents      []string        `json:"documents"`
}

// Vector returns the vector of a text: its length in bytes, then its bytes, and zeros up to the given length.
func Vector(text string, dimensions int) []float32 {
	v := make([]float32, dimensions)
	v[0] = float32(len(text))

	for i := range min(len(text), dimensions-1) {
		v[i+1] = float32(text[i]) / 256
	}

	return v
}

// vectorizers are the models that embed texts, by name. Their vectors have 8 numbers, unless the argument or the
// request says otherwise. Tokens are embedded as their JSON.
var vectorizers = map[string]func(*vectorCall){
	"vector": func(c *vectorCall) { c.answer(c.vectors()) },
	// vector-paced takes a millisecond for each text.
	"vector-paced": func(c *vectorCall) {
		if list := c.vectors(); c.pause(time.Duration(len(list)) * time.Millisecond) {
			c.answer(list)
		}
	},
	// vector-reversed sends the vectors in the reverse order, with their indices.
	"vector-reversed": func(c *vectorCall) {
		list := c.vectors()
		slices.Reverse(list)
		c.answer(list)
	},
	// vector-fixed ignores dimensions.
	"vector-fixed": func(c *vectorCall) {
		c.request.Dimensions = 0
		c.answer(c.vectors())
	},
	// vector-uncounted sends no usage.
	"vector-uncounted": func(c *vectorCall) {
		c.uncounted = true
		c.answer(c.vectors())
	},
	"vector-short": func(c *vectorCall) { c.answer(c.vectors()[1:]) },
	"vector-nan": func(c *vectorCall) {
		nan := binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(math.NaN())))
		c.sendJSON(fmt.Sprintf(`{"data":[{"index":0,"embedding":%q}]}`, base64.StdEncoding.EncodeToString(nan)))
	},
	"vector-error":  func(c *vectorCall) { c.sendJSON(`{"error":{"message":"no such pooling","code":400}}`) },
	"vector-broken": func(c *vectorCall) { c.sendJSON(`{"data":[{"embedding":[1,`) },
	"vector-hang":   func(c *vectorCall) { c.hang() },
	"vector-fail-once": func(c *vectorCall) {
		if c.index == 0 {
			fail(c.w, http.StatusInternalServerError, "scripted failure")
			return
		}
		c.answer(c.vectors())
	},
}

// rankers are the models that rank documents, by name.
var rankers = map[string]func(*vectorCall){
	// ranker scores a document by the share of its words that are in the query.
	"ranker": func(c *vectorCall) { c.answerRanks(c.ranks(), "results", "relevance_score") },
	// ranker-scores has Voyage's list and the field score.
	"ranker-scores": func(c *vectorCall) { c.answerRanks(c.ranks(), "data", "score") },
	"ranker-short":  func(c *vectorCall) { c.answerRanks(c.ranks()[1:], "results", "relevance_score") },
	"ranker-twice": func(c *vectorCall) {
		c.sendJSON(`{"results":[{"index":0,"relevance_score":1},{"index":0,"relevance_score":1}]}`)
	},
}

// vectorCall is a request for vectors or a ranking that a scenario answers.
type vectorCall struct {
	*call
	request   vectorRequest
	uncounted bool // the answer has no usage
}

// inputs returns the texts of the request, or the JSON of each list of tokens.
func (c *vectorCall) inputs() []string {
	var text string
	var texts []string
	var lists []json.RawMessage

	if json.Unmarshal(c.request.Input, &text) == nil {
		return []string{text}
	}

	if json.Unmarshal(c.request.Input, &texts) == nil {
		return texts
	}
	texts = nil
	_ = json.Unmarshal(c.request.Input, &lists)

	for _, tokens := range lists {
		texts = append(texts, string(tokens))
	}

	return texts
}

// vectors returns the JSON of the vector of each input.
func (c *vectorCall) vectors() []string {
	dimensions, _ := strconv.Atoi(c.argument)
	if c.request.Dimensions > 0 {
		dimensions = c.request.Dimensions
	}

	if dimensions == 0 {
		dimensions = 8
	}
	var list []string

	for i, text := range c.inputs() {
		vector := Vector(text, dimensions)
		value, _ := json.Marshal(vector)

		if c.request.EncodingFormat == "base64" {
			var b []byte
			for _, f := range vector {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
			}
			value = []byte(quote(base64.StdEncoding.EncodeToString(b)))
		}
		list = append(list, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":%s}`, i, value))
	}

	return list
}

// answer sends a list of vectors, with one token of usage for each word.
func (c *vectorCall) answer(list []string) {
	usage := ""

	if !c.uncounted {
		tokens := 0
		for _, text := range c.inputs() {
			tokens += len(words(text))
		}
		usage = fmt.Sprintf(`,"usage":{"prompt_tokens":%d,"total_tokens":%[1]d}`, tokens)
	}
	c.sendJSON(fmt.Sprintf(`{"object":"list","data":[%s],"model":"m"%s}`, strings.Join(list, ","), usage))
}

// ranks returns the score of each document.
func (c *vectorCall) ranks() []float64 {
	scores := make([]float64, len(c.request.Documents))
	for i, document := range c.request.Documents {
		inQuery := 0
		all := strings.Fields(document)

		for _, w := range all {
			if slices.Contains(strings.Fields(c.request.Query), w) {
				inQuery++
			}
		}
		scores[i] = float64(inQuery) / float64(max(1, len(all)))
	}

	return scores
}

// answerRanks sends the scores of the documents. list and field are the names of the JSON fields.
func (c *vectorCall) answerRanks(scores []float64, list, field string) {
	var ranks []string
	for i, score := range scores {
		ranks = append(ranks, fmt.Sprintf(`{"index":%d,%q:%g}`, i, field, score))
	}
	c.sendJSON(fmt.Sprintf(`{%q:[%s],"usage":{"total_tokens":%d}}`,
		list, strings.Join(ranks, ","), 10*len(c.request.Documents)))
}

// vectorize answers a request for embeddings or a ranking with the scenario of its model.
func (s *Server) vectorize(w http.ResponseWriter, r *http.Request, known map[string]func(*vectorCall)) {
	raw, err := io.ReadAll(r.Body)

	v := &vectorCall{}
	if err != nil || json.Unmarshal(raw, &v.request) != nil {
		fail(w, http.StatusBadRequest, "the body is not JSON")
		return
	}
	name, argument, _ := strings.Cut(path.Base(v.request.Model), ":")

	scenario := known[name]
	if scenario == nil {
		fail(w, http.StatusNotFound, fmt.Sprintf("model %q not found", v.request.Model))
		return
	}
	v.call = &call{w: w, r: r, argument: argument}
	s.change(func() {
		s.requests = append(s.requests, Request{Header: r.Header.Clone(), Raw: raw})
		v.index = s.seen[v.request.Model]
		s.seen[v.request.Model]++
	})
	scenario(v)

	if r.Context().Err() != nil {
		s.change(func() { s.disconnected++ })
	}
}
