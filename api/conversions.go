package api

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/sync/errgroup"

	"presswork"
	"presswork/api/upload"
	"presswork/internal/document"
	"presswork/internal/fault"
	"presswork/storage"
	"presswork/tasks"
	"presswork/themes"
)

const (
	// uploadTimeout bounds the storing of one request's files.
	uploadTimeout = 2 * time.Minute
	// uploadsAtOnce is how many files of one request are stored at a time.
	uploadsAtOnce = 8
	maxKeyLength  = 255
)

// The priorities of a submission.
const (
	interactive = "interactive"
	bulk        = "bulk"
)

// longContent is the size from which a document is expected to be long: some 400
// pages, which take a tab for two seconds or more. It waits on the queue bulk,
// whatever its priority.
const longContent = 512 << 10

func (s *Server) submit(c *fiber.Ctx) error {
	rec, output, replayed, err := s.submitConversion(c)
	if err != nil {
		return err
	}

	if patience := patienceOf(c, output); patience > 0 {
		return s.answerInTime(
			c,
			rec,
			replayed,
			patience,
			func(ended tasks.Record) error { return s.answerEnded(c, ended, true) },
		)
	}

	return s.answerAccepted(c, rec, replayed)
}

// submitConversion takes a submission. Output is what its result will be.
func (s *Server) submitConversion(c *fiber.Ctx) (rec tasks.Record, output presswork.Output, replayed bool, err error) {
	req, err := s.parseConversion(c)
	if err != nil {
		return rec, "", false, err
	}
	defer discard(c, &req)

	if req.Output == "" {
		req.Output = acceptedOutput(c)
	}
	output = req.Output
	who := metadataOf(c.Context()).who

	key, err := idempotencyKey(c)
	if err != nil {
		return rec, output, false, err
	}

	var fingerprint string
	if key != "" {
		fingerprint = req.Fingerprint()
		// A retry is answered before its files are stored again.
		ctx, cancel := s.deadline()
		defer cancel()

		rec, found, err := s.Queue.Replay(ctx, who.Name, key, fingerprint)
		if err != nil || found {
			return rec, output, found, err
		}
	}

	theme, err := s.check(&req)
	if err != nil {
		return rec, output, false, err
	}
	meta := metadataOf(c.Context())
	rec, replayed, err = s.accept(req, tasks.Submission{
		ID:             tasks.NewID(),
		Kind:           presswork.KindConversion,
		Theme:          theme,
		Owner:          who.Name,
		Filename:       req.Filename,
		ContentType:    req.Output.ContentType(),
		WebhookURL:     req.WebhookURL,
		IdempotencyKey: key,
		Fingerprint:    fingerprint,
		RequestID:      meta.id,
		TraceParent:    meta.trace,
	})

	return rec, output, replayed, err
}

func (s *Server) answerAccepted(c *fiber.Ctx, rec tasks.Record, replayed bool) error {
	if replayed {
		c.Set("Idempotent-Replayed", "true")
	}
	c.Set(fiber.HeaderLocation, statusURL(rec.ID))
	writeJSON(c.Context(), http.StatusAccepted, s.views.accepted(rec))

	return nil
}

func idempotencyKey(c *fiber.Ctx) (string, error) {
	key := c.Get("Idempotency-Key")

	bad := strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' })
	if len(key) > maxKeyLength || bad {
		return "", fault.Errorf(
			fault.InvalidOption,
			"Idempotency-Key must be 1 to %d printable ASCII characters",
			maxKeyLength,
		).
			WithParam("Idempotency-Key")
	}

	return key, nil
}

