package nemesis

import (
	"fmt"
	"math"
	"net/http"

	"github.com/anishathalye/porcupine"

	"presswork"
	"presswork/internal/test/wait"
)

// jobState is a possible state of a job.
type jobState struct {
	exists bool
	status presswork.Status
	// seq is the sequence number. exact is false if it may be greater.
	seq   int64
	exact bool
}

// ended is the status of a job that has ended in an unknown way.
const ended presswork.Status = "ended"

// rank orders the statuses: 0 before the first run, 1 while the job runs, 2 after its end.
func rank(s presswork.Status) int {
	switch s {
	case presswork.Processing:
		return 1
	case presswork.Completed, presswork.Failed, presswork.Cancelled, ended:
		return 2
	}

	return 0
}

// reaches reports whether a job may get from one status to another by itself.
func reaches(from, to presswork.Status) bool {
	if rank(from) == 2 {
		return from == to || from == ended && rank(to) == 2 || to == ended
	}

	return rank(to) >= rank(from)
}

// step returns the states in which a job may be after a response. It returns none if the response is impossible in
// state s.
func step(s jobState, e Entry) []jobState {
	unsure := e.outcomeUnknown()
	switch {
	case e.Op == opSubmit && unsure:
		if s.exists {
			return []jobState{s}
		}

		return []jobState{s, {exists: true, status: presswork.Queued, seq: 1}}
	case e.Op == opSubmit:
		if !s.exists {
			s = jobState{exists: true, status: presswork.Queued, seq: 1}
		}

		if !reaches(s.status, e.Status) {
			return nil
		}

		if e.Status != s.status {
			s.exact = false
		}
		s.status = e.Status

		return []jobState{s}
	case e.Code == http.StatusNotFound:
		if s.exists {
			return nil
		}

		return []jobState{s}
	case e.Op == opCancel && unsure:
		if !s.exists || rank(s.status) == 2 {
			return []jobState{s}
		}

		return []jobState{s, {exists: true, status: presswork.Cancelled, seq: s.seq + 1}}
	case !s.exists:
		return nil
	case e.Op == opCancel && e.Code == http.StatusConflict:
		if rank(s.status) < 2 {
			s.status, s.exact = ended, false
		}

		return []jobState{s}
	case e.Op == opCancel:
		if rank(s.status) == 2 || e.Seq <= s.seq {
			return nil
		}

		return []jobState{{true, presswork.Cancelled, e.Seq, true}}
	case e.Op == opGet:
		// A read may neither go back nor return a state that the job cannot have reached.
		if e.Seq < s.seq || !reaches(s.status, e.Status) || s.exact && e.Seq == s.seq && e.Status != s.status {
			return nil
		}

		return []jobState{{true, e.Status, e.Seq, true}}
	}

	return nil
}

// outcomeUnknown reports whether the request may or may not have taken effect.
func (e Entry) outcomeUnknown() bool {
	return e.Code == 0 || e.Code >= http.StatusInternalServerError || e.Code == http.StatusTooManyRequests
}

// jobModel returns the model of a job as callers see it: it is created once, never goes back, and ends once.
func jobModel() porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{jobState{}} },
		Step: func(state, input, _ any) []any {
			var out []any
			for _, s := range step(state.(jobState), input.(Entry)) {
				out = append(out, s)
			}

			return out
		},
		Equal: func(a, b any) bool { return a == b },
	}

	return m.ToModel()
}

// nonLinearizable returns a complaint for each job whose responses no order of its requests explains. Each request must
// have taken effect at one moment between its call and its return.
func nonLinearizable(entries []Entry) (complaints []string) {
	numbers := map[string]int{}

	for _, e := range entries {
		if e.Op == opSubmit && e.ID != "" {
			numbers[e.ID] = e.Job
		}
	}
	of := map[int][]porcupine.Operation{}

	for _, e := range entries {
		if e.Op != opSubmit && e.Op != opGet && e.Op != opCancel {
			continue
		}
		op := porcupine.Operation{Input: e, Call: int64(e.Call), Return: int64(e.Return)}

		unsure := e.outcomeUnknown()
		switch {
		case unsure && (e.Op == opGet || e.Op == opSubmit && e.Key == ""):
			continue // the response says nothing about this job
		case unsure:
			op.Return = math.MaxInt64 // it may still happen
		case e.Op == opSubmit && e.ID == "":
			continue // rejected
		}
		of[e.Job] = append(of[e.Job], op)
	}

	for id, number := range numbers {
		switch porcupine.CheckOperationsTimeout(jobModel(), of[number], wait.Patience) {
		case porcupine.Illegal:
			complaints = append(complaints,
				fmt.Sprintf("job %d (%s): no order of its requests explains the responses", number, id))
		case porcupine.Unknown:
			complaints = append(complaints,
				fmt.Sprintf("job %d (%s): no order of its requests was found in time", number, id))
		}
	}

	return complaints
}
