package presswork

import (
	"time"

	"presswork/internal/analysis/finding"
	"presswork/internal/fault"
)

// Status is where a job stands. Completed, failed and cancelled are terminal
// and never change.
type Status string

// The statuses of a job.
const (
	Queued     Status = "queued"
	Processing Status = "processing"
	Completed  Status = "completed"
	Failed     Status = "failed"
	Cancelled  Status = "cancelled"
)

// Terminal reports whether a job in this status is finished for good.
func (s Status) Terminal() bool { return s == Completed || s == Failed || s == Cancelled }

// Stage is the step a job is in, finer than its status.
type Stage string

// The stages of a job, in order.
const (
	StageQueued    Stage = "queued"
	StageAnalyzing Stage = "analyzing"
	StageRendering Stage = "rendering"
	StagePrinting  Stage = "printing"
	// StageTranscribing is that of a recording, in the place of the two before.
	StageTranscribing Stage = "transcribing"
	StageStoring      Stage = "storing"
	StageDone         Stage = "done"
)

// Kind is what a job does.
type Kind string

// The kinds of job a caller can list.
const (
	KindConversion    Kind = "conversion"
	KindExport        Kind = "export"
	KindTranscription Kind = "transcription"
	// KindPDF is an operation on existing PDF files.
	KindPDF Kind = "pdf"
)

// Job is the public record of one piece of accepted work.
type Job struct {
	ID     string `json:"job_id"`
	Kind   Kind   `json:"kind"`
	Status Status `json:"status"`
	Stage  Stage  `json:"stage"`
	// Progress is 0 to 100 and never decreases.
	Progress int `json:"progress"`
	// Seq is the number of the last event; it grows by one with each.
	Seq   int64  `json:"seq"`
	Theme string `json:"theme"`
	// Cached reports whether the artifact came from the render cache.
	Cached bool `json:"cached"`
	// QueuePosition is how many jobs are expected to run before; nil once it runs.
	QueuePosition *int       `json:"queue_position"`
	CreatedAt     time.Time  `json:"created_at"`
	StartedAt     *time.Time `json:"started_at"`
	FinishedAt    *time.Time `json:"finished_at"`
	// Attempts counts how often a worker began the job.
	Attempts int             `json:"attempts"`
	Warnings []fault.Warning `json:"warnings"`
	Artifact *Artifact       `json:"artifact"`
	Error    *fault.Error    `json:"error"`
	// Analysis is nil unless the caller asked for a theme to be chosen.
	Analysis *finding.Analysis `json:"analysis"`
}

// Artifact is the stored result of a job.
type Artifact struct {
	ID string `json:"id"`
	// URL is where it is downloaded; the API fills it in on the way out.
	URL         string    `json:"url"`
	Size        int64     `json:"size"`
	Pages       int       `json:"pages"`
	SHA256      string    `json:"sha256"`
	ContentType string    `json:"content_type"`
	Filename    string    `json:"filename"`
	ExpiresAt   time.Time `json:"expires_at"`
}

// Event is one entry of a job's log, and the message a WebSocket carries.
type Event struct {
	Type     EventType    `json:"type"`
	JobID    string       `json:"job_id"`
	Seq      int64        `json:"seq"`
	Status   Status       `json:"status"`
	Stage    Stage        `json:"stage"`
	Progress int          `json:"progress"`
	Message  string       `json:"message,omitempty"`
	At       time.Time    `json:"at"`
	Artifact *Artifact    `json:"artifact,omitempty"`
	Error    *fault.Error `json:"error,omitempty"`
}

// EventType names an event. Snapshot is not in the log: it is the state a
// watcher starts from.
type EventType string

// The event types.
const (
	EventSnapshot  EventType = "snapshot"
	EventProgress  EventType = "progress"
	EventCompleted EventType = "completed"
	EventFailed    EventType = "failed"
	EventCancelled EventType = "cancelled"
)
