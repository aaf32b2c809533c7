package api

import (
	"time"

	"presswork"
	"presswork/internal/fault"
	"presswork/tasks"
)

// accepted answers a submission.
type accepted struct {
	JobID     string           `json:"job_id"`
	Status    presswork.Status `json:"status"`
	StatusURL string           `json:"status_url"`
	WSURL     string           `json:"ws_url"`
	EventsURL string           `json:"events_url"`
	CreatedAt time.Time        `json:"created_at"`
}

func (s signer) accepted(rec tasks.Record) accepted {
	token := "?token=" + s.sign(rec.ID, tokenTTL)

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
func (s signer) job(rec tasks.Record, ttl time.Duration) presswork.Job {
	job := rec.Job
	if job.Warnings == nil {
		job.Warnings = []fault.Warning{}
	}
	job.Artifact = s.artifact(job.ID, job.Artifact, ttl)

	return job
}

// artifact returns a copy with its address, nil for nil.
func (s signer) artifact(jobID string, a *presswork.Artifact, ttl time.Duration) *presswork.Artifact {
	if a == nil {
		return nil
	}
	with := *a
	with.URL = "/api/artifacts/" + jobID + "/download?token=" + s.sign(jobID, ttl)

	return &with
}

// WebhookData is the "data" of a webhook: the job as GET shows it, with an
// address that is good for a day. Secret is Options.TokenSecret.
func WebhookData(secret []byte, rec tasks.Record) presswork.Job {
	return signer{secret: secret}.job(rec, webhookTokenTTL)
}
