package audio_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"testing"
	"time"

	"presswork/internal/inference/audio"
	"presswork/internal/test/hostmemory"
	"presswork/internal/test/wait"
)

// generatedWAV is a WAV file with size bytes of silence. It generates them, so it takes no memory.
type generatedWAV struct {
	head []byte
	size int64
}

// newGeneratedWAV returns a WAV file with size bytes of silence.
func newGeneratedWAV(size int64) generatedWAV {
	head := wavTone(16000, 1, 0, nil) // a length of 0 lasts until the end
	return generatedWAV{head: head, size: int64(len(head)) + size}
}

// ReadAt reads the head, and zeros after it.
func (w generatedWAV) ReadAt(b []byte, at int64) (int, error) {
	n := int(max(min(int64(len(b)), w.size-at), 0))
	clear(b[:n])

	if at < int64(len(w.head)) {
		copy(b[:n], w.head[at:])
	}

	if n < len(b) {
		return n, io.EOF
	}

	return n, nil
}

// memoryAtFirstWrite is a writer that records allMemory at its first byte.
type memoryAtFirstWrite struct {
	t    *testing.T
	used int64 // in MiB
}

func (m *memoryAtFirstWrite) Write(b []byte) (int, error) {
	if m.used == 0 {
		m.used = allMemory(m.t)
	}

	return len(b), nil
}

// allMemory returns the memory in use on the machine plus the heap of this process, in MiB.
func allMemory(t *testing.T) int64 {
	runtime.GC()
	var own runtime.MemStats
	runtime.ReadMemStats(&own)

	return hostmemory.MiB(t) + int64(own.HeapInuse>>20)
}

// TestRecordingIsInMemoryOnce checks that a conversion holds one copy of the recording in memory. It is not parallel,
// because it measures the whole machine.
func TestRecordingIsInMemoryOnce(t *testing.T) {
	const size = 400 // MiB
	convert := newConverter(t)

	// Other programs of the machine change its memory as well, but not in the same way each time.
	var measured []int64

	for range 6 {
		source := newGeneratedWAV(size << 20)
		out := &memoryAtFirstWrite{t: t}

		before := allMemory(t)
		if err := convert(t.Context(), source, source.size, "wav", 4*time.Hour, out); err != nil {
			t.Fatal(err)
		}

		growth := out.used - before
		if growth >= size/2 && growth <= size*3/2 {
			return
		}
		measured = append(measured, growth)
	}
	t.Errorf("a recording of %d MiB takes %v MiB while it is converted, want one copy", size, measured)
}

func TestConvertedRecordingsAreBoundedTogether(t *testing.T) {
	t.Parallel()
	const seconds = 60
	flac := append([]byte("fLaC"), make([]byte, 100)...)
	read := func(ctx context.Context, r *audio.Reader) (*audio.Recording, error) {
		return r.Read(ctx, bytes.NewReader(flac), int64(len(flac)), audio.Wanted{Part: time.Hour})
	}

	for name, test := range map[string]struct {
		length int  // seconds of each decoded recording
		second bool // a second recording fits into the budget
	}{
		"a long one uses the budget": {seconds, false},
		"a short one leaves some":    {1, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			length := test.length
			r := audio.NewReader(audio.Options{
				MaxDuration: seconds * time.Second, Decoded: (seconds + 10) * 32000,
				Convert: func(_ context.Context, _ io.ReaderAt, _ int64, _ string, _ time.Duration, w io.Writer) error {
					_, err := w.Write(make([]byte, length*32000))
					return err
				},
			})

			first, err := read(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}

			patience := wait.Patience
			if !test.second { // the second recording waits until its context ends
				patience = 200 * time.Millisecond
			}

			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()

			second, err := read(ctx, r)
			if test.second != (err == nil) || !test.second && !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("the second recording: got error %v, want it accepted: %v", err, test.second)
			}

			if second != nil {
				second.Close()
			}

			if err := first.Close(); err != nil {
				t.Fatal(err)
			}

			third, err := read(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}

			if err := third.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
