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
	"presswork/api/exchange"
	"presswork/api/metrics"
	"presswork/api/views"
	"presswork/internal/fault"
	"presswork/storage"
	"presswork/tasks"
)

// preferences are the values of a Prefer header (RFC 7240).
type preferences struct {
	// async is set for respond-async: answer 202 at once.
	async bool
	// wait is how long the client waits; negative when the header has no wait.
	wait time.Duration
}

// fetchesLater reports whether the client may fetch the result later, from the address of the job.
func (p preferences) fetchesLater() bool { return p.async || p.wait >= 0 }

// preferencesOf parses the Prefer header. It ignores unknown preferences, as RFC 7240 requires.
func preferencesOf(c *fiber.Ctx) preferences {
	p := preferences{wait: -1}

	for one := range strings.SplitSeq(listHeader(c, "Prefer"), ",") {
		token, _, _ := strings.Cut(one, ";")

		name, value, _ := strings.Cut(strings.TrimSpace(token), "=")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "respond-async":
			p.async = true
		case "wait":
			// An invalid or too long wait is no error, because it is only a preference.
			if n, err := strconv.ParseUint(strings.Trim(value, ` "`), 10, 31); err == nil {
				p.wait = min(time.Duration(n)*time.Second, maxWait)
			}
		}
	}

	return p
}

// setFingerprint sets the digest that distinguishes requests with the same Idempotency-Key. keep, if not nil, points
// to a field of request that depends only on how the client waits: 0 or deliveredKeep. Requests that differ only in
// this field count as the same, so sub.AltFingerprint is the digest with its other value. setFingerprint leaves that
// other value in the field.
func setFingerprint(sub *tasks.Submission, request any, keep *int64) {
	digest := func() string {
		b, _ := json.Marshal(request) // options, strings and numbers always encode
		sum := sha256.Sum256(b)

		return hex.EncodeToString(sum[:])
	}
	sub.Fingerprint = digest()

	if keep != nil {
		*keep = int64(deliveredKeep/time.Second) - *keep
		sub.AltFingerprint = digest()
	}
}

// listHeader returns a header that holds a list. Several lines of it are joined into one (RFC 9110, 5.3).
func listHeader(c *fiber.Ctx, name string) string {
	h := &c.Request().Header
	if lines := h.PeekAll(name); len(lines) > 1 {
		h.SetBytesV(name, bytes.Join(lines, []byte(", ")))
	}

	return c.Get(name)
}

// preferredWait returns how long the client of a conversion waits for the result itself; 0 for not at all.
func preferredWait(c *fiber.Ctx, output presswork.Output) time.Duration {
	p := preferencesOf(c)

	accepted := acceptedOutput(c)
	switch {
	case p.wait >= 0:
		return p.wait
	// Without a preference the response waits for the result if the client accepts the type of the result.
	case !p.async && accepted != "" && (accepted == output || accepted == presswork.PDF && output == ""):
		return maxWait
	}

	return 0
}

// acceptedOutput returns the output whose media type the Accept header prefers to JSON; "" for none. A browser
// that also accepts */* does not ask for HTML.
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

// mediaType returns the media type of an output without parameters.
func mediaType(o presswork.Output) string {
	media, _, _ := strings.Cut(o.ContentType(), ";")
	return media
}

// errLate is the cause of a context whose wait for a job was too long. The job continues.
var errLate = errors.New("api: the wait is over")

// answerInTime calls answer to send the result when the job ends within patience, and otherwise answers 202. If
// the client disconnects, the job is cancelled, unless an idempotency key lets the client fetch the result later.
func (s *Server) answerInTime(
	c *fiber.Ctx, rec tasks.Record, replayed bool, patience time.Duration, answer func(tasks.Record) error,
) error {
	ctx, done, err := s.waitContext(c, patience, errLate)
	if err != nil {
		return s.answerAccepted(c, rec, replayed)
	}
	defer done()

	ended, err := s.awaitEnd(ctx, rec, nil)
	switch {
	case err == nil:
		exchange.SetReplayed(c, replayed)
		c.Set("x-job-id", rec.ID)

		return answer(ended)
	case errors.Is(context.Cause(ctx), exchange.ErrClientLeft):
		if c.Get("Idempotency-Key") == "" {
			s.cancelAbandoned(rec.ID)
		}

		return err
	}

	return s.answerAccepted(c, ended, replayed)
}

