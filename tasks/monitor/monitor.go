// Package monitor serves Asynqmon, a web page that shows the queues. It adds the payloads of jobs and hides their
// secrets.
package monitor

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/hibiken/asynq"
	"github.com/hibiken/asynqmon"
	"github.com/redis/go-redis/v9"

	"presswork/internal/lazyregexp"
	"presswork/tasks"
	"presswork/tasks/record"
	"presswork/tasks/redisdial"
)

// Monitor serves Asynqmon's page. It has no access control: the caller must decide who may see the page, and which
// origins may use its buttons.
type Monitor struct {
	handler *asynqmon.HTTPHandler
	// rdb reads the payloads of jobs, which Asynq does not have.
	rdb redis.UniversalClient
}

// New returns the page for a Redis address, to be served under rootPath ("/monitor"). With readOnly, the page
// cannot change anything. Errors: the address is invalid.
func New(address, rootPath string, readOnly bool) (*Monitor, error) {
	rdb, err := redisdial.Dial(address, 4)
	if err != nil {
		return nil, err
	}

	return &Monitor{rdb: rdb, handler: asynqmon.New(asynqmon.Options{
		RootPath:         rootPath,
		RedisConnOpt:     dialer(address),
		ReadOnly:         readOnly,
		PayloadFormatter: asynqmon.PayloadFormatterFunc(showPayload),
	})}, nil
}

// ServeHTTP serves the page with a Content-Security-Policy: the browser loads nothing from other hosts and shows
// the page in no foreign frame.
func (m *Monitor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := &monitorPage{ResponseWriter: w}
	if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/api/") {
		p.fill = func(answer []byte) []byte { return m.fillPayloads(r.Context(), answer) }
	}
	m.handler.ServeHTTP(p, r)
	p.finish()
}

var (
	// foreignLink matches elements of Asynqmon's page that load from other hosts. These are its fonts, which the
	// page does not need.
	foreignLink  = lazyregexp.New(`<link [^>]*href="https?://[^>]*>`)
	inlineScript = lazyregexp.New(`(?s)<script>(.*?)</script>`)
)

// monitorPage buffers HTML until its scripts are in the policy, and responses of the page's API until the payloads
// of jobs are in them. Other responses pass unchanged.
type monitorPage struct {
	http.ResponseWriter
	// fill changes an answer of the page's API; nil for other responses.
	fill func(answer []byte) []byte
	// body is the buffered response, and status its status; 0 for 200.
	body   bytes.Buffer
	status int
	// headersSent is set once the headers are sent. From then on, Write passes bytes through.
	headersSent bool
}

// WriteHeader keeps the status until the headers are sent: the policy is complete only when the page is.
func (p *monitorPage) WriteHeader(status int) {
	if p.status == 0 {
		p.status = status
	}
}

// Write implements io.Writer. It keeps HTML for the changes that follow, and passes everything else on.
func (p *monitorPage) Write(b []byte) (int, error) {
	kind := p.Header().Get("Content-Type")
	mayBeHTML := kind == "" || strings.HasPrefix(kind, "text/html")

	if !p.headersSent && (p.fill != nil || mayBeHTML) {
		return p.body.Write(b)
	}
	p.sendHeaders("")

	return p.ResponseWriter.Write(b)
}

// sendHeaders sends the headers. scripts are the sources of scripts that the policy allows besides our own files.
func (p *monitorPage) sendHeaders(scripts string) {
	if p.headersSent {
		return
	}
	p.headersSent = true
	h := p.Header()
	h.Set(
		"Content-Security-Policy",
		"default-src 'none'; script-src 'self'"+scripts+"; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "+
			"font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "+
			"frame-ancestors 'none'",
	)
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	p.ResponseWriter.WriteHeader(cmp.Or(p.status, http.StatusOK))
}

