package openai

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"presswork/api/access"
	"presswork/api/upload"
	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/catalogue"
	"presswork/internal/inference/meter"
	"presswork/tasks/stream"
)

// service returns a service with the models "chat" and "ears"; the latter transcribes.
func service(t *testing.T, lax bool) *Service {
	t.Helper()
	const models = `models:
- {id: chat, upstreams: [{base_url: 'http://127.0.0.1:1/v1'}]}
- {id: ears, capabilities: [transcription], upstreams: [{base_url: 'http://127.0.0.1:1/v1'}]}
`

	path := filepath.Join(t.TempDir(), "models.yaml")
	if err := os.WriteFile(path, []byte(models), 0o600); err != nil {
		t.Fatal(err)
	}

	source, err := catalogue.NewSource(t.Context(), catalogue.SourceOptions{Path: path})
	if err != nil {
		t.Fatal(err)
	}

	return New(Options{Models: source.Current, Vendor: "presswork", Lax: lax})
}

func TestCallHasTheTierAndLimitsOfItsKey(t *testing.T) {
	t.Parallel()

	limited := access.Caller{Name: "ann", Tiers: []string{"flex"}, Limits: meter.Limits{RPM: 5, TPM: 1000}}

	for name, tc := range map[string]struct {
		lax    bool
		caller access.Caller
		field  string      // of the request
		tier   stream.Tier // "" if the request is rejected
	}{
		"no tier":               {caller: limited, tier: stream.OnDemand},
		"a tier of the key":     {caller: limited, field: `"service_tier":"flex",`, tier: stream.Flex},
		"another tier":          {caller: limited, field: `"service_tier":"performance",`},
		"another tier, lax":     {lax: true, caller: limited, field: `"service_tier":"performance",`, tier: stream.OnDemand},
		"a model of other keys": {caller: access.Caller{Models: []string{"ears"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := `{` + tc.field + `"model":"chat","messages":[{"role":"user","content":"Hi"}]}`
			began := time.Now()

			call, err := service(t, tc.lax).ReadChat([]byte(body), Head{
				Caller: tc.caller, IdempotencyKey: "again", Began: began, Timeout: time.Minute,
			})
			if tc.tier == "" {
				if _, ok := errors.AsType[*inference.Error](err); !ok {
					t.Errorf("got %v, want a rejection", err)
				}

				return
			}

			if err != nil {
				t.Fatal(err)
			}

			if call.Tier != tc.tier || call.Owner != "ann" || call.Limits != (meter.Limits{TPM: 1000}) ||
				call.Fingerprint == "" || !call.deadline.Equal(began.Add(time.Minute)) ||
				call.Tokens() < reserveAnswer {
				t.Errorf("got %+v; want the tier %s, the token limit and the deadline of the key", call, tc.tier)
			}
		})
	}
}

func TestLimitErrorNamesAKnownModel(t *testing.T) {
	t.Parallel()
	exceeded := &meter.Exceeded{Dimension: meter.TPM, Limit: 100, Used: 90, Requested: 20, After: 3 * time.Second}
	call := &Call{Call: stream.Call{Tier: stream.Flex}, model: &inference.Model{ID: "chat"}}

	before, after := LimitError(exceeded, nil), LimitError(exceeded, call)
	if strings.Contains(before.Message, "model") || !strings.Contains(after.Message, "for model `chat`") {
		t.Errorf("got %q without and %q with a model, want the model in the second", before.Message, after.Message)
	}

	large := LimitError(&meter.Exceeded{Dimension: meter.TPM, Limit: 100, Requested: 200}, call)
	if large.Status != http.StatusRequestEntityTooLarge || large.Type != "tokens" || large.Retryable {
		t.Errorf("a request over the whole limit: got %+v, want 413 and no retry", large)
	}

	if after.Status != http.StatusTooManyRequests || after.Type != "tokens" || after.RetryAfter != 3*time.Second {
		t.Errorf("got %+v, want 429 and a retry after 3s", after)
	}
}

// recorder is a Recorder that keeps what it receives.
type recorder struct{ data []byte }

func (r *recorder) Receive(_ string, from io.Reader) (err error) {
	r.data, err = io.ReadAll(from)
	return err
}

func (r *recorder) Arrived() bool { return r.data != nil }

// gauge ignores every value.
type gauge struct{}

func (gauge) Add(float64) {}

// newHold returns the account of a request on a node of its own.
func newHold() upload.Hold {
	return upload.NewIntake(upload.IntakeOptions{
		Memory: 1 << 20, Disk: 1 << 20, MemoryGauge: gauge{}, DiskGauge: gauge{},
	}).Hold("ann")
}

// fields are the fields of a form. Default of the field model: ears.
type fields map[string]string

// withRecording returns the fields of a form with a recording and one more field.
func withRecording(name, value string) fields { return fields{"file": "sound", name: value} }

func TestTranscriptionFormIsChecked(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		fields fields
		says   string // in the error; "" for none
		param  string // of the error
		data   string // the recording that was received
	}{
		"a file":             {fields: withRecording("language", "DE-de"), data: "sound"},
		"a data: URI":        {fields: fields{"url": "data:audio/wav;base64,c291bmQ=", "language": "de"}, data: "sound"},
		"no recording":       {fields: fields{}, says: "missing", param: "file"},
		"two recordings":     {fields: withRecording("url", "http://x/"), says: "not both", param: "url"},
		"no model":           {fields: withRecording("model", ""), says: "property 'model' is missing", param: "model"},
		"a model that talks": {fields: withRecording("model", "chat"), says: "chat", param: "model"},
		"a format":           {fields: withRecording("response_format", "doc"), says: "allowed", param: "response_format"},
		"a temperature":      {fields: withRecording("temperature", "2"), says: "from 0 to 1", param: "temperature"},
		"a language":         {fields: withRecording("language", "german!"), says: "ISO 639", param: "language"},
		"a stream":           {fields: withRecording("stream", "true"), says: "cannot be streamed", param: "stream"},
		"a long prompt":      {fields: withRecording("prompt", strings.Repeat("x", maxPrompt+1)), says: "bytes", param: "prompt"},
		"a granularity": {
			fields: withRecording("timestamp_granularities", "word"), says: "verbose_json", param: "timestamp_granularities",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var body bytes.Buffer
			w := multipart.NewWriter(&body)

			if _, named := tc.fields["model"]; !named {
				tc.fields["model"] = "ears"
			}

			for field, text := range tc.fields {
				if err := w.WriteField(field, text); err != nil {
					t.Fatal(err)
				}
			}

			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			hold, recording := newHold(), &recorder{}

			form, err := ReadTranscription(&body, w.Boundary(), &hold, recording)
			if err != nil {
				t.Fatal(err)
			}

			task, err := service(t, false).Transcription(form, access.Everyone(), inference.Transcribe)
			if tc.says != "" {
				e, ok := errors.AsType[*inference.Error](err)
				if !ok || e.Param != tc.param || !strings.Contains(e.Message, tc.says) {
					t.Errorf("got %v, want %q for %s", err, tc.says, tc.param)
				}

				return
			}

			if err != nil || task.Model != "ears" || task.Vendor != "presswork" || task.Language != "de" ||
				string(recording.data) != tc.data {
				t.Errorf("got %+v, %v, recorded %q; want model ears, language de and %q", task, err,
					recording.data, tc.data)
			}
		})
	}
}

