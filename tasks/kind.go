package tasks

import (
	"encoding/json"
	"time"

	"presswork/tasks/record"
)

// Kind is a type of task with payloads of type P. A new kind needs a line here, a payload struct, a golden
// file in testdata, and a handler in worker.
type Kind[P any] struct {
	// Name is the Asynq type. It ends in the payload's version.
	Name  string
	Queue Queue
	// Retries is how often the task may run again. It is never 0, because Asynq archives a crashed task
	// without retries.
	Retries int
	// Timeout bounds one run. It is at least a second, because Asynq treats less as 30 minutes.
	Timeout time.Duration
	// Backoff is the wait before each retry; empty for the default of delayOf.
	Backoff []time.Duration
}

// The kinds.
var (
	// ConvertPDF renders Markdown as an artifact. The worker enforces RENDER_TIMEOUT, at most 15 minutes;
	// this limit is above it.
	ConvertPDF = Kind[Convert]{Name: "convert:v1", Queue: Render, Retries: 5, Timeout: 16 * time.Minute}
	// ChooseTheme lets a model read a document, and then makes the job a ConvertPDF. A slow model holds no
	// render slot.
	ChooseTheme = Kind[Choice]{Name: "choose:v1", Queue: Text, Retries: 3, Timeout: 2 * time.Minute}
	// RenderPreview stores the sample of a theme. It is a call: see Client.Ask.
	RenderPreview = Kind[Preview]{Name: "preview:v2", Queue: Render, Retries: 2, Timeout: 2 * time.Minute}
	// DrawDiagrams draws the diagrams of a document for the API, which has no browser. It is a call whose
	// answer is a list of diagram.Picture.
	DrawDiagrams = Kind[Drawing]{Name: "draw:v2", Queue: Render, Retries: 1, Timeout: time.Minute}
	// ExportPage renders the page at an address as a PDF or a picture. The page may take two minutes. A
	// page that fails is not retried.
	ExportPage = Kind[PageExport]{Name: "export:v1", Queue: Export, Retries: 3, Timeout: 5 * time.Minute}
	// EditPDF performs an operation on existing PDF files. It runs in a render slot, because the slots bound
	// a worker's memory and processors.
	EditPDF = Kind[PDFEdit]{Name: "pdf:v1", Queue: Render, Retries: 3, Timeout: 16 * time.Minute}
	// TranscribeAudio transcribes a recording. A model's Routing bounds each part of the recording; this
	// limit is above them.
	TranscribeAudio = Kind[Transcription]{Name: "transcribe:v1", Queue: Audio, Retries: 3, Timeout: 6 * time.Hour}
	// ServeCall serves a call; see package stream. Timeout bounds a run. The call also ends when its caller
	// disconnects.
	ServeCall = Kind[CallTask]{Name: "call:v2", Queue: Infer, Retries: 5, Timeout: time.Hour}
	// ServeTools is ServeCall for the built-in tools of a completion. It is a separate kind, so that a model's program
	// never delays the first token of another completion.
	ServeTools = Kind[CallTask]{Name: "tool:v2", Queue: Tools, Retries: 5, Timeout: time.Hour}
	// DeliverWebhook sends a job's end to a webhook: 8 tries over about a day.
	DeliverWebhook = Kind[Webhook]{
		Name:    "webhook:v1",
		Queue:   Text,
		Retries: 7,
		Timeout: 30 * time.Second,
		Backoff: []time.Duration{
			5 * time.Second,
			time.Minute,
			10 * time.Minute,
			30 * time.Minute,
			2 * time.Hour,
			6 * time.Hour,
			15 * time.Hour,
		},
	}
)

// Task is one typed task, encoded and ready to submit. Queue, Retries and Timeout are the kind's.
type Task = record.Task

// Task encodes a payload. It fails only for values that JSON does not have, such as NaN.
func (k Kind[P]) Task(payload P) (Task, error) {
	b, err := json.Marshal(payload)
	if err != nil {
		return Task{}, err
	}

	return Task{Kind: k.Name, Queue: k.Queue, Payload: b, Retries: k.Retries, Timeout: k.Timeout}, nil
}

// NewID returns a new job id; see record.NewID.
func NewID() string { return record.NewID() }

// ValidID reports whether s has the form of NewID, so that it may become part of a key.
func ValidID(s string) bool { return record.ValidID(s) }
