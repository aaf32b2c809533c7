package pdffile

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
)

// perStream is the number of objects in one object stream. Readers unpack a whole stream to read one object, and a
// thousand objects compress as well as all. The index of an object in its stream must fit in 16 bits.
const perStream = 1000

// objectStream is a compressed stream of objects.
type objectStream struct {
	objects []int // their numbers
	first   int   // the offset of the first object in the unpacked stream
	packed  []byte
}

// packObjects compresses all objects except streams, in as many streams at once as there are processors.
func (f *File) packObjects() []objectStream {
	var plain []int

	for n, o := range f.Objects {
		if o != nil && !IsStream(o) {
			plain = append(plain, n)
		}
	}

	var streams []objectStream
	for batch := range slices.Chunk(plain, perStream) {
		streams = append(streams, objectStream{objects: batch})
	}

	if len(streams) == 1 {
		streams[0].pack(f) // with the compressor of f
		return streams
	}
	var next atomic.Int64
	var wg sync.WaitGroup

	for range min(runtime.GOMAXPROCS(0), len(streams)) {
		wg.Go(func() {
			own := &File{Objects: f.Objects} // the compressor of f serves one goroutine only
			for i := int(next.Add(1)) - 1; i < len(streams); i = int(next.Add(1)) - 1 {
				streams[i].pack(own)
			}
		})
	}
	wg.Wait()

	return streams
}

// pack compresses the objects of the stream.
func (s *objectStream) pack(f *File) {
	var head, bodies bytes.Buffer
	for _, n := range s.objects {
		fmt.Fprintf(&head, "%d %d ", n, bodies.Len())
		bodies.Write(f.Objects[n])
		bodies.WriteByte('\n')
	}
	s.first, s.packed = head.Len(), f.Deflate(head.Bytes(), bodies.Bytes())
}

// writeObjectStream writes a stream as a new object, and records where its objects are.
func (w *writer) writeObjectStream(s objectStream) {
	number := len(w.offsets)

	w.offsets = append(w.offsets, location{})
	for i, n := range s.objects {
		w.offsets[n] = location{stream: number, index: i}
	}
	var d Dict
	d.Set("Type", "/ObjStm")
	d.Set("N", strconv.Itoa(len(s.objects)))
	d.Set("First", strconv.Itoa(s.first))
	d.Set("Filter", "/FlateDecode")
	w.object(number, w.seal.stream(NewStream(d, s.packed)))
}
