package api

import (
	"bytes"
	"context"
	"errors"
	"io"

	"presswork/api/upload"
	"presswork/internal/fault"
	"presswork/internal/inference/audio"
	"presswork/storage"
	"presswork/tasks"
)

// recording is the recording of a request for a transcript. It goes into the store
// as it arrives, before anything else of the request is known; only that of a request
// with an idempotency key waits aside, because the job it is stored under depends on
// its digest.
type recording struct {
	server *Server
	// sub is the submission whose job the recording is stored for.
	sub *tasks.Submission
	// held counts the bytes that the request takes from the node's intake.
	held *upload.Hold
	// passing reports that nobody can come back for the transcript.
	passing bool
	limit   int64

	arrived bool
	aside   *upload.Asset
	// key is where the recording lies in the store, size its length once it does.
	key  string
	size int64
	// failed is what its storing failed with.
	failed error
	// submitted reports that a job may need what was stored.
	submitted bool
}

// Receive reads the recording, which came in the named field.
func (r *recording) Receive(name string, from io.Reader) error {
	if r.arrived {
		return fault.Errorf(fault.InvalidType, "the form has more than one recording: a 'file', or a 'url'").
			WithParam(name)
	}
	r.arrived = true
	head := make([]byte, audio.HeadBytes)

	n, err := readFull(from, head)
	if err != nil && !errors.Is(err, io.EOF) {
		return upload.Broken(err)
	}

	if n == 0 {
		return fault.Errorf(fault.ContentEmpty, "the recording is empty").WithParam(name)
	}

	if _, ok := audio.Detect(head[:n]); !ok {
		return audio.NotAudio().WithParam(name)
	}

	body := &bounded{
		from: io.MultiReader(bytes.NewReader(head[:n]), from), left: r.limit,
		full: fault.Errorf(fault.ContentTooLarge, "the recording has more than %d bytes", r.limit).WithParam(name),
	}
	if r.sub.IdempotencyKey != "" {
		r.aside = upload.NewAsset(name, r.held)
		return r.aside.Fill(body)
	}

	if _, _, err := r.server.reserveJob(r.sub); err != nil {
		return err
	}
	r.place(r.sub.ID)
	// A store may spool what it does not know the size of.
	body.from = r.held.OnDisk(body.from)
	err = r.put(body, -1)
	r.held.ReleaseDisk()

	if body.err != nil {
		// The store is not to blame.
		r.failed = nil
		return upload.Broken(body.err)
	}

	return err
}

// Arrived reports whether Receive was called.
func (r *recording) Arrived() bool { return r.arrived }

// place settles where the recording lies: in a folder of its request.
func (r *recording) place(request string) {
	if r.key = storage.AssetKey(r.sub.ID, request, "recording"); r.passing {
		r.key = storage.PassingKey(r.sub.ID, request)
	}
}

// put stores the recording. Its size counts when it is known: what is announced is
// not what comes.
func (r *recording) put(from io.Reader, size int64) error {
	// The store bounds itself; how long the bytes take is the caller's business.
	info, err := r.server.putCounted(context.Background(), r.key, from, size, max(size, 0), "application/octet-stream")
	r.size, r.failed = info.Size, err

	return err
}

// storeAside stores a recording that waited for its job's id.
func (r *recording) storeAside(request string) error {
	if r.aside == nil {
		return nil
	}
	r.place(request)
	err := r.put(r.aside.Open(), r.aside.Size)
	r.aside.Discard()
	r.held.ReleaseDisk()

	return err
}

// count corrects the size that a recording of unknown length was counted with.
func (r *recording) count() {
	if r.key == "" || r.aside != nil || r.server.Keeper == nil {
		return
	}

	ctx, cancel := r.server.deadline()
	defer cancel()

	if err := r.server.Keeper.Record(ctx, r.key, r.size); err != nil {
		r.server.Log.Warn("the size of a recording was not counted", "key", r.key, "error", err)
	}
}

// close forgets what waits aside, and what was stored for nothing.
func (r *recording) close() {
	if r.aside != nil {
		r.aside.Discard()
	}

	if r.key != "" && !r.submitted {
		r.server.unstore([]string{r.key}, r.failed)
	}
}

// bounded reads so many bytes and then fails with full; it remembers what it failed
// with. It fills what it is given: the parts of a form come in pieces of 4 KB.
type bounded struct {
	from io.Reader
	left int64
	full error
	err  error
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := readFull(b.from, p)
	if b.left -= int64(n); b.left < 0 {
		n, err = 0, b.full
	}

	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}

	return n, err
}

// readFull is io.ReadFull that says how r ended: a form that was cut off ends in
// io.ErrUnexpectedEOF, too.
func readFull(r io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var more int
		more, err = r.Read(p[n:])
		n += more
	}

	return n, err
}
