package responses

import (
	"fmt"
	"math"
	"net/http"

	"presswork/internal/inference"
)

// The codes of a failed answer, which clients read.
const (
	rateLimitExceeded = "rate_limit_exceeded"
	invalidPrompt     = "invalid_prompt"
	serverError       = "server_error"
	insufficientQuota = "insufficient_quota"
)

// appendFailure appends the error of a failed answer, or null. Agents repeat a request unless its code forbids it, and
// find the time to wait in the message.
func appendFailure(dst []byte, e *inference.Error) []byte {
	if e == nil {
		return append(dst, "null"...)
	}
	code, message := serverError, e.Message

	switch {
	case e.Code == inference.ContextLength || e.Code == insufficientQuota:
		code = string(e.Code)
	case e.RetryAfter > 0 && (e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable):
		code = rateLimitExceeded
		message += fmt.Sprintf(" Please try again in %ds.", int(math.Ceil(e.RetryAfter.Seconds())))
	case e.Status == http.StatusTooManyRequests:
		code = rateLimitExceeded
	case e.Status < http.StatusInternalServerError && !e.Retryable:
		code = invalidPrompt
	}
	dst = appendString(append(dst, `{"code":`...), code)

	return append(appendString(append(dst, `,"message":`...), message), '}')
}
