package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/storage"
	"presswork/tasks"
)

const (
	// storeTimeout bounds a question to the store; a download may last longer.
	storeTimeout = 10 * time.Second
	// presignTTL is how long the store's own address of a download is good.
	presignTTL = 5 * time.Minute
)

// ownArtifact returns the job in the path, which must have an artifact.
func (s *Server) ownArtifact(c *fiber.Ctx) (tasks.Record, error) {
	id := c.Params("id")

	rec, err := s.ownJob(c, id)
	if fault.CodeOf(err) == fault.NotFound || (err == nil && rec.Artifact == nil) {
		return rec, fault.Errorf(fault.NotFound, "there is no artifact %s", input.Quote(id))
	}

	return rec, err
}

// errExpired answers for an artifact whose record has outlived it.
func errExpired(rec tasks.Record) error {
	return fault.Errorf(fault.ArtifactExpired, "the artifact of job %s is no longer kept", rec.ID)
}

func (s *Server) download(c *fiber.Ctx) error {
	rec, err := s.ownArtifact(c)
	if err != nil {
		return err
	}

	if !rec.Artifact.ExpiresAt.IsZero() && s.now().After(rec.Artifact.ExpiresAt) {
		return errExpired(rec)
	}

	inline, err := queryBool(c, "inline")
	if err != nil {
		return err
	}
	tag := `"` + rec.Artifact.SHA256 + `"`
	c.Set(fiber.HeaderETag, tag)
	c.Set(fiber.HeaderCacheControl, "private")
	c.Set(fiber.HeaderAcceptRanges, "bytes")
	c.Set(fiber.HeaderContentDisposition, disposition(rec.Artifact.Filename, inline))
	c.Set(fiber.HeaderLastModified, lastModified(rec).UTC().Format(http.TimeFormat))

	key := storage.ArtifactKeyOf(rec.ID, rec.Artifact.ContentType)
	if known := c.Get(fiber.HeaderIfNoneMatch); known != "" && matches(known, tag) {
		if _, err := s.stat(key, rec); err != nil {
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
		return s.describe(c, key, rec, rng)
	}
	s.touch(key)

	if !inline {
		if redirected, err := s.redirect(c, key, rec); redirected || err != nil {
			return err
		}
	}

	return s.stream(c, key, rec, rng)
}

func lastModified(rec tasks.Record) time.Time {
	if rec.FinishedAt != nil {
		return *rec.FinishedAt
	}

	return rec.CreatedAt
}

// span is the part of an artifact that is sent.
type span struct {
	storage.Range
	partial bool
}

// rangeOf reads Range and If-Range.
func (s *Server) rangeOf(c *fiber.Ctx, rec tasks.Record, tag string) (span, error) {
	whole := span{Range: storage.Range{Length: rec.Artifact.Size}}

	header := c.Get(fiber.HeaderRange)
	if header == "" {
		return whole, nil
	}

	if cond := c.Get(
		fiber.HeaderIfRange,
	); cond != "" && cond != tag &&
		cond != lastModified(rec).UTC().Format(http.TimeFormat) {
		return whole, nil
	}

	rng, ok, err := parseRange(header, rec.Artifact.Size)
	if err != nil {
		c.Set(fiber.HeaderContentRange, fmt.Sprintf("bytes */%d", rec.Artifact.Size))

		return whole, &statusError{
			http.StatusRequestedRangeNotSatisfiable,
			fault.Errorf(
				fault.InvalidRequest,
				"the range %s lies outside the artifact's %d bytes",
				input.Quote(header),
				rec.Artifact.Size,
			),
		}
	}

	if !ok {
		return whole, nil
	}

	return span{Range: rng, partial: true}, nil
}

func setSpan(c *fiber.Ctx, rec tasks.Record, rng span) {
	c.Set(fiber.HeaderContentType, rec.Artifact.ContentType)

	if strings.HasPrefix(rec.Artifact.ContentType, fiber.MIMETextHTML) {
		c.Set(fiber.HeaderContentSecurityPolicy, pagePolicy)
	}

	if rng.partial {
		c.Status(http.StatusPartialContent)
		c.Set(
			fiber.HeaderContentRange,
			fmt.Sprintf("bytes %d-%d/%d", rng.Offset, rng.Offset+rng.Length-1, rec.Artifact.Size),
		)
	}
}

func (s *Server) stat(key string, rec tasks.Record) (storage.Info, error) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	info, err := s.Store.Stat(ctx, key)

	return info, artifactError(err, rec)
}

