package client

import (
	"context"
	"fmt"
	"strings"
	"time"

	"presswork"
	"presswork/tasks"
)

// Fleet is the state of a server's queues and workers, with its newest jobs.
type Fleet struct {
	// At is the time of the server.
	At time.Time `json:"at"`
	// Open counts the jobs that have not ended, Dead the tasks that failed after their last retry.
	Open    int64          `json:"open"`
	Dead    int64          `json:"dead"`
	Queues  []Queue        `json:"queues"`
	Workers []tasks.Worker `json:"workers"`
	Jobs    []Job          `json:"jobs"`
}

// Queue counts the tasks of one queue.
type Queue struct {
	Name              string  `json:"name"`
	Waiting           int64   `json:"waiting"`
	Running           int64   `json:"running"`
	Retrying          int64   `json:"retrying"`
	Paused            bool    `json:"paused"`
	OldestSeconds     float64 `json:"oldest_seconds"`      // age of the first waiting task
	OldestOpenSeconds float64 `json:"oldest_open_seconds"` // age of the oldest job that has not ended
	DoneToday         int64   `json:"done_today"`
	FailedToday       int64   `json:"failed_today"`
}

// Job is a job as an admin sees it.
type Job struct {
	presswork.Job
	// Key is the name of the owner's key, Workers are the workers that ran the job, the last one last.
	Key      string   `json:"key"`
	Filename string   `json:"filename"`
	Workers  []string `json:"workers"`
}

const (
	// fleetTimeout bounds one call of Fleet.
	fleetTimeout = 10 * time.Second
	// newestJobs is how many jobs a Fleet has.
	newestJobs = 15
)

// Fleet returns the state of the server, within ten seconds. The key must be an admin's. The addresses of artifacts
// have no tokens. Errors name the server and say what it answered.
func (s *Server) Fleet(ctx context.Context) (now Fleet, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, fleetTimeout,
		fmt.Errorf("%s did not answer within %s", s.shown, fleetTimeout))
	defer cancel()

	if err := s.get(ctx, "/admin/api/fleet", &now); err != nil {
		return now, err
	}

	var jobs struct {
		Data []Job `json:"data"`
	}
	if err := s.get(ctx, fmt.Sprintf("/admin/api/jobs?limit=%d", newestJobs), &jobs); err != nil {
		return now, err
	}
	now.Jobs = jobs.Data
	// Drop the tokens from the addresses of artifacts: users pass reports on.
	for _, j := range now.Jobs {
		if j.Artifact != nil {
			j.Artifact.URL, _, _ = strings.Cut(j.Artifact.URL, "?")
		}
	}

	return now, nil
}
