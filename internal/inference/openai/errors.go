package openai

import "presswork/internal/inference"

// AppendError appends the body of a failure, {"error":{…}}.
func AppendError(dst []byte, e *inference.Error) []byte {
	dst = appendString(append(dst, `{"error":{"message":`...), e.Message)

	dst = appendString(append(dst, `,"type":`...), e.Type)
	if e.Code != "" {
		dst = appendString(append(dst, `,"code":`...), string(e.Code))
	}

	if e.Param != "" {
		dst = appendString(append(dst, `,"param":`...), e.Param)
	}

	if e.FailedGeneration != "" {
		dst = appendString(append(dst, `,"failed_generation":`...), e.FailedGeneration)
	}

	if len(e.Executed) > 0 {
		dst = appendExecuted(append(dst, ','), e.Executed)
	}

	return append(dst, "}}"...)
}

// AppendErrorEvent appends the last event of a stream that fails after its first chunk. Done must not follow it.
func AppendErrorEvent(dst []byte, e *inference.Error) []byte {
	return append(AppendError(append(dst, "data: "...), e), "\n\n"...)
}
