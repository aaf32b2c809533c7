package tasks

import (
	"testing"
	"time"

	"presswork"
	"presswork/internal/fault"
)

func TestAJobsEndIsLoggedAsOneLine(t *testing.T) {
	t.Parallel()

	const id = "01M81YG9F49FNHG4PG1N8T06JE"
	for want, o := range map[string]outcome{
		id + " completed, 4 pages, 528 ms, w2": {
			job: Record{Job: presswork.Job{
				ID: id, Kind: presswork.KindConversion, Status: presswork.Completed,
				Artifact: &presswork.Artifact{Pages: 4},
			}},
			attempt: 1,
			took:    528 * time.Millisecond,
			worker:  "w2",
		},
		id + " completed, 1 page, cached, export, attempt 2, 12.3 s, w2": {
			job: Record{Job: presswork.Job{
				ID: id, Kind: presswork.KindExport, Status: presswork.Completed,
				Cached: true, Artifact: &presswork.Artifact{Pages: 1},
			}},
			attempt: 2,
			took:    12345 * time.Millisecond,
			worker:  "w2",
		},
		id + " failed: render_timeout: too long, 4m5s, w2": {
			job:     Record{Job: presswork.Job{ID: id, Kind: presswork.KindConversion, Status: presswork.Failed}},
			attempt: 1,
			took:    245 * time.Second,
			worker:  "w2",
			err:     fault.Errorf(fault.RenderTimeout, "too long"),
		},
	} {
		t.Run(want, func(t *testing.T) {
			if got := o.String(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
