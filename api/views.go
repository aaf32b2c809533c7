package api

import (
	"time"

	"presswork"
	"presswork/api/access"
	"presswork/internal/fault"
	"presswork/tasks"
)

const (
	// tokenTTL is how long a token in an answer is valid.
	tokenTTL = time.Hour
	// webhookTokenTTL is how long a token in a webhook is valid: its reader may come late.
	webhookTokenTTL = 24 * time.Hour
)

// views makes what callers see of jobs, with signed addresses.
type views struct{ tokens access.Signer }

// accepted answers a submission.
type accepted struct {
	JobID     string           `json:"job_id"`
	Status    presswork.Status `json:"status"`
	StatusURL string           `json:"status_url"`
	WSURL     string           `json:"ws_url"`
	EventsURL string           `json:"events_url"`
	CreatedAt time.Time        `json:"created_at"`
}

func (v views) accepted(rec tasks.Record) accepted {
	token := "?token=" + v.tokens.Sign(rec.ID, tokenTTL)

	return accepted{
		JobID:     rec.ID,
		Status:    rec.Status,
		StatusURL: statusURL(rec.ID),
		WSURL:     "/api/conversion/ws/" + rec.ID + token,
		EventsURL: statusURL(rec.ID) + "/events" + token,
		CreatedAt: rec.CreatedAt,
	}
}

func statusURL(jobID string) string { return "/api/conversion/" + jobID }

// job is a job as its caller sees it: with the address of its artifact.
func (v views) job(rec tasks.Record, ttl time.Duration) presswork.Job {
	job := rec.Job
	if job.Warnings == nil {
		job.Warnings = []fault.Warning{}
	}
	job.Artifact = v.artifact(job.ID, job.Artifact, ttl)

	return job
}

// artifact returns a copy with its address, nil for nil.
func (v views) artifact(jobID string, a *presswork.Artifact, ttl time.Duration) *presswork.Artifact {
	if a == nil {
		return nil
	}
	with := *a
	with.URL = "/api/artifacts/" + jobID + "/download?token=" + v.tokens.Sign(jobID, ttl)

	return &with
}

// WebhookData is the "data" of a webhook: the job as GET shows it, with an
// address that is good for a day. Secret is Options.TokenSecret.
func WebhookData(secret []byte, rec tasks.Record) presswork.Job {
	return views{access.NewSigner(secret)}.job(rec, webhookTokenTTL)
}
