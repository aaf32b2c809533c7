package tasks

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"unicode/utf8"

	"github.com/hibiken/asynq"
	"github.com/hibiken/asynqmon"
)

// Monitor is Asynqmon's page on the queues. It has no protection of its own:
// who may see it, and from where its buttons may be pressed, is the caller's to
// decide.
type Monitor struct{ handler *asynqmon.HTTPHandler }

// NewMonitor makes the page for a Redis address, to be served under rootPath
// ("/monitor"). readOnly leaves out what changes anything.
func NewMonitor(address, rootPath string, readOnly bool) (*Monitor, error) {
	if _, err := parseAddress(address); err != nil {
		return nil, fmt.Errorf("redis address: %w; %s", err, addressForms)
	}
	return &Monitor{asynqmon.New(asynqmon.Options{
		RootPath:         rootPath,
		RedisConnOpt:     dialer(address),
		ReadOnly:         readOnly,
		PayloadFormatter: asynqmon.PayloadFormatterFunc(showPayload),
	})}, nil
}

func (m *Monitor) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.handler.ServeHTTP(w, r) }

// Stop closes the page's connections.
func (m *Monitor) Stop(context.Context) error { return m.handler.Close() }

// dialer makes Asynq connect as we do; its own options know neither our
// time-outs nor unix sockets with a password.
type dialer string

// MakeRedisClient is called by Asynq, which panics on anything but a client;
// the address was parsed before.
func (d dialer) MakeRedisClient() any {
	client, err := Dial(string(d), 8)
	if err != nil {
		return err
	}
	return client
}

var _ asynq.RedisConnOpt = dialer("")

// showPayload shortens the documents in a payload and hides passwords, and the
// cookies and headers of exports, so that a page of tasks stays a page and tells
// no secret.
func showPayload(_ string, payload []byte) string {
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
	shownBytes = 200
	hidden     = "•••"
)

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
