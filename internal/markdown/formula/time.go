package formula

import (
	"fmt"
	"time"
)

// All formulas of a document may take baseTime and timePerKB for each KB of its source, but at most
// maxTime. A formula takes about 1 ms, and 10 ms on a machine with ten times as much work as cores.
const (
	baseTime  = 3 * time.Second
	timePerKB = 50 * time.Millisecond
	maxTime   = 30 * time.Second
)

// timeFor returns how long the formulas of a document of size bytes may take.
func timeFor(size int) time.Duration {
	return min(baseTime+time.Duration(size>>10)*timePerKB, maxTime)
}

// timeError is the cause of the context in which formulas are rendered when the time of the document is over.
type timeError struct{ limit time.Duration }

func (e timeError) Error() string {
	return fmt.Sprintf(
		"this formula and those after it stay source: the formulas of the document take longer than %s; "+
			"use fewer, or split the document",
		e.limit,
	)
}
