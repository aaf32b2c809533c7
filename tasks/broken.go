package tasks

import "sync/atomic"

// broken counts runs that did not end their job.
type broken struct {
	reaped, condemned, superseded, returned, retried atomic.Int64
}

// Broken are the runs that did not end their job, since the start of this process.
type Broken struct {
	// Reaped are tasks of dead workers that this one put back on their queue, Condemned
	// those that it failed since they had taken asynqext.CrashCap workers with them.
	Reaped, Condemned int64
	// Superseded are runs of this worker whose job another took, Returned those that it
	// gave back when it stopped, Retried those that failed and are tried again.
	Superseded, Returned, Retried int64
}

// Broken returns the counts.
func (s *Server) Broken() Broken {
	b := &s.broken
	return Broken{b.reaped.Load(), b.condemned.Load(), b.superseded.Load(), b.returned.Load(), b.retried.Load()}
}
