package worker

// ErrorType shows tests the label of a completion's failure.
func ErrorType(err error) string { return errorType(err) }
