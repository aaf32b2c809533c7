package inference

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"

	"presswork/internal/fault"
)

// Frame is a message of a worker to the API about a completion. It has a Chunk; the last one has the Result, and
// the Error of a failed completion.
type Frame struct {
	// QueueTime is how long the request waited for the worker, in seconds; it is on the first frame.
	QueueTime float64 `json:"queue_time,omitempty"`
	Chunk     *Chunk  `json:"chunk,omitempty"`
	// Sound replaces Chunk in the answer to a Speech.
	Sound *Sound `json:"sound,omitempty"`
	// Vectors and Ranking replace Chunk in the answers to an Embedding and a Reranking.
	Vectors *Vectors `json:"vectors,omitempty"`
	Ranking *Ranking `json:"ranking,omitempty"`
	// Relayed replaces Chunk in the answer to a Relay.
	Relayed *Relayed `json:"relayed,omitempty"`
	// Counted replaces Chunk in the answer to a Job with Count.
	Counted *TokenCount `json:"counted,omitempty"`
	// Result and Error are on the last frame.
	Result *Result `json:"result,omitempty"`
	Error  *Error  `json:"error,omitempty"`
}

// Job is the body of a call from the API to a worker. It has one of the requests.
type Job struct {
	// Request is a request that Admit has accepted. With Count its tokens are counted and it gets no answer.
	Request   *Request   `json:"request,omitempty"`
	Count     bool       `json:"count,omitempty"`
	Speech    *Speech    `json:"speech,omitempty"`
	Embedding *Embedding `json:"embedding,omitempty"`
	Reranking *Reranking `json:"reranking,omitempty"`
	Relay     *Relay     `json:"relay,omitempty"`
	// TPM and TPD are the limits of the key in tokens per minute and per day; 0 is none. The API has reserved tokens
	// in them; the worker settles the actual use.
	TPM int `json:"tpm,omitempty"`
	TPD int `json:"tpd,omitempty"`
}

// Streams reports whether the caller reads the answer while it is generated.
func (j *Job) Streams() bool { return j.Speech != nil || j.Request != nil && j.Request.Stream }

// The JSON of a frame with only a piece of text, as nearly all frames are. Writing and reading it without
// encoding/json takes a tenth of the time.
const (
	contentFrame   = `{"chunk":{"content":"`
	reasoningFrame = `{"chunk":{"reasoning":"`
	endOfFrame     = `"}}`
	// vectorsFrame begins a frame with only vectors, which are large: their JSON is written and read in one pass.
	vectorsFrame = `{"vectors":{"data":["`
	nextVector   = `","`
	endOfVectors = `"]}}`
)

// Append appends the JSON of a frame to b. An error is that of encoding/json, for raw JSON that is invalid.
func (f *Frame) Append(b []byte) ([]byte, error) {
	if c := f.Chunk; c != nil && *f == (Frame{Chunk: c}) {
		switch content, reasoning := c.onlyText(); {
		case content && Unescaped(c.Content):
			return append(append(append(b, contentFrame...), c.Content...), endOfFrame...), nil
		case reasoning && Unescaped(c.Reasoning):
			return append(append(append(b, reasoningFrame...), c.Reasoning...), endOfFrame...), nil
		}
	}

	if v := f.Vectors; v != nil && !v.First && *f == (Frame{Vectors: v}) {
		return appendVectors(b, v), nil
	}
	whole, err := json.Marshal(f)

	return append(b, whole...), err
}

// onlyText reports whether a chunk has only content or only reasoning.
func (c *Chunk) onlyText() (content, reasoning bool) {
	lists := len(c.ToolCalls) + len(c.Executed) + len(c.Listings) + len(c.Approvals) + len(c.Extra) + len(c.Logprobs)

	hasOther := c.Choice != 0 || c.First || c.Fingerprint != "" || c.Thought != nil || c.Finish != "" || c.Usage != nil
	if hasOther || lists > 0 { // Model, Ignored and StopSequence occur only with First and Finish
		return false, false
	}

	return c.Reasoning == "", c.Content == ""
}

// decode decodes the JSON of a frame.
func (f *Frame) decode(b []byte) error {
	// Most frames are a piece of text without escapes. They are read without the JSON decoder.
	if middle, ok := bytes.CutSuffix(b, []byte(endOfFrame)); ok {
		if text, ok := bytes.CutPrefix(middle, []byte(contentFrame)); ok && Unescaped(text) {
			f.Chunk = &Chunk{Content: string(text)}
			return nil
		}

		if text, ok := bytes.CutPrefix(middle, []byte(reasoningFrame)); ok && Unescaped(text) {
			f.Chunk = &Chunk{Reasoning: string(text)}
			return nil
		}
	}

	if list, ok := bytes.CutPrefix(b, []byte(vectorsFrame)); ok {
		if v := readVectors(list); v != nil {
			f.Vectors = v
			return nil
		}
	}

	return json.Unmarshal(b, f)
}

// appendVectors appends the JSON of a frame with only vectors.
func appendVectors(b []byte, v *Vectors) []byte {
	size := len(vectorsFrame) + len(endOfVectors)
	for _, vector := range v.Data {
		size += len(vector) + len(nextVector)
	}
	b = append(slices.Grow(b, size), vectorsFrame...)

	for i, vector := range v.Data {
		if i > 0 {
			b = append(b, nextVector...)
		}
		b = append(b, vector...)
	}

	return append(b, endOfVectors...)
}

// readVectors reads the rest of a frame after vectorsFrame. It returns nil for another form.
func readVectors(list []byte) *Vectors {
	list, ok := bytes.CutSuffix(list, []byte(endOfVectors))
	// Another form has quotes or backslashes within a vector. The worker has checked the base64.
	quotes := 2 * bytes.Count(list, []byte(nextVector))
	if !ok || bytes.IndexByte(list, '\\') >= 0 || bytes.Count(list, []byte(`"`)) != quotes {
		return nil
	}
	v := &Vectors{}

	for item := range bytes.SplitSeq(list, []byte(nextVector)) {
		v.Data = append(v.Data, Vector(item))
	}

	return v
}

// ReadFrames decodes the JSON of frames. After an error it returns the frames before it. ended reports whether the
// answer is over. Errors are *Error: that of a failed completion, or a 500 for a frame that cannot be decoded.
func ReadFrames(raw [][]byte) (frames []Frame, ended bool, err error) {
	frames = make([]Frame, len(raw))
	for i, b := range raw {
		if err := frames[i].decode(b); err != nil {
			return frames[:i], true, Errorf(http.StatusInternalServerError, fault.Internal,
				"the worker's answer cannot be read").WithCause(err)
		}

		if e := frames[i].Error; e != nil {
			return frames[:i], true, e
		}
		ended = ended || frames[i].Result != nil
	}

	return frames, ended, nil
}

// NoResult returns the error for an answer that ends without a Result and without an Error, with status 500.
func NoResult() *Error {
	return Errorf(http.StatusInternalServerError, fault.Internal, "the worker ended without an answer")
}
