// Package views has the JSON of jobs that callers see, with signed addresses, and the query for a list of jobs.
package views

import (
	"encoding/json"
	"time"

	"presswork"
	"presswork/api/access"
	"presswork/internal/fault"
	"presswork/tasks"
)

const (
	// tokenTTL is how long a token in an answer is valid.
	tokenTTL = time.Hour
	// webhookTokenTTL is how long a token in a webhook is valid. It is longer, because receivers may process
	// webhooks hours later.
	webhookTokenTTL = 24 * time.Hour
)

// Views turns job records into the JSON that callers see, with signed addresses.
type Views struct {
	// Tokens signs the addresses.
	Tokens access.Signer
}

// New returns Views whose addresses are signed with secret.
func New(secret []byte) Views { return Views{access.NewSigner(secret)} }

// Accepted is the body of the answer to a submission.
type Accepted struct {
	JobID  string           `json:"job_id"`
	Status presswork.Status `json:"status"`
	// The addresses are paths on this server.
	StatusURL string    `json:"status_url"`
	WSURL     string    `json:"ws_url"`
	EventsURL string    `json:"events_url"`
	CreatedAt time.Time `json:"created_at"`
}

// Accepted returns the addresses of a job. Those for events hold a token, because a browser's WebSocket and
// EventSource send no key.
func (v Views) Accepted(rec tasks.Record) Accepted {
	token := "?token=" + v.Tokens.Sign(access.JobScope, rec.ID, time.Now().Add(tokenTTL))

	return Accepted{
		JobID:     rec.ID,
		Status:    rec.Status,
		StatusURL: StatusURL(rec.ID),
		WSURL:     "/api/conversion/ws/" + rec.ID + token,
		EventsURL: StatusURL(rec.ID) + "/events" + token,
		CreatedAt: rec.CreatedAt,
	}
}

// StatusURL returns the address of a job.
func StatusURL(jobID string) string { return "/api/conversion/" + jobID }

// Job returns the public form of a job.
func (v Views) Job(rec tasks.Record) presswork.Job { return v.job(rec, tokenTTL) }

// Webhook returns the field data of a webhook: the job as the API shows it. The address of its artifact is valid for
// 24 hours.
func (v Views) Webhook(rec tasks.Record) presswork.Job { return v.job(rec, webhookTokenTTL) }

// job returns the public form of a job. The address of its artifact is valid for ttl.
func (v Views) job(rec tasks.Record, ttl time.Duration) presswork.Job {
	job := rec.Job
	if job.Warnings == nil {
		job.Warnings = []fault.Warning{}
	}
	job.Artifact = v.artifact(job.ID, job.Artifact, ttl)

	return job
}

// Artifact returns a copy of a with a signed address. It returns nil when a is nil.
func (v Views) Artifact(jobID string, a *presswork.Artifact) *presswork.Artifact {
	return v.artifact(jobID, a, tokenTTL)
}

// artifact returns a copy of a with a signed address that is valid for ttl. It returns nil when a is nil.
func (v Views) artifact(jobID string, a *presswork.Artifact, ttl time.Duration) *presswork.Artifact {
	if a == nil {
		return nil
	}
	signed := *a
	signed.URL = DownloadURL(jobID) + "?token=" + v.Tokens.Sign(access.JobScope, jobID, time.Now().Add(ttl))

	return &signed
}

// Message returns the JSON of an event, with the signed address of its artifact. With gone the event has no artifact.
func (v Views) Message(e presswork.Event, gone bool) []byte {
	e.Artifact = v.Artifact(e.JobID, e.Artifact)
	if gone {
		e.Artifact = nil
	}
	// Events are plain structs, which always encode.
	b, _ := json.Marshal(e)

	return b
}

// DownloadURL returns the address of the artifact of a job.
func DownloadURL(jobID string) string { return "/api/artifacts/" + jobID + "/download" }
