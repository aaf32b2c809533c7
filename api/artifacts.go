package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork/api/exchange"
	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/storage"
	"presswork/tasks"
)

const (
	// storeTimeout bounds a request to the store. A download may take longer once it has begun.
	storeTimeout = 10 * time.Second
	// presignTTL is how long a presigned address of the store is valid.
	presignTTL = 5 * time.Minute
)

// ownArtifact returns the record of the job in the path. Errors: NotFound when the caller may not see the job, or
// the job has no artifact; QueueUnavailable.
func (s *Server) ownArtifact(c *fiber.Ctx) (tasks.Record, error) {
	id := c.Params("id")

	rec, err := s.ownJob(c, id)
	if fault.CodeOf(err) == fault.NotFound || (err == nil && rec.Artifact == nil) {
		return rec, fault.Errorf(fault.NotFound, "there is no artifact %s", input.Quote(id))
	}

	return rec, err
}

// errExpired returns the error for an artifact that was deleted before its job record.
func errExpired(rec tasks.Record) error {
	return fault.Errorf(fault.ArtifactExpired, "the artifact of job %s is no longer kept", rec.ID)
}

// download answers GET and HEAD /api/artifacts/{id}/download. If clients can reach the store, it redirects them
// there. With ?inline the browser shows the file, for which only this server can set the headers.
func (s *Server) download(c *fiber.Ctx) error {
	rec, err := s.ownArtifact(c)
	if err != nil {
		return err
	}

	if !rec.Artifact.ExpiresAt.IsZero() && s.now().After(rec.Artifact.ExpiresAt) {
		return errExpired(rec)
	}

	inline, err := exchange.QueryBool(c, "inline")
	if err != nil {
		return err
	}
	tag := `"` + rec.Artifact.SHA256 + `"`
	c.Set(fiber.HeaderETag, tag)
	c.Set(fiber.HeaderCacheControl, "private")
	c.Set(fiber.HeaderAcceptRanges, "bytes")
	c.Set(fiber.HeaderContentDisposition, exchange.Disposition(rec.Artifact.Filename, inline))
	c.Set(fiber.HeaderLastModified, lastModified(rec).UTC().Format(http.TimeFormat))

	key := storage.ArtifactKeyOf(rec.ID, rec.Artifact.ContentType)
	if exchange.ClientHas(c, tag) {
		// The artifact may have been deleted since.
		if _, err := s.statArtifact(key, rec); err != nil {
			return err
		}
		c.Status(http.StatusNotModified)

		return nil
	}

	rng, err := s.rangeOf(c, rec, tag)
	if err != nil {
		return err
	}

	if c.Method() == fiber.MethodHead {
		return s.describeArtifact(c, key, rec, rng)
	}
	s.objects.Touch(key)

	if !inline {
		if redirected, err := s.redirectToStore(c, key, rec); redirected || err != nil {
			return err
		}
	}

	return s.streamArtifact(c, key, rec, rng)
}

// lastModified returns the time at which the artifact was complete.
func lastModified(rec tasks.Record) time.Time {
	if rec.FinishedAt != nil {
		return *rec.FinishedAt
	}

	return rec.CreatedAt
}

// byteRange is the part of an artifact that is sent; partial is set unless it is the whole artifact.
type byteRange struct {
	storage.Range
	// partial answers 206 with Content-Range.
	partial bool
}

// rangeOf returns the part that Range and If-Range ask for. An invalid or outdated header means the whole
// artifact. A range beyond the end is an error with status 416.
func (s *Server) rangeOf(c *fiber.Ctx, rec tasks.Record, tag string) (byteRange, error) {
	whole := byteRange{Range: storage.Range{Length: rec.Artifact.Size}}

	header := c.Get(fiber.HeaderRange)
	if header == "" {
		return whole, nil
	}

	modified := lastModified(rec).UTC().Format(http.TimeFormat)
	if cond := c.Get(fiber.HeaderIfRange); cond != "" && cond != tag && cond != modified {
		return whole, nil
	}

	rng, ok, err := exchange.ParseRange(header, rec.Artifact.Size)
	if err != nil {
		c.Set(fiber.HeaderContentRange, fmt.Sprintf("bytes */%d", rec.Artifact.Size))

		return whole, &exchange.StatusError{
			Status: http.StatusRequestedRangeNotSatisfiable,
			Err: fault.Errorf(fault.InvalidRequest, "the range %s lies outside the artifact's %d bytes",
				input.Quote(header), rec.Artifact.Size),
		}
	}

	if !ok {
		return whole, nil
	}

	return byteRange{Range: rng, partial: true}, nil
}

