package gateway

import (
	"net/http"

	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/input"
)

// failedf is an error that shows what the model wrote, at most 16 KB of it.
func failedf(code fault.Code, generation, format string, args ...any) *inference.Error {
	e := inference.Errorf(http.StatusBadRequest, code, format, args...)
	e.FailedGeneration = input.Cut(generation, 16<<10)

	return e
}