// answerLater answers a client that may fetch the result later. If the result is ready within prefer.wait, answer
// sends it; otherwise the status is 202.
func (s *Server) answerLater(
	c *fiber.Ctx, rec tasks.Record, replayed bool, prefer preferences, answer func(tasks.Record) error,
) error {
	if prefer.wait > 0 {
		return s.answerInTime(c, rec, replayed, prefer.wait, answer)
	}

	if prefer.async {
		c.Set("Preference-Applied", "respond-async")
	}

	return s.answerAccepted(c, rec, replayed)
}

// answerAtEnd waits for the end of a job and calls answer to send its result. After limit the error is late. If the
// client disconnects or the limit passes, the job is cancelled, unless an idempotency key lets the client fetch the
// result later.
func (s *Server) answerAtEnd(
	c *fiber.Ctx, rec tasks.Record, replayed bool, limit time.Duration, late error, answer func(tasks.Record) error,
) error {
	exchange.SetReplayed(c, replayed)
	c.Set("x-job-id", rec.ID)

	ctx, done, err := s.waitContext(c, limit, late)
	if err != nil {
		return err
	}
	defer done()

	if rec, err = s.awaitEnd(ctx, rec, nil); err != nil {
		if ctx.Err() != nil && c.Get("Idempotency-Key") == "" {
			s.cancelAbandoned(rec.ID)
		}

		return err
	}

	return answer(rec)
}

// waitContext returns a context that ends after limit with the cause late, when the client disconnects, and when
// the server stops. The caller must call done. Errors: QueueUnavailable.
func (s *Server) waitContext(
	c *fiber.Ctx, limit time.Duration, late error,
) (ctx context.Context, done func(), err error) {
	running, leave, err := s.streams.Join(metrics.Wait)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeoutCause(running, limit, late)
	ctx, release := conn.WhileConnected(ctx, c.Context().Conn(), exchange.ErrClientLeft)

	return ctx, func() {
		release()
		cancel()
		leave()
	}, nil
}

// awaitEnd waits for the end of a job. It calls report, unless nil, with each event before the last. The returned
// record has the result of the last event; its other fields may be older. When ctx ends first, the error is its cause,
// and the record is the last known one.
func (s *Server) awaitEnd(
	ctx context.Context, rec tasks.Record, report func(presswork.Event),
) (tasks.Record, error) {
	for !rec.Status.Terminal() {
		last, err := s.awaitLastEvent(ctx, rec, report)
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
		// The event stream broke off. The job may have ended in the meantime.
		ask, cancel := exchange.CallContext()
		current, err := s.Queue.Job(ask, rec.ID)
		cancel()

		if err != nil {
			return rec, err
		}
		rec = current
	}

	return rec, nil
}

// awaitLastEvent waits for the last event of a job. It returns the zero event when the event stream breaks off.
func (s *Server) awaitLastEvent(
	ctx context.Context, rec tasks.Record, report func(presswork.Event),
) (presswork.Event, error) {
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

			if report != nil {
				report(event)
			}
		case <-ctx.Done():
			return presswork.Event{}, context.Cause(ctx)
		}
	}
}

// cancelAbandoned cancels a job whose client has disconnected.
func (s *Server) cancelAbandoned(id string) {
	ctx, cancel := exchange.CallContext()
	defer cancel()

	if _, err := s.Queue.Cancel(ctx, id); err != nil && fault.CodeOf(err) != fault.JobFinished {
		s.Log.Warn("could not cancel the job of a client that has disconnected", "job_id", id, "error", err)
	}
}

// answerEnded sends the artifact of a completed job, or the error of a job that failed or was cancelled. saved
// says that the artifact can be downloaded again.
func (s *Server) answerEnded(c *fiber.Ctx, rec tasks.Record, saved bool) error {
	if rec.Status != presswork.Completed {
		if rec.Error != nil {
			return rec.Error
		}

		return fault.Errorf(fault.JobFinished, "the job was cancelled")
	}

	if saved {
		c.Set(fiber.HeaderContentLocation, views.DownloadURL(rec.ID))
	}
	c.Set(fiber.HeaderETag, `"`+rec.Artifact.SHA256+`"`)
	c.Set(fiber.HeaderCacheControl, "private, no-store")
	c.Set(fiber.HeaderContentDisposition, exchange.Disposition(rec.Artifact.Filename, false))
	key := storage.ArtifactKeyOf(rec.ID, rec.Artifact.ContentType)

	return s.streamArtifact(c, key, rec, byteRange{Range: storage.Range{Length: rec.Artifact.Size}})
}
