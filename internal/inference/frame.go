package inference

import (
	"encoding/json"
	"net/http"

	"presswork"
)

// Frame is one word of a worker to the API about a completion. Of Chunk, Result
// and Error one is set; Result and Error are the last word.
type Frame struct {
	// QueueTime is how long the request waited for the worker, in seconds; it
	// stands on the first frame.
	QueueTime float64 `json:"queue_time,omitempty"`
	Chunk     *Chunk  `json:"chunk,omitempty"`
	Result    *Result `json:"result,omitempty"`
	Error     *Error  `json:"error,omitempty"`
}

// Job is the body of a call: a request that Admit has let in, and the limits on
// tokens that its use is to be settled with; 0 is none.
type Job struct {
	Request *Request `json:"request"`
	TPM     int      `json:"tpm,omitempty"`
	TPD     int      `json:"tpd,omitempty"`
}

// ReadFrames reads frames as they travelled. It returns those before an error
// and, where they hold the last word, ended; a completion that failed is an
// *Error.
func ReadFrames(raw [][]byte) (frames []Frame, ended bool, err error) {
	frames = make([]Frame, len(raw))
	for i, b := range raw {
		if err := json.Unmarshal(b, &frames[i]); err != nil {
			return frames[:i], true, Errorf(http.StatusInternalServerError, presswork.Internal, "the worker's answer cannot be read").WithCause(err)
		}
		if e := frames[i].Error; e != nil {
			return frames[:i], true, e
		}
		ended = ended || frames[i].Result != nil
	}
	return frames, ended, nil
}

// GaveUp is what a caller hears of a worker that ended an answer without a last
// word.
func GaveUp() *Error {
	return Errorf(http.StatusInternalServerError, presswork.Internal, "the worker gave up without an answer")
}
