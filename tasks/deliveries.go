package tasks

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/internal/fault"
	"presswork/tasks/record"
)

const (
	// deliveriesKey is a list of the last tries to deliver webhooks, newest first.
	deliveriesKey = "pw:deliveries"
	// maxDeliveries is the length of the list. It takes about 300 KB of Redis, at most 1 MB.
	maxDeliveries = 1000
	// deliveriesTTL is how long the list is kept after the last try.
	deliveriesTTL = 30 * 24 * time.Hour
	// messagePrefix begins the MessageID of a webhook, before the id of the job.
	messagePrefix = "msg_"
)

// Delivery is one try to deliver a webhook.
type Delivery struct {
	JobID string `json:"job_id"`
	// At is when the try began.
	At time.Time `json:"at"`
	// Host is the receiver, without the path and query, which may hold secrets.
	Host string `json:"host"`
	// Result is delivered, failed (it is tried again), refused (the address is not allowed) or gone (status 410).
	Result string `json:"result"`
	// Status is the HTTP status of the answer, 0 without one. Error says what failed, "" if nothing did.
	Status int    `json:"status"`
	Error  string `json:"error"`
	// Milliseconds is the time until the answer.
	Milliseconds int64 `json:"ms"`
}

// JobID returns the id of the job whose end the webhook reports.
func (w Webhook) JobID() string { return strings.TrimPrefix(w.MessageID, messagePrefix) }

// LogDelivery adds a try to the log of webhooks, which keeps the last maxDeliveries. Errors: QueueUnavailable.
func (c *Client) LogDelivery(ctx context.Context, d Delivery) error {
	line, err := json.Marshal(d)
	if err != nil {
		return err
	}

	_, err = c.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.LPush(ctx, deliveriesKey, line)
		p.LTrim(ctx, deliveriesKey, 0, maxDeliveries-1)
		p.Expire(ctx, deliveriesKey, deliveriesTTL)

		return nil
	})
	if err != nil {
		return record.Unavailable(err)
	}

	return nil
}

// Deliveries returns the last tries to deliver webhooks, newest first: those of one job, or of all jobs if job is "".
// Errors: QueueUnavailable.
func (c *Client) Deliveries(ctx context.Context, job string) ([]Delivery, error) {
	lines, err := c.rdb.LRange(ctx, deliveriesKey, 0, -1).Result()
	if err != nil {
		return nil, record.Unavailable(err)
	}
	all := make([]Delivery, 0, len(lines))

	for _, line := range lines {
		var d Delivery
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			c.log.Warn("an entry of the log of webhooks cannot be read", "err", err)
			continue
		}

		if job == "" || d.JobID == job {
			all = append(all, d)
		}
	}

	return all, nil
}

// Redeliver sends the webhook of an ended job again, under the same message id, so that the receiver can recognise
// the repeat. Errors: NotFound, QueueUnavailable; InvalidOption if the job has not ended or has no webhook.
func (c *Client) Redeliver(ctx context.Context, id string) (Record, error) {
	job, err := c.records.Find(ctx, id)
	if err != nil {
		return Record{}, err
	}

	switch {
	case job.WebhookURL == "":
		return job.Record, fault.Errorf(fault.InvalidOption, "the job has no webhook")
	case !job.Status.Terminal():
		return job.Record, fault.Errorf(fault.InvalidOption, "the job is %s; its webhook is sent at its end",
			job.Status)
	}

	// The task's id must be new: Asynq keeps that of the first delivery for webhookIDTTL.
	return job.Record, c.outbox.enqueueWebhook(ctx, job, webhookTask(id)+"-"+NewID())
}
