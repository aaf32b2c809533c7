package audio

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"presswork/internal/fault"
)

const (
	// shortest is the shortest recording that engines accept.
	shortest = 10 * time.Millisecond
	// partBytes is the largest part: services on the internet accept 25 MB, including the form.
	partBytes = 24 << 20
)

// Options configures a Reader.
type Options struct {
	// Convert decodes recordings that engines might not read or that must be cut; see FFmpeg. Nil if ffmpeg is not
	// available. Short recordings are then sent unchanged, and long ones are rejected unless they are uncompressed
	// WAV.
	Convert Convert
	// MaxDuration is the longest recording. Default 4 h.
	MaxDuration time.Duration
	// Decoded bounds the bytes of all converted recordings in the temporary directory. Further conversions wait. Default
	// 2 GiB, and at least one recording of MaxDuration.
	Decoded int64
}

// Reader reads recordings. It is safe for concurrent use.
type Reader struct {
	Options
	// decoded limits the bytes of all converted recordings to Options.Decoded.
	decoded *semaphore.Weighted
}

// NewReader returns a Reader.
func NewReader(o Options) *Reader {
	o.MaxDuration = cmp.Or(o.MaxDuration, 4*time.Hour)
	o.Decoded = max(cmp.Or(o.Decoded, 2<<30), decodedBytes(o.MaxDuration))

	return &Reader{Options: o, decoded: semaphore.NewWeighted(o.Decoded)}
}

// extraTime is how far a conversion may exceed its limit, so that Read notices a recording that is too long.
const extraTime = time.Second

// decodedBytes returns the largest size of a converted recording of that length.
func decodedBytes(length time.Duration) int64 {
	return int64((length+extraTime).Seconds()+1) * speechBytes
}

// Convert decodes a recording of a named ffmpeg format to 16 kHz, one channel, 16 bits without a header. It writes
// at most the given duration. Errors: those of w, a *fault.Error about the recording, and other errors when ffmpeg
// cannot run.
type Convert func(
	ctx context.Context, source io.ReaderAt, size int64, demuxer string, limit time.Duration, w io.Writer,
) error

// Wanted describes the recordings that a model accepts.
type Wanted struct {
	// Part is the longest piece that the model accepts.
	Part time.Duration
	// Plain asks for 16 kHz, one channel, 16 bits in any case: some engines have no decoder.
	Plain bool
}

// Recording is a recording that is ready to be sent. The caller closes it.
type Recording struct {
	// Duration is in seconds; 0 is unknown.
	Duration float64
	// Parts are its pieces, in order.
	Parts []Part

	// converted is the file with the decoded samples, and release returns its bytes to the limit. Both are nil for
	// a recording that is sent unchanged.
	converted *os.File
	release   func()
}

// Part is a piece of a recording.
type Part struct {
	// Start and End are its times in the recording, in seconds. Both are 0 for a recording of unknown length.
	Start, End float64
	// Name ends in its format.
	Name string
	// Size is the number of bytes that Open's reader yields.
	Size int64
	// Open reads it from its start. It may be called from several goroutines.
	Open func() io.Reader
}

// Close deletes converted data. Parts must not be read after it. The error is that of closing the file.
func (r *Recording) Close() error {
	if r.converted == nil {
		return nil
	}
	r.release()

	return r.converted.Close()
}

// Read checks a recording of size bytes and cuts it into parts that a model accepts. The source must stay open while
// the parts are read. A *fault.Error is about the recording: ContentEmpty, InvalidOption (not a recording, or
// damaged), ContentTooLarge (too long).
func (o *Reader) Read(ctx context.Context, source io.ReaderAt, size int64, want Wanted) (*Recording, error) {
	format, err := identify(source, size)
	if err != nil {
		return nil, err
	}

	samples, seconds := measure(source, size, format)
	if seconds > 0 {
		if err := o.checkDuration(seconds); err != nil {
			return nil, err
		}
	}

	long := seconds > want.Part.Seconds() // false if the length is unknown
	switch {
	case seconds > 0 && !long && size <= partBytes && (!want.Plain || samples.isSpeechFormat()):
		return unchanged(source, size, format, seconds), nil
	case o.Convert != nil:
		limit := o.MaxDuration
		if seconds > 0 {
			limit = min(limit, wholeSeconds(seconds)+time.Second)
		}

		return o.convert(ctx, source, size, format, limit, want)
	case samples.bits == 16 && (long || size > partBytes):
		return cut(samples, want.Part.Seconds())
	case !long && size <= partBytes:
		return unchanged(source, size, format, seconds), nil
	}

	return nil, fault.Errorf(fault.ContentTooLarge,
		"the recording is too long to be sent in one piece (%s, %d MB), and without ffmpeg this server can cut "+
			"only 16-bit WAV", wholeSeconds(seconds), partBytes>>20).WithParam("file")
}

