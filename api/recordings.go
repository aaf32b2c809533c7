package api

import (
	"bytes"
	"context"
	"errors"
	"io"

	"presswork/api/exchange"
	"presswork/api/upload"
	"presswork/internal/fault"
	"presswork/internal/inference/audio"
	"presswork/storage"
	"presswork/tasks"
)

// recording stores the recording of a request for a transcript as it arrives, before the other fields are known.
// With an idempotency key the recording is spooled first, because the id of its job depends on its digest.
type recording struct {
	server *Server
	// sub is the submission of the job that the recording belongs to.
	sub *tasks.Submission
	// held counts the bytes that the request takes from the node's intake.
	held *upload.Hold
	// temporary is set when the client cannot fetch the transcript later. The recording is then stored under
	// storage.Passing, from where it is deleted soon.
	temporary bool
	// limit is the largest recording in bytes.
	limit int64

	// arrived is set once the form has a recording. spooled holds it until the job's id is known; nil if it was
	// stored at once.
	arrived bool
	spooled *upload.Asset
	// key is the key of the recording in the store, size its size in bytes once it is stored.
	key  string
	size int64
	// putErr is the error of storing it.
	putErr error
	// submitted is set when a job may need the stored recording.
	submitted bool
}

// Receive implements openai.Recorder. Errors: InvalidType for a second recording, ContentEmpty, ContentTooLarge,
// InvalidOption for data that is not audio, and those of storing it.
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
		tooLarge: fault.Errorf(fault.ContentTooLarge, "the recording has more than %d bytes", r.limit).WithParam(name),
	}
	if r.sub.IdempotencyKey != "" {
		r.spooled = upload.NewAsset(name, r.held)
		return r.spooled.Fill(body)
	}

	if _, _, err := r.server.reserveJob(r.sub); err != nil {
		return err
	}
	r.setKey(r.sub.ID)
	// A store may write data of unknown size to a temporary file first.
	body.from = r.held.OnDisk(body.from)
	err = r.put(body, -1)
	r.held.ReleaseDisk()

	if body.err != nil {
		// The body failed, not the store. So close may delete the recording together with its entry in the index.
		r.putErr = nil
		return upload.Broken(body.err)
	}

	return err
}

// Arrived implements openai.Recorder.
func (r *recording) Arrived() bool { return r.arrived }

// setKey sets the key of the recording, which lies in the folder of this request.
func (r *recording) setKey(request string) {
	if r.key = storage.AssetKey(r.sub.ID, request, "recording"); r.temporary {
		r.key = storage.PassingKey(r.sub.ID, request)
	}
}

// put stores the recording. size is -1 when it is not known, because clients announce wrong sizes. The index then has
// size 0 until countSize.
func (r *recording) put(from io.Reader, size int64) error {
	// The store has its own time-outs, and the client decides how long the upload takes.
	const media = "application/octet-stream"

	info, err := r.server.objects.PutSized(context.Background(), r.key, from, size, max(size, 0), media)
	r.size, r.putErr = info.Size, err

	return err
}

// storeSpooled stores a recording that was spooled until the id of its job was known.
func (r *recording) storeSpooled(request string) error {
	if r.spooled == nil {
		return nil
	}
	r.setKey(request)
	err := r.put(r.spooled.Open(), r.spooled.Size)
	r.spooled.Discard()
	r.held.ReleaseDisk()

	return err
}

// countSize records the size of a recording whose size was unknown when it was stored.
func (r *recording) countSize() {
	if r.key == "" || r.spooled != nil || r.server.Keeper == nil {
		return
	}

	ctx, cancel := exchange.CallContext()
	defer cancel()

	if err := r.server.Keeper.Record(ctx, r.key, r.size); err != nil {
		r.server.Log.Warn("could not count the size of a recording", "key", r.key, "error", err)
	}
}

// close deletes the spooled recording, and the stored one when no job needs it.
func (r *recording) close() {
	if r.spooled != nil {
		r.spooled.Discard()
	}

	if r.key != "" && !r.submitted {
		r.server.objects.RemoveSources([]string{r.key}, r.putErr)
	}
}

// bounded reads up to left bytes and then fails with tooLarge. err is the last error other than io.EOF. Read fills
// its buffer, because the parts of a form arrive in pieces of 4 KiB.
type bounded struct {
	from io.Reader
	left int64 // bytes that may still be read
	// tooLarge is the error after left bytes.
	tooLarge error
	err      error // the error after which nothing is read
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := readFull(b.from, p)
	if b.left -= int64(n); b.left < 0 {
		n, err = 0, b.tooLarge
	}

	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}

	return n, err
}

// readFull reads until p is full and returns the reader's own error. io.ReadFull would turn io.EOF into
// io.ErrUnexpectedEOF, which also means that a form was cut off.
func readFull(r io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var more int
		more, err = r.Read(p[n:])
		n += more
	}

	return n, err
}