// describe answers HEAD.
func (s *Server) describe(c *fiber.Ctx, key string, rec tasks.Record, rng span) error {
	if _, err := s.stat(key, rec); err != nil {
		return err
	}
	setSpan(c, rec, rng)
	c.Context().Response.SkipBody = true
	c.Context().Response.Header.SetContentLength(int(rng.Length))

	return nil
}

// redirect sends the client to the store itself, where the store can do that.
func (s *Server) redirect(c *fiber.Ctx, key string, rec tasks.Record) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()

	to, err := s.Store.Presign(ctx, key, rec.Artifact.Filename, presignTTL)
	if errors.Is(err, storage.ErrNotSupported) {
		return false, nil
	}

	if err != nil {
		return false, artifactError(err, rec)
	}
	// The store would answer in XML that nothing is there.
	if _, err := s.stat(key, rec); err != nil {
		return false, err
	}
	c.Set(fiber.HeaderLocation, to)
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Status(http.StatusTemporaryRedirect)

	return true, nil
}

// stream sends the bytes. The store's context ends with the answer.
func (s *Server) stream(c *fiber.Ctx, key string, rec tasks.Record, rng span) error {
	ctx, cancel := context.WithCancel(context.Background())
	opening := time.AfterFunc(storeTimeout, cancel)

	r, _, err := s.Store.Get(ctx, key, rng.Range)
	if err != nil {
		cancel()
		return artifactError(err, rec)
	}
	opening.Stop()
	setSpan(c, rec, rng)
	c.Context().SetBodyStream(s.stored(key, r, cancel), int(rng.Length))

	return nil
}

// release ends a context when its reader is closed, and tells of what ends the reading
// early: the head of the answer has been sent.
type release struct {
	io.ReadCloser
	cancel context.CancelFunc
	broke  func(error)
}

func (s *Server) stored(key string, r io.ReadCloser, cancel context.CancelFunc) *release {
	return &release{
		r,
		cancel,
		func(err error) { s.Log.Error("the store broke a download off", "key", key, "err", err) },
	}
}

// Read implements io.Reader.
func (r *release) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.broke(err)
	}

	return n, err
}

// Close implements io.Closer.
func (r *release) Close() error {
	defer r.cancel()
	return r.ReadCloser.Close()
}

func (s *Server) touch(key string) {
	if s.Keeper == nil {
		return
	}
	s.Keeper.Touch(key)
}

func artifactError(err error, rec tasks.Record) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, storage.ErrNotFound):
		return errExpired(rec)
	}

	return storeError(err)
}

func (s *Server) deleteArtifact(c *fiber.Ctx) error {
	rec, err := s.ownArtifact(c)
	if err != nil {
		return err
	}

	key := storage.ArtifactKeyOf(rec.ID, rec.Artifact.ContentType)
	if _, err := s.stat(key, rec); err != nil {
		return err
	}

	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()

	if err := s.remove(ctx, key); err != nil {
		return storeError(err)
	}
	c.Status(http.StatusNoContent)

	return nil
}

// disposition names the download: in ASCII for old clients, in full by RFC 6266.
func disposition(name string, inline bool) string {
	kind := "attachment"
	if inline {
		kind = "inline"
	}
	plain := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`"\%`, r) {
			return '_'
		}

		return r
	}, name)

	return kind + `; filename="` + plain + `"; filename*=UTF-8''` + strings.ReplaceAll(
		url.QueryEscape(name),
		"+",
		"%20",
	)
}

var errUnsatisfiable = errors.New("range not satisfiable")

// parseRange reads a Range header about size bytes. A header that is not
// understood, or asks for several ranges, is to be ignored: ok is false.
func parseRange(header string, size int64) (rng storage.Range, ok bool, err error) {
	unit, spec, _ := strings.Cut(header, "=")

	from, to, dash := strings.Cut(strings.TrimSpace(spec), "-")
	if strings.TrimSpace(unit) != "bytes" || !dash {
		return rng, false, nil
	}

	last := size - 1
	if to != "" {
		if last, ok = parseOffset(to); !ok {
			return rng, false, nil
		}
	}

	if from == "" {
		// The last bytes: "-500".
		if to == "" {
			return rng, false, nil
		}

		if last == 0 || size == 0 {
			return rng, false, errUnsatisfiable
		}
		n := min(last, size)

		return storage.Range{Offset: size - n, Length: n}, true, nil
	}

	first, ok := parseOffset(from)
	if !ok || (to != "" && last < first) {
		return rng, false, nil
	}

	if first >= size {
		return rng, false, errUnsatisfiable
	}
	last = min(last, size-1)

	return storage.Range{Offset: first, Length: last - first + 1}, true, nil
}

func parseOffset(s string) (int64, bool) {
	n, err := strconv.ParseUint(s, 10, 63)
	return int64(n), err == nil
}
