// Package tasks is the queue's language: the kinds of task and their payloads,
// the job record with its event log, and the client and server that carry them
// over Asynq. Calls, whose callers wait for the answer, are those of package stream;
// what reaches into Asynq's insides is in package asynqext.
//
// The job record is the authority on a job; the Asynq task only carries it. A
// submission writes the record first and the task second; a sweeper closes the
// gap between them. One Lua script makes every transition: it bumps the
// sequence number, appends to the event log, and publishes, so that a watcher
// sees each event exactly once.
package tasks

import (
	"time"

	"presswork"
	"presswork/internal/export"
	"presswork/tasks/asynqext"
)

// Queue is the name of an Asynq queue; each has its own server in a worker.
type Queue = asynqext.Queue

// The queues. Render, Export and Bulk share a worker's render slots.
const (
	Render Queue = "render"
	Export Queue = "export"
	Text   Queue = "text"
	Infer  Queue = "infer"
	Bulk   Queue = "bulk"
)

// Queues lists every queue.
func Queues() []Queue { return []Queue{Render, Export, Text, Infer, Bulk} }

// InlineLimit is the largest content, in bytes, that a payload carries itself;
// longer content lies in the store under storage.SourceKey.
const InlineLimit = 16 << 10

// Record is a job with what callers do not see.
type Record struct {
	presswork.Job
	// Owner is the name of the key that submitted the job; "" when keys are off.
	Owner    string
	Filename string
	// WebhookURL is told of the terminal state; "" for nobody.
	WebhookURL string
	RequestID  string
	// TraceParent is the W3C header the submission came with.
	TraceParent string
	// Printed are the warnings of the last print, for a later attempt that finds
	// its result stored.
	Printed []presswork.Warning
}

// Submission is a job to accept.
type Submission struct {
	// ID is the job's ULID, from NewID; see Client.Reserve.
	ID string
	// Job kind, shown to callers.
	Kind       presswork.Kind
	Theme      string
	Owner      string
	Filename   string
	WebhookURL string
	// IdempotencyKey, when set, makes a second submission with the same Owner
	// and Fingerprint return the first one's record.
	IdempotencyKey string
	// Fingerprint is a digest over the parsed request.
	Fingerprint string
	RequestID   string
	TraceParent string
	// Task is what the worker will run, from Kind.Task.
	Task Task

	// reserved is set by Client.Reserve.
	reserved bool
}

// Query selects jobs of one owner, newest first.
type Query struct {
	Limit int
	// Cursor is Page.NextCursor of the page before.
	Cursor   string
	Statuses []presswork.Status
	Kind     presswork.Kind
}

// Page is one page of a listing.
type Page struct {
	Records    []Record
	HasMore    bool
	NextCursor string
}

// Convert is the payload of ConvertPDF. It is a promise: testdata/convert_v1.json
// must always decode.
type Convert struct {
	// Content is the Markdown when it is at most InlineLimit bytes.
	Content string `json:"content,omitempty"`
	// ContentKey is the store key of longer Markdown.
	ContentKey string            `json:"content_key,omitempty"`
	Theme      string            `json:"theme"`
	Options    presswork.Options `json:"options"`
	Assets     []Asset           `json:"assets,omitempty"`
	Filename   string            `json:"filename,omitempty"`
}

// Choice is the payload of ChooseTheme: the conversion that its theme is chosen
// for, and the queue which that goes on with.
type Choice struct {
	Convert Convert `json:"convert"`
	Queue   Queue   `json:"queue"`
}

// Asset is a file that came with the Markdown.
type Asset struct {
	// Name is the clean relative path the Markdown refers to.
	Name string `json:"name"`
	// Key is where the bytes lie in the store.
	Key    string `json:"key"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Preview is the payload of RenderPreview.
type Preview struct {
	Theme string `json:"theme"`
	// Format is pdf or png.
	Format string `json:"format"`
	// Key is where the store is to hold the preview. It covers the theme's
	// content, so that a worker with another one does not put its own there.
	Key string `json:"key"`
}

// PageExport is the payload of ExportPage: exactly one of PDF and Screenshot.
type PageExport struct {
	URL        string                    `json:"url"`
	PDF        *export.PDFOptions        `json:"pdf,omitempty"`
	Screenshot *export.ScreenshotOptions `json:"screenshot,omitempty"`
	// Keep is how long the result is kept, in seconds; 0 is the retention of
	// every artifact.
	Keep int64 `json:"keep,omitempty"`
}

// Ticket is the payload of ServeCall.
type Ticket struct {
	// ID is the ticket's own: that of the call which it was issued for, and
	// which another ticket may have served meanwhile.
	ID string `json:"id"`
}

// Webhook is the payload of DeliverWebhook. It carries the whole body, so that
// a delivery outlives its job.
type Webhook struct {
	// MessageID is the webhook-id header, the same on every try.
	MessageID string    `json:"message_id"`
	URL       string    `json:"url"`
	Body      string    `json:"body"`
	CreatedAt time.Time `json:"created_at"`
}
