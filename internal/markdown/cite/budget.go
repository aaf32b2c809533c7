package cite

import (
	"context"
	"fmt"
	"strings"
)

// Bounds on a style. The richest of the CSL project's styles sorts by 11 keys, tests
// 20 values in one condition and has attributes of 208 bytes.
const (
	maxKeys       = 50
	maxConditions = 100
	maxAttribute  = 2000
)

// Bounds on the work of one document. It is counted in units of about 60 ns.
const (
	// stepUnits is the cost of evaluating one element of a style.
	stepUnits = 16
	// baseSteps, stepsEach and maxSteps bound the evaluated elements: stepsEach is for
	// each citation and each work. The richest style takes 100 000 for a book without
	// authors, and usual ones 3 000. maxSteps take about 10 s.
	baseSteps, stepsEach, maxSteps = 1_000_000, 100_000, 10_000_000
	// contextUnits is how much work is done between two looks at the context.
	contextUnits = 100_000
	// maxText bounds the text of one citation or entry, in bytes.
	maxText = 1 << 20
)

// CostError is returned when the citations of a document would take too long or too
// much memory.
type CostError struct {
	// Reason says what is too much, what is allowed, and what to do.
	Reason string
}

func (e CostError) Error() string { return "the citations take too long: " + e.Reason }

// stopped ends an evaluation from within.
type stopped struct{ err error }

// step counts the evaluation of an element.
func (p *processor) step() { p.charge(stepUnits) }

// charge counts work. It ends the evaluation when the document may do no more work
// or when the context has ended.
func (p *processor) charge(units int) {
	p.spent += units

	most := min(maxSteps, baseSteps+stepsEach*(len(p.job.Citations)+len(p.order)))
	if p.spent > most*stepUnits {
		panic(
			stopped{
				CostError{
					fmt.Sprintf(
						"%d citations and %d works need more than %d steps of the citation style; cite fewer works, or choose a style with fewer macros and sort keys",
						len(p.job.Citations),
						len(p.order),
						most,
					),
				},
			},
		)
	}

	if p.spent-p.looked < contextUnits {
		return
	}

	p.looked = p.spent
	if p.ctx.Err() != nil {
		panic(stopped{context.Cause(p.ctx)})
	}
}

// weigh charges for a piece of text and returns size plus the bytes of the piece. It
// ends the evaluation when that is more than one citation or entry may have.
func (p *processor) weigh(size int, piece rich) int {
	const perRun = 8

	added := 0
	for _, x := range piece {
		added += perRun + len(x.text)
	}
	p.charge(1 + added/stepUnits)

	if size += added; size > maxText {
		panic(
			stopped{
				CostError{
					fmt.Sprintf(
						"one of them has more than %d KB; shorten the fields of the work or the texts of the citation style",
						maxText>>10,
					),
				},
			},
		)
	}

	return size
}

// tooLong is returned when all citations and entries together are too long.
func tooLong() error {
	return CostError{fmt.Sprintf("they have more than %d MB of HTML; cite fewer works", maxOutput>>20)}
}

// checkBudget refuses a style whose elements cost more than those of any real style.
func checkBudget(n *node) error {
	conditions := 0

	for name, value := range n.attr {
		if len(value) > maxAttribute {
			return fmt.Errorf(
				"the attribute %s of an element %s has %d bytes; at most %d are allowed",
				name,
				n.name,
				len(value),
				maxAttribute,
			)
		}
		conditions += len(strings.Fields(value))
	}

	switch n.name {
	case "if", "else-if":
		if conditions > maxConditions {
			return fmt.Errorf(
				"an element %s tests %d values; at most %d are allowed: split it into several",
				n.name,
				conditions,
				maxConditions,
			)
		}
	case "sort":
		if len(n.kids) > maxKeys {
			return fmt.Errorf(
				"an element sort has %d keys; at most %d are allowed: later keys order only works that are equal by the first ones",
				len(n.kids),
				maxKeys,
			)
		}
	}

	for _, k := range n.kids {
		if err := checkBudget(k); err != nil {
			return err
		}
	}

	return nil
}
