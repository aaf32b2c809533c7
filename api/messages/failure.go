package messages

import (
	"net/http"

	"presswork/internal/fault"
	"presswork/internal/inference"
)

// statusOverloaded is the HTTP status of a server without capacity, as Anthropic has it.
const statusOverloaded = 529

// threadUnsupported is the error code for a request that continues a conversation stored on the server, which
// Presswork does not do. SDKs read it.
const threadUnsupported fault.Code = "thread_unsupported_request"

// StatusOf returns the HTTP status of an error in the Messages API.
func StatusOf(e *inference.Error) int {
	if e.Status == http.StatusServiceUnavailable {
		return statusOverloaded
	}

	return e.Status
}

// errorTypes are the types of errors by their status. Others follow from the class of the status.
var errorTypes = map[int]string{
	http.StatusUnauthorized:          "authentication_error",
	http.StatusPaymentRequired:       "billing_error",
	http.StatusForbidden:             "permission_error",
	http.StatusNotFound:              "not_found_error",
	http.StatusRequestEntityTooLarge: "request_too_large",
	http.StatusTooManyRequests:       "rate_limit_error",
	http.StatusGatewayTimeout:        "timeout_error",
	statusOverloaded:                 "overloaded_error",
}

// AppendError appends the body of an error to dst. Agents recognise a conversation that is too long by its message.
func AppendError(dst []byte, e *inference.Error, requestID string) []byte {
	status, message := StatusOf(e), e.Message
	kind := errorTypes[status]

	switch {
	case kind != "":
	case status < http.StatusInternalServerError:
		kind = "invalid_request_error"
	default:
		kind = "api_error"
	}

	if e.Code == inference.ContextLength {
		message = "prompt is too long: " + message
	}
	dst = appendString(append(dst, `{"type":"error","error":{"type":`...), kind)
	dst = appendString(append(dst, `,"message":`...), message)

	if e.Code == threadUnsupported {
		dst = appendString(append(dst, `,"details":{"error_code":`...), string(threadUnsupported))
		dst = append(dst, `,"unsupported":["thread"]}`...)
	}

	return append(appendString(append(dst, `},"request_id":`...), requestID), '}')
}