// identify returns the format of a recording.
func identify(source io.ReaderAt, size int64) (Format, error) {
	if size == 0 {
		return Format{}, fault.Errorf(fault.ContentEmpty, "the recording is empty").WithParam("file")
	}

	head := make([]byte, min(size, HeadBytes))
	if _, err := source.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return Format{}, err
	}

	format, ok := Detect(head)
	if !ok {
		return Format{}, NotAudio()
	}

	return format, nil
}

// NotAudio returns the error for data that Detect does not know.
func NotAudio() *fault.Error {
	return fault.Errorf(fault.InvalidOption,
		"the file is not a recording of a known format, by its content; allowed: %s", Formats).WithParam("file")
}

// measure returns the length in seconds of formats whose bytes determine it. It returns 0 for others, whose
// headers cannot be trusted.
func measure(source io.ReaderAt, size int64, format Format) (samples pcm, seconds float64) {
	switch format {
	case wav:
		if p, ok := readWAV(source, size); ok {
			return p, p.seconds()
		}
	case mp3:
		if s, ok := mp3Seconds(io.NewSectionReader(source, 0, size)); ok {
			return pcm{}, s
		}
	}

	return pcm{}, 0
}

// checkDuration returns an error for a recording that is too short or too long.
func (o *Reader) checkDuration(seconds float64) error {
	switch {
	case seconds < shortest.Seconds():
		return fault.Errorf(fault.InvalidOption, "the recording is too short: %g s; allowed: %g s and more",
			seconds, shortest.Seconds()).WithParam("file")
	case seconds > o.MaxDuration.Seconds():
		return o.tooLong()
	}

	return nil
}

// tooLong returns the error for a recording longer than MaxDuration.
func (o *Reader) tooLong() error {
	return fault.Errorf(fault.ContentTooLarge, "the recording is longer than %s", o.MaxDuration).WithParam("file")
}

// wholeSeconds converts a number of seconds to a duration, rounded to a second.
func wholeSeconds(seconds float64) time.Duration {
	return time.Duration(seconds * float64(time.Second)).Round(time.Second)
}

// unchanged returns a recording that is sent as it came, in one part.
func unchanged(source io.ReaderAt, size int64, format Format, seconds float64) *Recording {
	return &Recording{Duration: seconds, Parts: []Part{{
		End: seconds, Name: "audio." + format.Name, Size: size,
		Open: func() io.Reader { return io.NewSectionReader(source, 0, size) },
	}}}
}

// convert decodes a recording of at most limit and cuts the result. It waits until enough of Options.Decoded is free.
func (o *Reader) convert(
	ctx context.Context,
	source io.ReaderAt,
	size int64,
	format Format,
	limit time.Duration,
	want Wanted,
) (_ *Recording, err error) {
	reserved := decodedBytes(limit)
	if err := o.decoded.Acquire(ctx, reserved); err != nil {
		return nil, context.Cause(ctx)
	}
	release := sync.OnceFunc(func() { o.decoded.Release(reserved) })

	defer func() {
		if err != nil {
			release()
		}
	}()

	file, err := os.CreateTemp("", "presswork-audio-*")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			file.Close()
		}
	}()
	// A file without a name is deleted with its last descriptor.
	if err := os.Remove(file.Name()); err != nil {
		return nil, err
	}

	if err := o.Convert(ctx, source, size, format.demuxer, limit+extraTime, file); err != nil {
		return nil, err
	}

	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	// Keep only what the file occupies. release reads reserved later, so it returns the rest.
	o.decoded.Release(max(reserved-info.Size(), 0))
	reserved = min(reserved, info.Size())

	samples := pcm{r: file, size: info.Size() &^ 1, rate: speechRate, channels: 1, bits: 16}
	if err := o.checkDuration(samples.seconds()); err != nil {
		return nil, err
	}

	r, err := cut(samples, want.Part.Seconds())
	if err != nil {
		return nil, err
	}
	r.converted, r.release = file, release

	return r, nil
}

// cut divides samples into parts of at most longest seconds and partBytes.
func cut(samples pcm, longest float64) (*Recording, error) {
	longest = min(longest, float64(partBytes)/float64(samples.bytesPerSecond()))

	ends, err := cutTimes(samples, longest)
	if err != nil {
		return nil, err
	}
	r := &Recording{Duration: samples.seconds()}

	start := 0.0
	for _, end := range ends {
		size, open := samples.section(start, end)
		r.Parts = append(r.Parts, Part{Start: start, End: end, Name: "audio.wav", Size: size, Open: open})
		start = end
	}

	return r, nil
}
