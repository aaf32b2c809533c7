package inference

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
