package tasks

import (
	"context"
	"encoding/json"

	"presswork"
	"presswork/internal/fault"
)

// report is a change of a record that a run tells of, as the scripts read it.
type report []any

func newReport(name string, args ...any) report { return append(report{name, len(args)}, args...) }

// progressed reports a step.
func (r *records) progressed(stage presswork.Stage, percent int, message string) report {
	return newReport("progress", stamp(r.clock.now()), string(stage), percent, message)
}

// noted adds warnings and sets fields, as one event with this message.
func (r *records) noted(message string, warnings []fault.Warning, fields ...any) (report, error) {
	args := []any{stamp(r.clock.now()), message, len(warnings)}
	for _, w := range warnings {
		b, err := json.Marshal(w)
		if err != nil {
			return nil, err
		}
		args = append(args, b)
	}

	return newReport("note", append(args, fields...)...), nil
}

// tell writes reports, in their order and in one go. Errors: errGone, endedError,
// ErrSuperseded, an outage.
func (r *records) tell(ctx context.Context, id, fence string, all ...report) error {
	return r.apply(ctx, reportScript, id, flat([]any{fence}, all))
}

func flat(args []any, all []report) []any {
	for _, one := range all {
		args = append(args, one...)
	}

	return args
}