// setRangeHeaders sets the status and the headers of an answer that sends rng. HTML gets a policy that sandboxes
// it.
func setRangeHeaders(c *fiber.Ctx, rec tasks.Record, rng byteRange) {
	c.Set(fiber.HeaderContentType, rec.Artifact.ContentType)

	if strings.HasPrefix(rec.Artifact.ContentType, fiber.MIMETextHTML) {
		c.Set(fiber.HeaderContentSecurityPolicy, pagePolicy)
	}

	if rng.partial {
		c.Status(http.StatusPartialContent)
		c.Set(fiber.HeaderContentRange,
			fmt.Sprintf("bytes %d-%d/%d", rng.Offset, rng.Offset+rng.Length-1, rec.Artifact.Size))
	}
}

// statArtifact returns the metadata of an artifact in the store. Errors: ArtifactExpired, StoreUnavailable.
func (s *Server) statArtifact(key string, rec tasks.Record) (storage.Info, error) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	info, err := s.Store.Stat(ctx, key)

	return info, artifactError(err, rec)
}

// artifactGone reports whether the artifact of an ended job was deleted. It is false when the store does not answer.
func (s *Server) artifactGone(rec tasks.Record) bool {
	if rec.Artifact == nil {
		return false
	}
	_, err := s.statArtifact(storage.ArtifactKeyOf(rec.ID, rec.Artifact.ContentType), rec)

	return fault.CodeOf(err) == fault.ArtifactExpired
}

// describeArtifact answers a HEAD request: the headers of the GET, without asking the store for the bytes.
func (s *Server) describeArtifact(c *fiber.Ctx, key string, rec tasks.Record, rng byteRange) error {
	if _, err := s.statArtifact(key, rec); err != nil {
		return err
	}
	setRangeHeaders(c, rec, rng)
	c.Context().Response.SkipBody = true
	c.Context().Response.Header.SetContentLength(int(rng.Length))

	return nil
}

// redirectToStore redirects the client to a presigned address of the store. It returns false when the store has
// none.
func (s *Server) redirectToStore(c *fiber.Ctx, key string, rec tasks.Record) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()

	to, err := s.Store.Presign(ctx, key, rec.Artifact.Filename, presignTTL)
	if errors.Is(err, storage.ErrNotSupported) {
		return false, nil
	}

	if err != nil {
		return false, artifactError(err, rec)
	}
	// The store would report a missing object in XML, which clients of this API do not expect.
	if _, err := s.statArtifact(key, rec); err != nil {
		return false, err
	}
	c.Set(fiber.HeaderLocation, to)
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Status(http.StatusTemporaryRedirect)

	return true, nil
}

// streamArtifact sends part of an artifact from the store.
func (s *Server) streamArtifact(c *fiber.Ctx, key string, rec tasks.Record, rng byteRange) error {
	body, err := s.objects.Open(key, rng.Range)
	if err != nil {
		return artifactError(err, rec)
	}
	// fasthttp closes the body after it has sent it.
	setRangeHeaders(c, rec, rng)
	c.Context().SetBodyStream(body, int(rng.Length))

	return nil
}

// artifactError returns the public form of a store error about an artifact.
func artifactError(err error, rec tasks.Record) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, storage.ErrNotFound):
		return errExpired(rec)
	}

	return exchange.StoreError(err)
}

// deleteArtifact answers DELETE /api/artifacts/{id}. The job record stays, so that the caller can tell a deleted
// artifact (410) from an unknown one (404).
func (s *Server) deleteArtifact(c *fiber.Ctx) error {
	rec, err := s.ownArtifact(c)
	if err != nil {
		return err
	}

	key := storage.ArtifactKeyOf(rec.ID, rec.Artifact.ContentType)
	if _, err := s.statArtifact(key, rec); err != nil {
		return err
	}

	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()

	if err := s.objects.Remove(ctx, key); err != nil {
		return exchange.StoreError(err)
	}
	c.Status(http.StatusNoContent)

	return nil
}
