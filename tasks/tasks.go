// Package tasks is the queue. It defines the kinds of task with their payloads. A Client submits jobs and calls, and a
// Server runs them on Asynq. Its child packages:
//   - record: the job record
//   - watch: events
//   - stream: calls whose callers wait
//   - slots: limits of a process
//   - asynqext: everything that depends on the internals of Asynq
//   - redisdial, clock, memory: connections to Redis, its time and its free memory
//   - monitor: Asynq's web page
//
// The job record is the authority on a job; the Asynq task only carries it. The way of a job:
//  1. Client.Submit writes the record and then the task. If it dies in between, the sweeper queues the task.
//  2. The dequeuer of a Server takes the task, begins a run and calls the handler of the kind.
//  3. The handler reports by its Run, which writes to the record only while no later run has begun.
//  4. Run.Complete, or an error of the handler, ends the job. Settling it then queues the webhook.
//  5. If the worker dies, the reaper of another Server puts the task back on its queue.
package tasks

import (
	"time"

	"presswork"
	"presswork/internal/export"
	"presswork/internal/pdfops"
	"presswork/tasks/asynqext"
	"presswork/tasks/record"
)

// Queue is the name of an Asynq queue. Each queue has its own server in a worker.
type Queue = asynqext.Queue

// The queues. Render, Export and Bulk share a worker's render slots.
const (
	// Render has conversions, the previews of themes, and diagrams of previews.
	Render Queue = "render"
	// Export has page exports.
	Export Queue = "export"
	// Text has tasks without a browser: choices of a theme, and webhooks.
	Text Queue = "text"
	// Audio has recordings to transcribe, which may take minutes.
	Audio Queue = "audio"
	// Infer has completions; see package stream.
	Infer Queue = "infer"
	// Tools has sessions with built-in tools. They are calls as well.
	Tools Queue = "tools"
	// Bulk has conversions and exports that may wait.
	Bulk Queue = "bulk"
)

// Queues returns every queue.
func Queues() []Queue { return []Queue{Render, Export, Text, Audio, Infer, Tools, Bulk} }

// InlineLimit is the largest content in bytes that a payload carries. Longer content is in the store, under
// storage.SourceKey.
const InlineLimit = 16 << 10

// Record is a job, including what callers do not see.
type Record = record.Record

// Submission is a job to accept.
type Submission struct {
	// ID is the job's ULID, from NewID; see Client.Reserve.
	ID string
	// Kind and Theme are visible to callers.
	Kind  presswork.Kind
	Theme string
	// Owner, Filename, ContentType, WebhookURL, RequestID and TraceParent are as in Record.
	Owner       string
	Filename    string
	ContentType string
	WebhookURL  string
	// IdempotencyKey, when set, makes a second submission with the same Owner and Fingerprint return the
	// record of the first.
	IdempotencyKey string
	// Fingerprint is a digest of the parsed request.
	Fingerprint string
	// AltFingerprint is a second digest that also identifies the request; "" for none.
	AltFingerprint string
	RequestID      string // see Owner
	TraceParent    string // see Owner
	// Task is the job's task, from Kind.Task.
	Task Task

	// reserved is set by Client.Reserve, so that Submit does not repeat its work.
	reserved bool
}

// Query selects jobs of one owner, newest first.
type Query struct {
	// Limit is the largest number of records of a page. Default 20.
	Limit int
	// Cursor is Page.NextCursor of the previous page; "" begins with the newest job.
	Cursor string
	// Statuses and Kind select jobs; empty selects all.
	Statuses []presswork.Status
	Kind     presswork.Kind
}

// Page is one page of a listing.
type Page struct {
	// Records may be fewer than the limit although HasMore is set: a search that finds little stops early.
	Records []Record
	// HasMore reports whether there is a next page.
	HasMore bool
	// NextCursor is the cursor of the next page; "" when there is none.
	NextCursor string
}

// Convert is the payload of ConvertPDF. testdata/convert_v1.json must always decode.
type Convert struct {
	// Content is the Markdown when it is at most InlineLimit bytes.
	Content string `json:"content,omitempty"`
	// ContentKey is the store key of longer Markdown.
	ContentKey string `json:"content_key,omitempty"`
	// Theme is a name, or themes.Auto.
	Theme string `json:"theme"`
	// Options are the options of the request. They override the front matter, which is read later.
	Options presswork.Options `json:"options"`
	// Output is the format of the result; "" means presswork.PDF.
	Output presswork.Output `json:"output,omitempty"`
	// Assets are the files that the document refers to by relative paths.
	Assets []Asset `json:"assets,omitempty"`
	// Path is the document's path among the Assets; "" when their names are relative to its folder.
	Path string `json:"path,omitempty"`
	// Parts are the Assets that are printed after the document, in order.
	Parts []string `json:"parts,omitempty"`
	// Filename is the name of the download with the extension .pdf, which another output replaces. ""
	// makes a name from the title.
	Filename string `json:"filename,omitempty"`
}

// Keys returns the store keys of the sources: long content and all files.
func (c Convert) Keys() (keys []string) {
	if c.ContentKey != "" {
		keys = append(keys, c.ContentKey)
	}

	for _, a := range c.Assets {
		keys = append(keys, a.Key)
	}

	return keys
}

