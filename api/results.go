package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork"
	"presswork/api/conn"
	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/storage"
	"presswork/tasks"
)

// preferences are what a Prefer header asks for (RFC 7240).
type preferences struct {
	async bool
	// wait is how long the caller would wait; negative when it names no time.
	wait time.Duration
}

// later reports whether the caller may come back for the result.
func (p preferences) later() bool { return p.async || p.wait >= 0 }

func preferencesOf(c *fiber.Ctx) preferences {
	p := preferences{wait: -1}

	for one := range strings.SplitSeq(listHeader(c, "Prefer"), ",") {
		token, _, _ := strings.Cut(one, ";")

		name, value, _ := strings.Cut(strings.TrimSpace(token), "=")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "respond-async":
			p.async = true
		case "wait":
			// What cannot be read or is too much is no error: it is a preference.
			if n, err := strconv.ParseUint(strings.Trim(value, ` "`), 10, 31); err == nil {
				p.wait = min(time.Duration(n)*time.Second, maxWait)
			}
		}
	}

	return p
}

// setFingerprint tells a request from others with its Idempotency-Key. keep, where it is not
// nil, is the part of the request that is one of two by how its caller prefers to wait: that
// alone makes no other request.
func setFingerprint(sub *tasks.Submission, request any, keep *int64) {
	digest := func() string {
		b, _ := json.Marshal(request) // options, strings and numbers always encode
		sum := sha256.Sum256(b)

		return hex.EncodeToString(sum[:])
	}
	sub.Fingerprint = digest()

	if keep != nil {
		*keep = int64(deliveredKeep/time.Second) - *keep
		sub.Alike = digest()
	}
}

// listHeader returns a header that is a list, and makes one line of several (RFC 9110, 5.3).
func listHeader(c *fiber.Ctx, name string) string {
	h := &c.Request().Header
	if lines := h.PeekAll(name); len(lines) > 1 {
		h.SetBytesV(name, bytes.Join(lines, []byte(", ")))
	}

	return c.Get(name)
}

// patienceOf is how long the submitter of a conversion waits for the result
// itself; 0 is not at all.
func patienceOf(c *fiber.Ctx, output presswork.Output) time.Duration {
	p := preferencesOf(c)

	accepted := acceptedOutput(c)
	switch {
	case p.wait >= 0:
		return p.wait
	case !p.async && accepted != "" && (accepted == output || accepted == presswork.PDF && output == ""):
		return maxWait
	}

	return 0
}

// acceptedOutput is the output whose type the Accept header prefers to JSON, ""
// for none. A browser that would take anything does not ask for HTML.
func acceptedOutput(c *fiber.Ctx) presswork.Output {
	offers := []string{fiber.MIMEApplicationJSON}

	accept := listHeader(c, fiber.HeaderAccept)
	for _, o := range presswork.Outputs() {
		if o != presswork.HTML || !strings.Contains(accept, "*/*") {
			offers = append(offers, mediaType(o))
		}
	}

	chosen := c.Accepts(offers...)
	for _, o := range presswork.Outputs() {
		if chosen == mediaType(o) {
			return o
		}
	}

	return ""
}

// mediaType is an output's without parameters.
func mediaType(o presswork.Output) string {
	media, _, _ := strings.Cut(o.ContentType(), ";")
	return media
}

// errClientLeft ends the work for a client that has closed its connection. Its status is only seen in logs and metrics.
var errClientLeft = inference.Errorf(499, inference.RequestCancelled, "the client has closed the connection")

// errLate ends the wait for a job, which goes on.
var errLate = errors.New("api: the wait is over")

