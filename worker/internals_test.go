package worker

// ErrorType returns the metric label of a failed completion.
func ErrorType(err error) string { return errorType(err) }
