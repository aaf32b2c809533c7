package openai

import (
	"bytes"
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
	"presswork/internal/inference"
	"presswork/internal/inference/catalogue"
	"presswork/internal/inference/meter"
	"presswork/tasks/stream"
)

// service returns a service with the models chat and ears.
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

func TestACallHasTheTierAndTheLimitsOfItsKey(t *testing.T) {
	t.Parallel()

	limited := access.Caller{Name: "ann", Tiers: []string{"flex"}, Limits: meter.Limits{RPM: 5, TPM: 1000}}

	for name, tc := range map[string]struct {
		lax   bool
		who   access.Caller
		field string
		tier  stream.Tier // "" when the request is refused
	}{
		"no tier":               {who: limited, tier: stream.OnDemand},
		"a tier of the key":     {who: limited, field: `"service_tier":"flex",`, tier: stream.Flex},
		"another tier":          {who: limited, field: `"service_tier":"performance",`},
		"another tier, lax":     {lax: true, who: limited, field: `"service_tier":"performance",`, tier: stream.OnDemand},
		"a model of other keys": {who: access.Caller{Models: []string{"ears"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := `{` + tc.field + `"model":"chat","messages":[{"role":"user","content":"Hi"}]}`
			began := time.Now()

			call, err := service(t, tc.lax).ReadChat([]byte(body), Head{
				Caller: tc.who, IdempotencyKey: "again", Began: began, Timeout: time.Minute,
			})
			if tc.tier == "" {
				if _, ok := errors.AsType[*inference.Error](err); !ok {
					t.Errorf("got %v", err)
				}

				return
			}

			if err != nil {
				t.Fatal(err)
			}

			if call.Tier != tc.tier || call.Owner != "ann" || call.Limits != (meter.Limits{TPM: 1000}) ||
				call.Fingerprint == "" || !call.deadline.Equal(began.Add(time.Minute)) || call.Tokens() < reserveAnswer {
				t.Errorf("got %+v", call)
			}
		})
	}
}

func TestALimitErrorNamesTheModelOnceItIsKnown(t *testing.T) {
	t.Parallel()
	refused := &meter.Exceeded{Dimension: meter.TPM, Limit: 100, Used: 90, Requested: 20, After: 3 * time.Second}
	call := &Call{Call: stream.Call{Tier: stream.Flex}, model: &inference.Model{ID: "chat"}}

	before, after := LimitError(refused, nil), LimitError(refused, call)
	if strings.Contains(before.Message, "model") || !strings.Contains(after.Message, "for model `chat`") {
		t.Errorf("got %q and %q", before.Message, after.Message)
	}

	if after.Status != http.StatusTooManyRequests || after.Type != "tokens" || after.RetryAfter != 3*time.Second {
		t.Errorf("got %+v", after)
	}
}

// ears is a Recorder that keeps what it receives.
type ears struct{ heard []byte }

func (e *ears) Receive(_ string, from io.Reader) (err error) {
	e.heard, err = io.ReadAll(from)
	return err
}

func (e *ears) Arrived() bool { return e.heard != nil }

// gauge ignores every value.
type gauge struct{}

func (gauge) Add(float64) {}

func TestARequestForATranscriptIsChecked(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		fields map[string]string
		param  string // of the error; "" for none
		heard  string
	}{
		"a file":             {fields: map[string]string{"model": "ears", "file": "sound", "language": "de-DE"}, heard: "sound"},
		"a data: URI":        {fields: map[string]string{"model": "ears", "url": "data:audio/wav;base64,c291bmQ="}, heard: "sound"},
		"no recording":       {fields: map[string]string{"model": "ears"}, param: "file"},
		"no model":           {fields: map[string]string{"file": "sound"}, param: "model"},
		"a model that talks": {fields: map[string]string{"model": "chat", "file": "sound"}, param: "model"},
		"a format":           {fields: map[string]string{"model": "ears", "file": "sound", "response_format": "doc"}, param: "response_format"},
		"a temperature":      {fields: map[string]string{"model": "ears", "file": "sound", "temperature": "2"}, param: "temperature"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var body bytes.Buffer
			w := multipart.NewWriter(&body)

			for field, text := range tc.fields {
				if err := w.WriteField(field, text); err != nil {
					t.Fatal(err)
				}
			}

			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			intake := upload.NewIntake(upload.IntakeOptions{
				Memory: 1 << 20, Disk: 1 << 20, ShownMemory: gauge{}, ShownDisk: gauge{},
			})
			hold, recording := intake.Hold("ann"), &ears{}

			form, err := ReadTranscription(&body, w.Boundary(), &hold, recording)
			if err != nil {
				t.Fatal(err)
			}

			task, err := service(t, false).Transcription(form, access.Everyone(), inference.Transcribe)
			if tc.param != "" {
				if e, ok := errors.AsType[*inference.Error](err); !ok || e.Param != tc.param {
					t.Errorf("got %v", err)
				}

				return
			}

			if err != nil || task.Model != "ears" || task.Vendor != "presswork" || string(recording.heard) != tc.heard {
				t.Errorf("got %+v, heard %q (%v)", task, recording.heard, err)
			}
		})
	}
}
