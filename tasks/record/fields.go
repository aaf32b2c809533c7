package record

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"presswork"
	"presswork/internal/fault"
)

// The fields of a job's hash that form a Record. The hash also has transitionFields. A field without a value is absent.
// Times have the form of stamp, by the clock of Redis.
const (
	fieldID       = "id"
	fieldKind     = "kind"
	fieldStatus   = "status"
	fieldStage    = "stage"
	fieldProgress = "progress" // in percent, never decreasing
	// The sequence number, the message and the time of the last event.
	fieldSeq     = "seq"
	fieldMessage = "message"
	fieldUpdated = "updated"

	fieldTheme  = "theme"
	fieldCached = "cached" // "1" for an artifact from the render cache
	// When the job was created, when its first run began, and when it ended.
	fieldCreated  = "created"
	fieldStarted  = "started"
	fieldFinished = "finished"

	fieldAttempts = "attempts" // the runs of the job's present task
	fieldWarnings = "warnings" // JSON objects with commas between them, up to about 64 KiB
	// JSON: the artifact of a completed job, the error of a failed one, the analysis of the document.
	fieldArtifact = "artifact"
	fieldError    = "error"
	fieldAnalysis = "analysis"
	fieldPrinted  = "printed" // JSON: Record.Printed

	// As in Record.
	fieldOwner       = "owner"
	fieldFilename    = "filename"
	fieldWebhook     = "webhook"
	fieldRequestID   = "request_id"
	fieldTraceParent = "traceparent"

	fieldQueue   = "queue"   // of the job's task
	fieldWorkers = "workers" // names with spaces between them
	fieldType    = "type"    // Record.ContentType
)

// Fields of a job's hash that only transitions read.
const (
	fieldTask    = "task"    // the name of the task's kind
	fieldRetries = "retries" // Task.Retries
	fieldTimeout = "timeout" // Task.Timeout in ms
	fieldFence   = "fence"   // the number of the latest run
)

// recordFields returns the fields of a Record, in the order of the scripts' answers.
func recordFields() []string {
	return []string{
		fieldID, fieldKind, fieldStatus, fieldStage, fieldProgress, fieldSeq, fieldMessage, fieldUpdated,
		fieldTheme, fieldCached, fieldCreated, fieldStarted, fieldFinished, fieldAttempts, fieldWarnings,
		fieldArtifact, fieldError, fieldAnalysis, fieldOwner, fieldFilename, fieldWebhook, fieldRequestID,
		fieldTraceParent, fieldQueue, fieldPrinted, fieldWorkers,
		fieldType,
	}
}

// transitionFields returns the fields that only the transitions of an open job read. The scripts store the nonces of
// the creation, the latest begin and the end under "made", "begun" and "by".
func transitionFields() []string {
	return []string{"made", fieldFence, "begun", "by", fieldTask, fieldRetries, fieldTimeout}
}

// fieldsOf returns the fields in the answer to an HMGET of recordFields.
func fieldsOf(values []any) (map[string]string, error) {
	fields := recordFields()
	if len(values) < len(fields) {
		return nil, fmt.Errorf("job record has %d of %d fields", len(values), len(fields))
	}

	m := make(map[string]string, len(fields))
	for i, name := range fields {
		if s, ok := values[i].(string); ok {
			m[name] = s
		}
	}

	return m, nil
}

// decodeValues decodes the answer to an HMGET of recordFields; nil when there is no such job.
func decodeValues(values []any) (*Stored, error) {
	m, err := fieldsOf(values)
	if err != nil {
		return nil, err
	}

	return decodeRecord(m)
}

// decodeRecord decodes the fields of a record; nil when there is no such job.
func decodeRecord(m map[string]string) (*Stored, error) {
	if m[fieldID] == "" {
		return nil, nil
	}
	d := decoder{m: m}

	s := &Stored{
		Queue: Queue(m[fieldQueue]), message: m[fieldMessage], updated: d.time(fieldUpdated),
		Record: Record{
			Owner: m[fieldOwner], Filename: m[fieldFilename], ContentType: m[fieldType], WebhookURL: m[fieldWebhook],
			RequestID: m[fieldRequestID], TraceParent: m[fieldTraceParent],
			Job: presswork.Job{
				ID: m[fieldID], Kind: presswork.Kind(m[fieldKind]), Status: presswork.Status(m[fieldStatus]),
				Stage: presswork.Stage(m[fieldStage]), Progress: int(d.int(fieldProgress)), Seq: d.int(fieldSeq),
				Theme: m[fieldTheme], Cached: m[fieldCached] == "1", Attempts: int(d.int(fieldAttempts)),
				CreatedAt: d.time(fieldCreated), StartedAt: d.optionalTime(fieldStarted),
				FinishedAt: d.optionalTime(fieldFinished), Warnings: []fault.Warning{},
			},
		},
	}
	if w := m[fieldWorkers]; w != "" {
		s.Workers = strings.Fields(w)
	}

	if w := m[fieldWarnings]; w != "" {
		d.json(fieldWarnings, "["+w+"]", &s.Warnings)
	}
	d.json(fieldPrinted, m[fieldPrinted], &s.Printed)
	d.json(fieldArtifact, m[fieldArtifact], &s.Artifact)
	d.json(fieldError, m[fieldError], &s.Error)
	d.json(fieldAnalysis, m[fieldAnalysis], &s.Analysis)

	if d.err != nil {
		return nil, fmt.Errorf("job record %s: %w", s.ID, d.err)
	}

	return s, nil
}

// decoder decodes fields and keeps the first error.
type decoder struct {
	m   map[string]string
	err error
}

// keepError keeps err as the error of a field, unless an earlier field has one.
func (d *decoder) keepError(field string, err error) {
	if err != nil && d.err == nil {
		d.err = fmt.Errorf("field %s: %w", field, err)
	}
}

// int returns a number; 0 if the field is empty.
func (d *decoder) int(field string) int64 {
	if d.m[field] == "" {
		return 0
	}
	n, err := strconv.ParseInt(d.m[field], 10, 64)
	d.keepError(field, err)

	return n
}

// time returns a time; zero if the field is empty.
func (d *decoder) time(field string) time.Time {
	if d.m[field] == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, d.m[field])
	d.keepError(field, err)

	return t
}

// optionalTime returns a time, or nil if the field is empty.
func (d *decoder) optionalTime(field string) *time.Time {
	t := d.time(field)
	if t.IsZero() {
		return nil
	}

	return &t
}

// json decodes a value into a variable, which stays as it is if the field is empty.
func (d *decoder) json(field, text string, into any) {
	if text != "" {
		d.keepError(field, json.Unmarshal([]byte(text), into))
	}
}

// stamp formats a time as records and events hold it. All stamps have one length, so that the scripts
// can compare them as text.
func stamp(t time.Time) string { return t.Format("2006-01-02T15:04:05.000Z07:00") }
