package gateway

import (
	"net/http"

	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/input"
)

// failedf returns an error with status 400. Its FailedGeneration is the first 16 KB of generation, the text that the
// model wrote.
func failedf(code fault.Code, generation, format string, args ...any) *inference.Error {
	e := inference.Errorf(http.StatusBadRequest, code, format, args...)
	e.FailedGeneration = input.Cut(generation, 16<<10)

	return e
}
