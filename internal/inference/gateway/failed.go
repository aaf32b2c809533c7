package gateway

import (
	"net/http"

	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/input"
)

// failedf returns a 400 that shows the first 16 KB of what the model wrote.
func failedf(code fault.Code, generation, format string, args ...any) *inference.Error {
	e := inference.Errorf(http.StatusBadRequest, code, format, args...)
	e.FailedGeneration = input.Cut(generation, 16<<10)

	return e
}