// finish sends the buffered response, if there is one.
func (p *monitorPage) finish() {
	if p.fill != nil {
		answer := p.fill(p.body.Bytes())
		p.sendHeaders("")
		_, _ = p.ResponseWriter.Write(answer) // an error means that the client has disconnected

		return
	}
	page := foreignLink().ReplaceAll(p.body.Bytes(), nil)
	page = withBar(page)
	var scripts strings.Builder

	for _, s := range inlineScript().FindAllSubmatch(page, -1) {
		sum := sha256.Sum256(s[1])
		scripts.WriteString(" 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'")
	}

	if len(page) > 0 && p.Header().Get("Content-Type") == "" {
		p.Header().Set("Content-Type", http.DetectContentType(page))
	}
	p.sendHeaders(scripts.String())
	_, _ = p.ResponseWriter.Write(page) // an error means that the client has disconnected
}

// Stop closes the page's connections. The only error is that of closing one.
func (m *Monitor) Stop(context.Context) error { return errors.Join(m.handler.Close(), m.rdb.Close()) }

// dialer makes Asynq connect with our client, for a Redis address. Asynq's own options have neither our time-outs
// nor unix sockets with a password.
type dialer string

// MakeRedisClient returns the client. Asynq panics on any other type. The address was checked before.
func (d dialer) MakeRedisClient() any {
	client, err := redisdial.Dial(string(d), 8)
	if err != nil {
		return err
	}
	client.AddHook(tasks.QueueHook())

	return client
}

var _ asynq.RedisConnOpt = dialer("")

// payloadInRecord is shown instead of the payload of a job's task, which is not in Asynq.
const payloadInRecord = "in the job's record"

// fillPayloads puts the payloads of jobs that have not ended into an answer of the page's API. If it cannot, the
// answer stays as it is: the page then shows payloadInRecord.
func (m *Monitor) fillPayloads(ctx context.Context, answer []byte) []byte {
	if !bytes.Contains(answer, []byte(payloadInRecord)) {
		return answer
	}
	var root any
	decoder := json.NewDecoder(bytes.NewReader(answer))
	decoder.UseNumber() // keep the digits of large numbers

	if decoder.Decode(&root) != nil {
		return answer
	}
	var jobs []map[string]any // the objects whose payload is to be filled in
	var collect func(any)
	collect = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if v["payload"] == payloadInRecord {
				jobs = append(jobs, v)
			}

			for _, member := range v {
				collect(member)
			}
		case []any:
			for _, member := range v {
				collect(member)
			}
		}
	}
	collect(root)
	payloads := make([]*redis.StringCmd, len(jobs))

	_, err := m.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, job := range jobs {
			payloads[i] = p.Get(ctx, record.PayloadKey(fmt.Sprint(job["id"])))
		}

		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return answer
	}

	for i, job := range jobs {
		if b, err := payloads[i].Bytes(); err == nil {
			job["payload"] = showPayload("", b)
		}
	}

	filled, err := json.Marshal(root)
	if err != nil {
		return answer
	}

	return filled
}

// showPayload shortens the documents in a payload. It hides passwords and the cookies and headers of exports. A page of
// tasks therefore stays small and shows no secrets.
func showPayload(kind string, payload []byte) string {
	if record.HasRecord(kind) {
		return payloadInRecord
	}

	var v any
	if err := json.Unmarshal(payload, &v); err != nil {
		return fmt.Sprintf("%d bytes", len(payload))
	}

	b, err := json.Marshal(shorten("", v))
	if err != nil {
		return fmt.Sprintf("%d bytes", len(payload))
	}

	return string(b)
}

const (
	// shownBytes is the number of bytes of a text that the page shows.
	shownBytes = 200
	// hidden replaces secrets.
	hidden = "•••"
)

// shorten returns v with its texts shortened and its secrets hidden. name is the name of the member whose value v is.
func shorten(name string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, member := range v {
			v[k] = shorten(k, member)
			if name == "extraHTTPHeaders" || name == "cookies" && k == "value" {
				v[k] = hidden
			}
		}
	case []any:
		for i, member := range v {
			v[i] = shorten(name, member)
		}
	case string:
		if name == "password" && v != "" {
			return hidden
		}

		if len(v) > shownBytes {
			cut := shownBytes
			for !utf8.RuneStart(v[cut]) {
				cut--
			}

			return fmt.Sprintf("%s… (%d bytes)", v[:cut], len(v))
		}
	}

	return v
}
