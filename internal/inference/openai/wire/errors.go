package wire

import (
	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
)

// AppendError appends the body of a failure, {"error":{…}}.
func AppendError(dst []byte, e *inference.Error) []byte {
	dst = jsonbody.AppendString(append(dst, `{"error":{"message":`...), e.Message)

	dst = jsonbody.AppendString(append(dst, `,"type":`...), e.Type)
	if e.Code != "" {
		dst = jsonbody.AppendString(append(dst, `,"code":`...), string(e.Code))
	}

	if e.Param != "" {
		dst = jsonbody.AppendString(append(dst, `,"param":`...), e.Param)
	}

	if e.FailedGeneration != "" {
		dst = jsonbody.AppendString(append(dst, `,"failed_generation":`...), e.FailedGeneration)
	}

	if len(e.Executed) > 0 {
		dst = appendExecuted(append(dst, ','), e.Executed)
	}

	return append(dst, "}}"...)
}