func TestRepeatedFieldIsRejected(t *testing.T) {
	t.Parallel()

	var body bytes.Buffer
	w := multipart.NewWriter(&body)

	for range 2 {
		if err := w.WriteField("language", "de"); err != nil {
			t.Fatal(err)
		}
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	hold := newHold()

	_, err := ReadTranscription(&body, w.Boundary(), &hold, &recorder{})
	if fault.CodeOf(err) != fault.InvalidType {
		t.Errorf("got %v, want %s", err, fault.InvalidType)
	}
}

// queueLength is a queue on which so many calls wait.
type queueLength int64

func (queueLength) Call(context.Context, stream.Call) (*stream.Answer, error) { return nil, io.EOF }

func (w queueLength) Waiting(context.Context) (int64, error) { return int64(w), nil }

func TestFlexIsRejectedWhileManyCallsWait(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		tier   stream.Tier
		queue  queueLength
		reject bool
	}{
		"few wait":           {stream.Flex, maxFlexWaiting - 1, false},
		"many wait":          {stream.Flex, maxFlexWaiting, true},
		"many wait, default": {stream.OnDemand, maxFlexWaiting, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := New(Options{Calls: tc.queue}).CheckCapacity(t.Context(), &Call{Call: stream.Call{Tier: tc.tier}})

			e, rejected := errors.AsType[*inference.Error](err)
			if rejected != tc.reject || rejected && (e.Status != statusCapacityExceeded || !e.Retryable) {
				t.Errorf("got %v, want a rejection: %v", err, tc.reject)
			}
		})
	}
}
