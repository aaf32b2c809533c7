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
	"presswork/tasks/record"
)

// Queue is the name of an Asynq queue; each has its own server in a worker.
type Queue = asynqext.Queue

// The queues. Render, Export and Bulk share a worker's render slots.
const (
	// Render has conversions, the previews of themes, and diagrams of previews.
	Render Queue = "render"
	// Export has page exports.
	Export Queue = "export"
	// Text has what needs no browser: choices of a theme, and webhooks.
	Text Queue = "text"
	// Audio has recordings to transcribe, which a model may take minutes for.
	Audio Queue = "audio"
	// Infer has completions; see package stream.
	Infer Queue = "infer"
	// Tools has sessions with built-in tools, which are calls as well.
	Tools Queue = "tools"
	// Bulk has conversions and exports that are in no hurry.
	Bulk Queue = "bulk"
)

// Queues lists every queue.
func Queues() []Queue { return []Queue{Render, Export, Text, Audio, Infer, Tools, Bulk} }

// InlineLimit is the largest content, in bytes, that a payload carries itself;
// longer content lies in the store under storage.SourceKey.
const InlineLimit = 16 << 10

// Record is a job, including what callers do not see.
type Record = record.Record

// Submission is a job to accept.
type Submission struct {
	// ID is the job's ULID, from NewID; see Client.Reserve.
	ID string
	// Kind and Theme are shown to callers.
	Kind  presswork.Kind
	Theme string
	// Owner, Filename, ContentType, WebhookURL, RequestID and TraceParent are as in Record.
	Owner       string
	Filename    string
	ContentType string
	WebhookURL  string
	// IdempotencyKey, when set, makes a second submission with the same Owner
	// and Fingerprint return the first one's record.
	IdempotencyKey string
	// Fingerprint is a digest over the parsed request, Alike another one that it may have
	// had the first time, "" for none.
	Fingerprint, Alike string
	RequestID          string // see Owner
	TraceParent        string // see Owner
	// Task is what the worker will run, from Kind.Task.
	Task Task

	// reserved is set by Client.Reserve.
	reserved bool
}

// Query selects jobs of one owner, newest first.
type Query struct {
	// Limit is the most records of a page. Default 20.
	Limit int
	// Cursor is Page.NextCursor of the page before; "" begins with the newest.
	Cursor string
	// Statuses and Kind select jobs; empty selects all.
	Statuses []presswork.Status
	Kind     presswork.Kind
}

// Page is one page of a listing.
type Page struct {
	// Records may be fewer than the limit although HasMore is set: a search that
	// finds little stops after a while.
	Records []Record
	HasMore bool
	// NextCursor is for the page after this one; "" when there is none.
	NextCursor string
}

// Convert is the payload of ConvertPDF. It is a promise: testdata/convert_v1.json
// must always decode.
type Convert struct {
	// Content is the Markdown when it is at most InlineLimit bytes.
	Content string `json:"content,omitempty"`
	// ContentKey is the store key of longer Markdown.
	ContentKey string `json:"content_key,omitempty"`
	// Theme is a name, or themes.Auto.
	Theme string `json:"theme"`
	// Options are those of the request; front matter is laid below them later.
	Options presswork.Options `json:"options"`
	// Output is what the document is made into; "" is presswork.PDF.
	Output presswork.Output `json:"output,omitempty"`
	// Assets are the files that relative paths of the document resolve to.
	Assets []Asset `json:"assets,omitempty"`
	// Path is where the document lies among the Assets, "" where these are named from
	// its folder.
	Path string `json:"path,omitempty"`
	// Parts are those of the Assets that are printed after the document, in order.
	Parts []string `json:"parts,omitempty"`
	// Filename is the download's name, with the extension .pdf that another output
	// replaces; "" for one made from the title.
	Filename string `json:"filename,omitempty"`
}

// Choice is the payload of ChooseTheme.
type Choice struct {
	// Convert is the conversion that a theme is chosen for, Queue the one it goes
	// on with: Render or Bulk.
	Convert Convert `json:"convert"`
	Queue   Queue   `json:"queue"`
}

// Asset is a file that came with the Markdown.
type Asset struct {
	// Name is the clean relative path the Markdown refers to.
	Name string `json:"name"`
	// Key is where the bytes lie in the store.
	Key  string `json:"key"`
	Size int64  `json:"size"` // in bytes
	// SHA256 is the hex digest of the bytes.
	SHA256 string `json:"sha256"`
}

// Preview is the payload of RenderPreview.
type Preview struct {
	// Theme is a name of the catalogue.
	Theme string `json:"theme"`
	// Format is pdf or png.
	Format string `json:"format"`
	// Key is where the store is to hold the preview. It covers the theme's
	// content, so that a worker with another one does not put its own there.
	Key string `json:"key"`
}

// Drawing is the payload of DrawDiagrams.
type Drawing struct {
	// Sources are Mermaid, each one different.
	Sources []string     `json:"sources"`
	Style   DrawingStyle `json:"style"`
}

// DrawingStyle is a diagram.Style on the queue.
type DrawingStyle struct {
	Dark             bool
	Page, Text, Line string
	Accents          []string
	Font             string
	Size             int
}

// PageExport is the payload of ExportPage.
type PageExport struct {
	// URL is the page's address in canonical form, see guard.Policy.CheckURL.
	// Exactly one of PDF and Screenshot is set.
	URL        string                    `json:"url"`
	PDF        *export.PDFOptions        `json:"pdf,omitempty"`
	Screenshot *export.ScreenshotOptions `json:"screenshot,omitempty"`
	// Keep is how long the result is kept, in seconds; 0 is the retention of
	// every artifact.
	Keep int64 `json:"keep,omitempty"`
}

// ContentType is the content type of the result.
func (e PageExport) ContentType() string {
	switch {
	case e.Screenshot == nil:
		return presswork.PDF.ContentType()
	case e.Screenshot.Type == "":
		return "image/png"
	}

	return "image/" + e.Screenshot.Type
}

// Transcription is the payload of TranscribeAudio.
type Transcription struct {
	// Model is the model's id.
	Model string `json:"model"`
	// Key is where the recording lies in the store; without one, URL is where it is
	// fetched from, in canonical form.
	Key string `json:"key,omitempty"`
	URL string `json:"url,omitempty"`
	// Task is inference.Transcribe or Translate.
	Task string `json:"task"`
	// Language, Prompt and Temperature are as in inference.Transcription.
	Language    string   `json:"language,omitempty"`
	Prompt      string   `json:"prompt,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	// Format is one of audio.ResponseFormats; Segments and Words are what
	// verbose_json shows.
	Format   string `json:"format"`
	Segments bool   `json:"segments,omitempty"`
	Words    bool   `json:"words,omitempty"`
	// Vendor is INFERENCE_VENDOR of the API that took the request.
	Vendor string `json:"vendor"`
	// Keep is as in PageExport.
	Keep int64 `json:"keep,omitempty"`
}

// CallTask is the payload of the task of every call, whatever its kind: the body of the call
// has the rest.
type CallTask struct {
	// ID is the task's own, from stream.TaskID.
	ID string `json:"id"`
}

// Webhook is the payload of DeliverWebhook. It carries the whole body, so that
// a delivery outlives its job.
type Webhook struct {
	// MessageID is the webhook-id header, the same on every try.
	MessageID string `json:"message_id"`
	URL       string `json:"url"`
	// Body is the JSON to post.
	Body string `json:"body"`
	// CreatedAt is when the delivery was queued.
	CreatedAt time.Time `json:"created_at"`
}
