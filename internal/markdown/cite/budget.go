package cite

import (
	"context"
	"fmt"
	"strings"
)

// These limits are for one style. The largest style of the CSL project sorts by 11 keys, tests 20 values in
// one condition and has attributes of 208 bytes.
const (
	maxKeys       = 50   // in one sort element
	maxConditions = 100  // in one if or else-if element
	maxAttribute  = 2000 // bytes
)

// These limits are for one document. Work is counted in units of about 60 ns.
const (
	// stepUnits is the cost of evaluating one element of a style.
	stepUnits = 16
	// A document may evaluate baseSteps elements, and stepsEach more for each citation and each work, but at most
	// maxSteps, which take about 10 s. For a work without authors, the largest style takes 100 000 steps, most styles
	// 3 000.
	baseSteps, stepsEach, maxSteps = 1_000_000, 100_000, 10_000_000
	// contextUnits is the work between two checks of the context.
	contextUnits = 100_000
	// maxText is the longest text of one citation or entry, in bytes.
	maxText = 1 << 20
)

// CostError is returned when the citations of a document would take too much time or memory.
type CostError struct {
	// Reason is for the author. It names the exceeded amount, the limit and a remedy.
	Reason string
}

func (e CostError) Error() string { return "the citations take too long: " + e.Reason }

// stopped is the value of a panic that ends an evaluation. Process recovers it and returns err.
type stopped struct{ err error }

// step charges for the evaluation of one element.
func (p *processor) step() { p.charge(stepUnits) }

// charge counts work. It panics with stopped if the work exceeds the limit of the document or the context has ended.
// Rendering is deeply recursive, and only Process returns an error.
func (p *processor) charge(units int) {
	p.spent += units

	most := min(maxSteps, baseSteps+stepsEach*(len(p.job.Citations)+len(p.order)))
	if p.spent > most*stepUnits {
		panic(stopped{CostError{fmt.Sprintf(
			"%d citations and %d works need more than %d steps of the citation style; "+
				"cite fewer works, or choose a style with fewer macros and sort keys",
			len(p.job.Citations), len(p.order), most,
		)}})
	}

	if p.spent-p.checked < contextUnits {
		return
	}

	p.checked = p.spent
	if p.ctx.Err() != nil {
		panic(stopped{context.Cause(p.ctx)})
	}
}

// weigh charges for a piece of text and returns size plus the bytes of the piece. It panics with stopped if
// that exceeds the limit of one citation or entry.
func (p *processor) weigh(size int, piece rich) int {
	const perRun = 8 // bytes for each run in addition to its text

	added := 0
	for _, x := range piece {
		added += perRun + len(x.text)
	}
	p.charge(1 + added/stepUnits)

	if size += added; size > maxText {
		panic(stopped{CostError{fmt.Sprintf(
			"one of them has more than %d KB; shorten the fields of the work or the texts of the citation style",
			maxText>>10,
		)}})
	}

	return size
}

// tooLong returns the error for citations and entries that together exceed maxOutput.
func tooLong() error {
	return CostError{fmt.Sprintf("they have more than %d MB of HTML; cite fewer works", maxOutput>>20)}
}

// checkBudget returns an error for an element of a style, or one below it, that exceeds the limits.
func checkBudget(n *node) error {
	conditions := 0

	for name, value := range n.attr {
		if len(value) > maxAttribute {
			return fmt.Errorf("the attribute %s of an element %s has %d bytes; at most %d are allowed",
				name, n.name, len(value), maxAttribute)
		}
		conditions += len(strings.Fields(value))
	}

	switch n.name {
	case "if", "else-if":
		if conditions > maxConditions {
			return fmt.Errorf(
				"an element %s tests %d values; at most %d are allowed: split it into several",
				n.name, conditions, maxConditions)
		}
	case "sort":
		if len(n.children) > maxKeys {
			return fmt.Errorf(
				"an element sort has %d keys; at most %d are allowed: later keys order only works that are equal by the first ones",
				len(n.children),
				maxKeys,
			)
		}
	}

	for _, k := range n.children {
		if err := checkBudget(k); err != nil {
			return err
		}
	}

	return nil
}
