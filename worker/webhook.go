package worker

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"presswork/internal/fault"
	"presswork/internal/guard"
	"presswork/tasks"
)

const (
	// webhookTimeout is how long a receiver has to answer, from the dial on.
	webhookTimeout = 10 * time.Second
	// webhookAnswer is how much of an answer is read, so that its connection
	// can be used again; the bytes themselves mean nothing.
	webhookAnswer = 64 << 10
	secretPrefix  = "whsec_"
)

// WebhookOptions wire Webhooks.
type WebhookOptions struct {
	// Policy decides which addresses a webhook may have. Mandatory.
	Policy *guard.Policy
	// Secret is whsec_ and the signing key, 24 to 64 bytes, in base64. Mandatory.
	Secret string
	// Version is the program's, for the User-Agent. Default "dev".
	Version string
	// Metrics is where the delivery counter is registered. Default: nowhere.
	Metrics prometheus.Registerer
	// Log gets refused and finished deliveries. Default: discard.
	Log *slog.Logger
}

// Webhooks delivers webhooks as Standard Webhooks describes
// (standardwebhooks.com, version 1).
type Webhooks struct {
	policy    *guard.Policy
	key       []byte
	userAgent string
	client    *http.Client
	attempts  *prometheus.CounterVec
	log       *slog.Logger
}

// NewWebhooks wires Webhooks. It fails when the secret has not the form above.
func NewWebhooks(o WebhookOptions) (*Webhooks, error) {
	key, err := decodeSecret(o.Secret)
	if err != nil {
		return nil, err
	}

	if o.Version == "" {
		o.Version = "dev"
	}

	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}

	h := &Webhooks{
		policy:    o.Policy,
		key:       key,
		userAgent: "Presswork/" + o.Version,
		client:    o.Policy.Client(guard.ClientOptions{Timeout: webhookTimeout}),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "presswork_webhook_attempts_total",
			Help: "Tries to deliver a webhook, by result: delivered, failed, refused or gone.",
		}, []string{"result"}),
		log: o.Log,
	}
	if o.Metrics != nil {
		o.Metrics.MustRegister(h.attempts)
	}

	return h, nil
}

func decodeSecret(secret string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(secret, secretPrefix)

	key, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(key) < 24 || len(key) > 64 {
		return nil, errors.New(
			"the webhook secret is not whsec_ and 24 to 64 bytes in base64; `echo whsec_$(openssl rand -base64 32)` makes one",
		)
	}

	return key, nil
}

// Deliver handles tasks.DeliverWebhook: one try. Any 2xx within 10 s is
// success. An un-coined error is worth another try; final are
// AddressNotAllowed and InvalidURL (the guard's), and WebhookInvalid for a
// receiver that answered 410 Gone.
func (h *Webhooks) Deliver(ctx context.Context, p tasks.Webhook) error {
	result, err := h.deliver(ctx, p)
	h.attempts.WithLabelValues(result).Inc()

	return err
}

func (h *Webhooks) deliver(ctx context.Context, p tasks.Webhook) (result string, err error) {
	u, err := h.policy.CheckURL(p.URL)
	if err != nil {
		return h.refuse(ctx, p, err)
	}
	// The URL's path and query may hold the receiver's secrets: only its host
	// appears in logs and errors.
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), strings.NewReader(p.Body))
	if err != nil {
		return h.refuse(ctx, p, fault.Errorf(fault.InvalidURL, "the webhook URL is not valid"))
	}
	at := strconv.FormatInt(time.Now().Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", h.userAgent)
	req.Header.Set("Webhook-Id", p.MessageID)
	req.Header.Set("Webhook-Timestamp", at)
	req.Header.Set("Webhook-Signature", h.sign(p.MessageID, at, p.Body))

	resp, err := h.client.Do(req)
	if err != nil {
		if fault.CodeOf(err) == fault.AddressNotAllowed {
			return h.refuse(ctx, p, fault.AsError(err))
		}

		return "failed", fmt.Errorf("webhook %s: %s does not answer: %w", p.MessageID, u.Host, errors.Unwrap(err))
	}
	defer resp.Body.Close()
	// What comes after the status changes nothing, a broken body included.
	_, _ = io.CopyN(io.Discard, resp.Body, webhookAnswer)

	return h.judge(ctx, p, u.Host, resp.StatusCode)
}

func (h *Webhooks) judge(ctx context.Context, p tasks.Webhook, host string, status int) (result string, err error) {
	switch {
	case status >= 200 && status < 300:
		h.log.DebugContext(
			ctx,
			"webhook delivered",
			"message_id",
			p.MessageID,
			"host",
			host,
			"age",
			time.Since(p.CreatedAt).Round(time.Millisecond),
		)

		return "delivered", nil
	case status == http.StatusGone:
		h.log.InfoContext(ctx, "webhook given up: the receiver answered 410", "message_id", p.MessageID, "host", host)
		return "gone", fault.Errorf(fault.WebhookInvalid, "%s answered 410 Gone", host)
	}

	return "failed", fmt.Errorf("webhook %s: %s answered %d", p.MessageID, host, status)
}

func (h *Webhooks) refuse(ctx context.Context, p tasks.Webhook, err error) (string, error) {
	h.log.WarnContext(ctx, "webhook refused", "message_id", p.MessageID, "error", err)
	return "refused", err
}

// sign gives the signature header: HMAC-SHA256 over id.timestamp.body.
func (h *Webhooks) sign(id, timestamp, body string) string {
	mac := hmac.New(sha256.New, h.key)
	mac.Write([]byte(id + "." + timestamp + "." + body))

	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