// check refuses a submission that cannot succeed, and returns the theme it
// will have.
func (s *Server) check(r *upload.Conversion) (theme string, err error) {
	if int64(len(r.Content)) > s.MaxContentBytes {
		return "", fault.Errorf(
			fault.ContentTooLarge,
			"content has %d bytes; allowed: %d",
			len(r.Content),
			s.MaxContentBytes,
		).
			WithParam("content")
	}

	if r.Priority != "" {
		if _, err := oneOf("priority", r.Priority, []string{interactive, bulk}); err != nil {
			return "", err
		}
	}

	if r.WebhookURL != "" {
		if _, err := s.Webhooks.CheckURL(r.WebhookURL); err != nil {
			return "", webhookError(err)
		}
	}
	matter, wrong := document.Check([]byte(r.Content), r.Options)
	// A theme in the front matter that does not exist is a warning of the job's.
	if theme, _, err = s.Themes.Resolve(r.Theme, matter.Theme); err != nil {
		return "", err
	}

	if wrong == nil {
		wrong = document.CheckOutput(r.Output, matter, r.Options)
	}

	if wrong == nil {
		wrong = checkParts(r)
	}

	if wrong != nil {
		return "", ofContent(wrong)
	}

	return theme, nil
}

// checkParts refuses parts that cannot be printed.
func checkParts(r *upload.Conversion) error {
	for _, name := range r.Parts {
		data, err := r.ReadAsset(name)
		if err != nil {
			return err
		}

		if _, err := document.Check(data, presswork.Options{}); err != nil {
			e := fault.AsError(err)
			return fault.Errorf(e.Code, "%s: %s", name, e.Message).WithCause(err)
		}
	}

	return nil
}

func ofContent(err error) error {
	e := fault.AsError(err)
	if e.Code == fault.Internal || e.Param != "" {
		return err
	}

	return e.WithParam("content")
}

// webhookError keeps a refused address, and calls the rest what it is here.
func webhookError(err error) error {
	e := fault.AsError(err)
	if e.Code == fault.InvalidURL {
		e = fault.Errorf(fault.WebhookInvalid, "webhook_url: %s", e.Message)
	}

	return e.WithParam("webhook_url")
}

// accept stores what is too large for the queue and submits the job. Nothing is
// stored for a job that is refused, and sources lie under the id that the job
// takes: the sweeper of the store asks by it whether they are needed. Each
// request has a folder of its own there, so that of several with one idempotency
// key none touches what another has stored.
func (s *Server) accept(r upload.Conversion, sub tasks.Submission) (rec tasks.Record, replayed bool, err error) {
	request := sub.ID

	lane := tasks.ConvertPDF.Queue
	if r.Priority == bulk || r.Length() >= longContent {
		lane = tasks.Bulk
	}

	sub.Task.Queue = lane
	if rec, replayed, err = s.reserveJob(&sub); err != nil || replayed {
		return rec, replayed, err
	}

	payload, stored, err := s.store(r, sub.ID, request, sub.Theme)
	if err != nil {
		s.unstore(stored, err)
		return rec, false, err
	}

	if sub.Task, err = s.taskOf(lane, payload); err != nil {
		s.unstore(stored, nil)
		return rec, false, err
	}

	ctx, cancel := s.deadline()
	defer cancel()

	rec, replayed, err = s.Queue.Submit(ctx, sub)
	if replayed {
		s.unstore(stored, nil)
	}
	// After an error the job may exist: then it has its sources, else the sweeper
	// takes them.
	return rec, replayed, err
}

// reserveJob settles the job's id and refuses what there is no place for.
func (s *Server) reserveJob(sub *tasks.Submission) (rec tasks.Record, replayed bool, err error) {
	ctx, cancel := s.deadline()
	defer cancel()

	rec, replayed, err = s.Queue.Reserve(ctx, sub)
	if err == nil && !replayed && s.Keeper != nil {
		err = s.Keeper.Full(ctx)
	}

	return rec, replayed, err
}