// Choice is the payload of ChooseTheme.
type Choice struct {
	// Convert is the conversion that needs a theme.
	Convert Convert `json:"convert"`
	// Queue is the queue of the conversion: Render or Bulk.
	Queue Queue `json:"queue"`
}

// Asset is a file that came with the Markdown.
type Asset struct {
	// Name is the clean relative path the Markdown refers to.
	Name string `json:"name"`
	// Key is the store key of the content.
	Key  string `json:"key"`
	Size int64  `json:"size"` // in bytes
	// SHA256 is the hex digest of the bytes.
	SHA256 string `json:"sha256"`
}

// Preview is the payload of RenderPreview.
type Preview struct {
	// Theme is the name of a theme in the catalogue.
	Theme string `json:"theme"`
	// Format is pdf or png.
	Format string `json:"format"`
	// Key is the store key of the preview. It includes a digest of the theme, so that a worker with
	// another version of the theme does not store its preview there.
	Key string `json:"key"`
}

// Drawing is the payload of DrawDiagrams.
type Drawing struct {
	// Sources are diagrams without duplicates.
	Sources []string `json:"sources"`
	// Languages has the language of each source, "mermaid", "dot" or "d2". Empty: all are in Mermaid.
	Languages []string     `json:"languages,omitempty"`
	Style     DrawingStyle `json:"style"`
}

// DrawingStyle is a diagram.Style on the queue.
type DrawingStyle struct {
	// The colours are in CSS notation. Size is in pixels.
	Dark             bool
	Page, Text, Line string
	Accents          []string
	Font             string
	Size             int
}

// PageExport is the payload of ExportPage.
type PageExport struct {
	// URL is the page's address in the canonical form of guard.Policy.CheckURL. Exactly one of PDF and
	// Screenshot is set.
	URL        string                    `json:"url"`
	PDF        *export.PDFOptions        `json:"pdf,omitempty"`
	Screenshot *export.ScreenshotOptions `json:"screenshot,omitempty"`
	// Keep is how long the result is kept, in seconds; 0 means the retention of all artifacts.
	Keep int64 `json:"keep,omitempty"`
}

// ContentType returns the content type of the result.
func (e PageExport) ContentType() string {
	switch {
	case e.Screenshot == nil:
		return presswork.PDF.ContentType()
	case e.Screenshot.Type == "":
		return "image/png"
	}

	return "image/" + e.Screenshot.Type
}

// PDFEdit is the payload of EditPDF.
type PDFEdit struct {
	// Operation and Options are those of the request, which the API has checked.
	Operation pdfops.Operation `json:"operation"`
	Options   pdfops.Options   `json:"options"`
	// Files are the PDF files. Mark is the picture or the PDF to draw; nil if there is none.
	Files []Asset `json:"files"`
	Mark  *Asset  `json:"mark,omitempty"`
	// Keep is as in PageExport.
	Keep int64 `json:"keep,omitempty"`
}

// ContentType returns the content type of the result. Several PDF files are in an archive.
func (e PDFEdit) ContentType() string {
	switch {
	case e.Operation == pdfops.Info:
		return "application/json"
	case e.Operation == pdfops.Text:
		return "text/plain; charset=utf-8"
	case e.Operation == pdfops.Split && !e.Options.Single:
		return "application/zip"
	}

	return presswork.PDF.ContentType()
}

// Keys returns the store keys of the files.
func (e PDFEdit) Keys() (keys []string) {
	for _, f := range e.Files {
		keys = append(keys, f.Key)
	}

	if e.Mark != nil {
		keys = append(keys, e.Mark.Key)
	}

	return keys
}

// Transcription is the payload of TranscribeAudio.
type Transcription struct {
	// Model is the model's id.
	Model string `json:"model"`
	// Key is the store key of the recording; "" when the recording is at URL.
	Key string `json:"key,omitempty"`
	// URL is the address of the recording, in canonical form.
	URL string `json:"url,omitempty"`
	// Task is inference.Transcribe or Translate.
	Task string `json:"task"`
	// Language, Prompt and Temperature are as in inference.Transcription.
	Language    string   `json:"language,omitempty"`
	Prompt      string   `json:"prompt,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	// Format is one of audio.ResponseFormats.
	Format string `json:"format"`
	// Segments and Words select the parts of verbose_json.
	Segments bool `json:"segments,omitempty"`
	Words    bool `json:"words,omitempty"`
	// Vendor is INFERENCE_VENDOR of the API that accepted the request.
	Vendor string `json:"vendor"`
	// Keep is as in PageExport.
	Keep int64 `json:"keep,omitempty"`
}

// CallTask is the payload of every call's task. The body of the call has the rest.
type CallTask struct {
	// ID is the task's id, from stream.TaskID.
	ID string `json:"id"`
}

// Webhook is the payload of DeliverWebhook. It has the whole body, so that the delivery does not depend on
// the job's record.
type Webhook struct {
	// MessageID is the webhook-id header, the same for every try.
	MessageID string `json:"message_id"`
	URL       string `json:"url"`
	// Body is the JSON to post.
	Body string `json:"body"`
	// CreatedAt is when the delivery was queued.
	CreatedAt time.Time `json:"created_at"`
}
