package markdown

import (
	"fmt"
	"time"
)

// The rendering of a document's formulas may take baseMathTime and mathTimePerKB for
// each KB of its source, and no more than maxMathTime. A formula takes about 1 ms, and
// ten times as long on a machine that has as much other work for each of its cores.
const (
	baseMathTime  = 3 * time.Second
	mathTimePerKB = 50 * time.Millisecond
	maxMathTime   = 30 * time.Second
)

// mathTime returns how long the formulas of the document may take.
func (d *draft) mathTime() time.Duration {
	if d.options.MathTime > 0 {
		return d.options.MathTime
	}

	return mathTimeOf(len(d.src))
}

// mathTimeOf returns how long the formulas of a document of size bytes may take.
func mathTimeOf(size int) time.Duration {
	return min(baseMathTime+time.Duration(size>>10)*mathTimePerKB, maxMathTime)
}

// mathTimeError is why formulas stay source: those before them took the time of all.
type mathTimeError struct{ most time.Duration }

func (e mathTimeError) Error() string {
	return fmt.Sprintf(
		"this formula and those after it stay source: the formulas of the document take longer than %s; use fewer, or split the document",
		e.most,
	)
}