// taskOf is a conversion's first task: a model's choice of the theme comes before
// the conversion waits for a slot.
func (s *Server) taskOf(lane tasks.Queue, payload tasks.Convert) (tasks.Task, error) {
	if payload.Theme == themes.Auto && s.Recommender.AsksModel() {
		return tasks.ChooseTheme.Task(tasks.Choice{Convert: payload, Queue: lane})
	}
	t, err := tasks.ConvertPDF.Task(payload)

	return t.On(lane), err
}

// store puts long content and all assets into the store and returns the
// payload that names them, and the keys written so far.
func (s *Server) store(r upload.Conversion, jobID, request, theme string) (tasks.Convert, []string, error) {
	payload := tasks.Convert{
		Theme:    theme,
		Output:   r.Output,
		Options:  r.Options,
		Filename: r.Filename,
		Path:     r.Path,
		Parts:    r.Parts,
	}
	if len(r.Content) <= tasks.InlineLimit {
		payload.Content = r.Content
	}

	if payload.Content != "" && len(r.Assets) == 0 {
		return payload, nil, nil
	}

	ctx, cancel := context.WithTimeoutCause(context.Background(), uploadTimeout,
		fault.Errorf(fault.StoreUnavailable, "the object store took longer than %s", uploadTimeout))
	defer cancel()
	var stored []string
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(uploadsAtOnce)

	if payload.Content == "" {
		payload.ContentKey = storage.SourceKey(jobID, request)
		stored = append(stored, payload.ContentKey)
		group.Go(func() error {
			return s.put(ctx, payload.ContentKey, strings.NewReader(r.Content), int64(len(r.Content)), "text/markdown")
		})
	}

	for i, a := range r.Assets {
		key := storage.AssetKey(jobID, request, strconv.Itoa(i))
		payload.Assets = append(payload.Assets, tasks.Asset{Name: a.Name, Key: key, Size: a.Size, SHA256: a.SHA256})
		stored = append(stored, key)
		group.Go(func() error { return s.put(ctx, key, a.Open(), a.Size, "application/octet-stream") })
	}

	return payload, stored, group.Wait()
}

// unstore deletes the sources that a request stored for nothing. Why is the error of
// their storing: one whose put was not answered may reach the store after its deletion,
// so it stays in the index for the sweep.
func (s *Server) unstore(keys []string, why error) {
	ctx, cancel := context.WithTimeout(context.Background(), uploadTimeout)
	defer cancel()

	remove := s.remove
	if fault.CodeOf(why) == fault.StoreUnavailable {
		remove = s.Store.Delete
	}

	for _, key := range keys {
		if err := remove(ctx, key); err != nil {
			s.Log.Warn("sources without a job were not deleted; the next sweep does it", "key", key, "error", err)
			return // the store is away for the others, too
		}
	}
}

// put counts a source and stores it, in this order: what is counted and never
// stored, or stored for nothing, the next sweeps find.
func (s *Server) put(ctx context.Context, key string, r io.Reader, size int64, contentType string) error {
	_, err := s.putCounted(ctx, key, r, size, size, contentType)
	return err
}

// putCounted is put for a source whose size may be unknown, -1: it is counted with
// another.
func (s *Server) putCounted(
	ctx context.Context,
	key string,
	r io.Reader,
	size, counted int64,
	contentType string,
) (storage.Info, error) {
	if s.Keeper != nil {
		if err := s.Keeper.Record(ctx, key, counted); err != nil {
			return storage.Info{}, fault.Errorf(
				fault.QueueUnavailable,
				"the queue is not available; try again shortly",
			).
				WithCause(err)
		}
	}

	info, err := s.Store.Put(ctx, key, r, size, storage.Attrs{ContentType: contentType})
	if err != nil {
		return storage.Info{}, storeError(err)
	}

	return info, nil
}

// remove deletes an object and uncounts it.
func (s *Server) remove(ctx context.Context, key string) error {
	if s.Keeper != nil {
		return s.Keeper.Delete(ctx, key)
	}

	return s.Store.Delete(ctx, key)
}
