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
	// webhookTimeout is how long a receiver has to answer, including the dial.
	webhookTimeout = 10 * time.Second
	// maxAnswerBytes is how many bytes of an answer are read and dropped, so that the connection can be
	// reused.
	maxAnswerBytes = 64 << 10
	// maxErrorBytes is how many bytes of an error are stored. It may quote what the receiver answered.
	maxErrorBytes = 500
	// secretPrefix begins each secret, as Standard Webhooks defines it.
	secretPrefix = "whsec_"
)

// WebhookOptions configure Webhooks.
type WebhookOptions struct {
	// Policy decides which addresses a webhook may have. Mandatory.
	Policy *guard.Policy
	// Secret is whsec_ followed by the signing key in base64: 24 to 64 bytes. With several secrets, separated by
	// commas, a webhook is signed by each, so that receivers can change to a new one. Mandatory.
	Secret string
	// Version is the program's, for the User-Agent. Default "dev".
	Version string
	// Metrics registers the counter of deliveries. Default: it is not exported.
	Metrics prometheus.Registerer
	// Record stores each try for operators. Its error is logged. Default: tries are not stored.
	Record func(context.Context, tasks.Delivery) error
	// Log receives refused and finished deliveries. Default: discarded.
	Log *slog.Logger
}

// Webhooks delivers webhooks by the Standard Webhooks specification (standardwebhooks.com, version 1). It is safe
// for concurrent use.
type Webhooks struct {
	policy *guard.Policy
	// keys are the decoded secrets; each signs every webhook.
	keys      [][]byte
	userAgent string
	// client dials permitted addresses only and follows no redirects.
	client   *http.Client
	attempts *prometheus.CounterVec
	record   func(context.Context, tasks.Delivery) error
	log      *slog.Logger
}

// NewWebhooks returns Webhooks. Errors: the secret is invalid.
func NewWebhooks(o WebhookOptions) (*Webhooks, error) {
	var keys [][]byte

	for secret := range strings.SplitSeq(o.Secret, ",") {
		key, err := decodeSecret(strings.TrimSpace(secret))
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}

	if o.Version == "" {
		o.Version = "dev"
	}

	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}

	if o.Record == nil {
		o.Record = func(context.Context, tasks.Delivery) error { return nil }
	}

	h := &Webhooks{
		policy:    o.Policy,
		keys:      keys,
		userAgent: "Presswork/" + o.Version,
		client:    o.Policy.Client(guard.ClientOptions{Timeout: webhookTimeout}),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "presswork_webhook_attempts_total",
			Help: "Tries to deliver a webhook, by result: delivered, failed, refused or gone.",
		}, []string{"result"}),
		record: o.Record,
		log:    o.Log,
	}
	if o.Metrics != nil {
		o.Metrics.MustRegister(h.attempts)
	}

	return h, nil
}

// decodeSecret returns the key in a secret. Errors: the secret has another form or a key of another length.
func decodeSecret(secret string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(secret, secretPrefix)

	key, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(key) < 24 || len(key) > 64 {
		// Do not quote the secret: the error is logged.
		return nil, errors.New("the webhook secret is invalid: want whsec_ and 24 to 64 bytes in base64; " +
			"create one by `echo whsec_$(openssl rand -base64 32)`")
	}

	return key, nil
}

// Deliver handles tasks.DeliverWebhook: one try. Any 2xx status within 10 s is success. An error without a
// code allows another try. Final errors: AddressNotAllowed and InvalidURL from the guard, and
// WebhookInvalid for a receiver that answered 410 Gone.
func (h *Webhooks) Deliver(ctx context.Context, p tasks.Webhook) error {
	began := time.Now()
	try := tasks.Delivery{JobID: p.JobID(), At: began.UTC()}
	err := h.deliver(ctx, p, &try)

	try.Milliseconds = time.Since(began).Milliseconds()

	if err != nil {
		text := err.Error()
		try.Error = strings.ToValidUTF8(text[:min(len(text), maxErrorBytes)], "")
	}
	h.attempts.WithLabelValues(try.Result).Inc()

	// The end of ctx may have ended the try.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stoppingTimeout)
	defer cancel()

	if err := h.record(ctx, try); err != nil {
		h.log.WarnContext(ctx, "a webhook is missing in the log of deliveries", "message_id", p.MessageID, "error", err)
	}

	return err
}

// deliver makes one try and sets its host, status and result.
func (h *Webhooks) deliver(ctx context.Context, p tasks.Webhook, try *tasks.Delivery) error {
	try.Result = "refused"

	u, err := h.policy.CheckURL(p.URL)
	if err != nil {
		return h.refuse(ctx, p, err)
	}
	// Log only the host of the URL: its path and query may hold secrets of the receiver.
	try.Host = u.Host

	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), strings.NewReader(p.Body))
	if err != nil {
		return h.refuse(ctx, p, fault.Errorf(fault.InvalidURL, "the webhook URL is not valid"))
	}
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", h.userAgent)
	req.Header.Set("Webhook-Id", p.MessageID)
	req.Header.Set("Webhook-Timestamp", timestamp)
	req.Header.Set("Webhook-Signature", h.sign(p.MessageID, timestamp, p.Body))

	resp, err := h.client.Do(req)
	if err != nil {
		if fault.CodeOf(err) == fault.AddressNotAllowed {
			return h.refuse(ctx, p, fault.AsError(err))
		}
		try.Result = "failed"

		return fmt.Errorf("webhook %s: %s does not answer: %w", p.MessageID, u.Host, errors.Unwrap(err))
	}
	defer resp.Body.Close()
	// Only the status matters, so an error of the body is ignored.
	_, _ = io.CopyN(io.Discard, resp.Body, maxAnswerBytes)
	try.Status = resp.StatusCode

	return h.finishTry(ctx, p, try)
}

// finishTry sets the result of a try by its status, and returns the error of Deliver.
func (h *Webhooks) finishTry(ctx context.Context, p tasks.Webhook, try *tasks.Delivery) error {
	log := h.log.With("message_id", p.MessageID, "host", try.Host)

	switch {
	case try.Status >= 200 && try.Status < 300:
		try.Result = "delivered"
		log.DebugContext(ctx, "webhook delivered", "age", time.Since(p.CreatedAt).Round(time.Millisecond))

		return nil
	case try.Status == http.StatusGone:
		try.Result = "gone"
		log.InfoContext(ctx, "webhook dropped: the receiver answered 410 Gone")

		return fault.Errorf(fault.WebhookInvalid, "%s answered 410 Gone", try.Host)
	}
	try.Result = "failed"

	return fmt.Errorf("webhook %s: %s answered %d", p.MessageID, try.Host, try.Status)
}

// refuse logs that the address of a webhook is not allowed, and returns err.
func (h *Webhooks) refuse(ctx context.Context, p tasks.Webhook, err error) error {
	h.log.WarnContext(ctx, "webhook refused", "message_id", p.MessageID, "error", err)
	return err
}

// sign returns the signature header: for each key HMAC-SHA256 over id.timestamp.body.
func (h *Webhooks) sign(id, timestamp, body string) string {
	signatures := make([]string, 0, len(h.keys))

	for _, key := range h.keys {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + timestamp + "." + body))
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}

	return strings.Join(signatures, " ")
}