// answerInTime sends the result when it is ready in time, and else reports that the
// job was accepted: that stays true whatever becomes of the wait. A caller who
// leaves takes the job along, unless it can come back by its idempotency key. answer sends
// the result.
func (s *Server) answerInTime(
	c *fiber.Ctx,
	rec tasks.Record,
	replayed bool,
	patience time.Duration,
	answer func(tasks.Record) error,
) error {
	ctx, done, err := s.waiting(c, patience, errLate)
	if err != nil {
		return s.answerAccepted(c, rec, replayed)
	}
	defer done()

	ended, err := s.awaitEnd(ctx, rec)
	switch {
	case err == nil:
		if replayed {
			c.Set("Idempotent-Replayed", "true")
		}
		c.Set("x-job-id", rec.ID)

		return answer(ended)
	case errors.Is(context.Cause(ctx), errClientLeft):
		if c.Get("Idempotency-Key") == "" {
			s.abandon(rec.ID)
		}

		return err
	}

	return s.answerAccepted(c, ended, replayed)
}

// waiting returns a context that ends with cause late when the limit has passed,
// when the client has gone, and when the server stops. Call done when the wait
// is over. Errors: QueueUnavailable.
func (s *Server) waiting(c *fiber.Ctx, limit time.Duration, late error) (ctx context.Context, done func(), err error) {
	running, leave, err := s.streams.Join(lastingWait)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeoutCause(running, limit, late)
	ctx, release := conn.WhileConnected(ctx, c.Context().Conn(), errClientLeft)

	return ctx, func() {
		release()
		cancel()
		leave()
	}, nil
}

// awaitEnd returns the job when it has ended, with the result that its last event
// has; the rest of it may be older. When ctx ends before, the error is its cause, and
// the job is as it was last seen.
func (s *Server) awaitEnd(ctx context.Context, rec tasks.Record) (tasks.Record, error) {
	for !rec.Status.Terminal() {
		last, err := s.awaitLastEvent(ctx, rec)
		if err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}

			return rec, err
		}

		if last.Status.Terminal() {
			rec.Status, rec.Artifact, rec.Error = last.Status, last.Artifact, last.Error
			return rec, nil
		}
		ask, cancel := s.deadline()
		now, err := s.Queue.Job(ask, rec.ID)
		cancel()

		if err != nil {
			return rec, err
		}
		rec = now
	}

	return rec, nil
}

// awaitLastEvent returns the job's last event, or the zero one when its events broke
// off.
func (s *Server) awaitLastEvent(ctx context.Context, rec tasks.Record) (presswork.Event, error) {
	watch, err := s.Queue.Watch(ctx, rec.ID, rec.Seq)
	if err != nil {
		return presswork.Event{}, err
	}
	defer watch.Close()

	for {
		select {
		case event, open := <-watch.Events:
			if !open || event.Status.Terminal() {
				return event, nil
			}
		case <-ctx.Done():
			return presswork.Event{}, context.Cause(ctx)
		}
	}
}

// abandon cancels a job nobody waits for any more.
func (s *Server) abandon(id string) {
	ctx, cancel := s.deadline()
	defer cancel()

	if _, err := s.Queue.Cancel(ctx, id); err != nil && fault.CodeOf(err) != fault.JobFinished {
		s.Log.Warn("the job of a caller who left was not cancelled", "job_id", id, "error", err)
	}
}

// answerEnded sends the result of a job that has ended, or why there is none.
func (s *Server) answerEnded(c *fiber.Ctx, rec tasks.Record, saved bool) error {
	if rec.Status != presswork.Completed {
		if rec.Error != nil {
			return rec.Error
		}

		return fault.Errorf(fault.JobFinished, "the job was cancelled")
	}

	if saved {
		c.Set(fiber.HeaderContentLocation, "/api/artifacts/"+rec.ID+"/download")
	}
	c.Set(fiber.HeaderETag, `"`+rec.Artifact.SHA256+`"`)
	c.Set(fiber.HeaderCacheControl, "private, no-store")
	c.Set(fiber.HeaderContentDisposition, disposition(rec.Artifact.Filename, false))
	key := storage.ArtifactKeyOf(rec.ID, rec.Artifact.ContentType)

	return s.stream(c, key, rec, span{Range: storage.Range{Length: rec.Artifact.Size}})
}
