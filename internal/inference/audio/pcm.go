package audio

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
)

// pcm describes samples in a file.
type pcm struct {
	r io.ReaderAt
	// offset is the start of the samples, size their number of bytes.
	offset, size int64
	rate         int // samples a second
	channels     int
	bits         int  // of a sample
	float        bool // the samples are floating-point numbers
}

// The format for engines: 16 kHz, one channel, 16 bits.
const (
	speechRate  = 16000
	speechBytes = 2 * speechRate // a second
)

// blockBytes returns the size of one sample of all channels, bytesPerSecond that of one second, and seconds the length
// of the recording.
func (p pcm) blockBytes() int64     { return int64(p.channels * p.bits / 8) }
func (p pcm) bytesPerSecond() int64 { return p.blockBytes() * int64(p.rate) }
func (p pcm) seconds() float64      { return float64(p.size) / float64(p.bytesPerSecond()) }

// isSpeechFormat reports whether the samples have the format that every engine can read.
func (p pcm) isSpeechFormat() bool {
	return p.rate == speechRate && p.channels == 1 && p.bits == 16 && !p.float
}

// byteAt returns the offset of a time, in whole samples of all channels.
func (p pcm) byteAt(seconds float64) int64 {
	return min(int64(math.Round(seconds*float64(p.rate)))*p.blockBytes(), p.size)
}

// The format tags of a WAV file. An extensible format has its actual tag at byte 24.
const tagInteger, tagFloat, tagExtensible = 1, 3, 0xfffe

// section returns a WAV file with the samples between two times.
func (p pcm) section(from, to float64) (size int64, open func() io.Reader) {
	at, end := p.byteAt(from), p.byteAt(to)
	head := p.header(end - at)

	return int64(len(head)) + end - at, func() io.Reader {
		return io.MultiReader(bytes.NewReader(head), io.NewSectionReader(p.r, p.offset+at, end-at))
	}
}

// header returns the header of a WAV file with size bytes of samples.
func (p pcm) header(size int64) []byte {
	tag := uint16(tagInteger)
	if p.float {
		tag = tagFloat
	}
	b := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(min(36+size, math.MaxUint32)))
	b = binary.LittleEndian.AppendUint32(append(b, "WAVEfmt "...), 16)
	b = binary.LittleEndian.AppendUint16(b, tag)
	b = binary.LittleEndian.AppendUint16(b, uint16(p.channels))
	b = binary.LittleEndian.AppendUint32(b, uint32(p.rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(p.bytesPerSecond()))
	b = binary.LittleEndian.AppendUint16(b, uint16(p.blockBytes()))
	b = binary.LittleEndian.AppendUint16(b, uint16(p.bits))

	return binary.LittleEndian.AppendUint32(append(b, "data"...), uint32(min(size, math.MaxUint32)))
}

// readWAV finds the samples of a WAV file of size bytes. ok is false if they are compressed or the file is
// invalid.
func readWAV(r io.ReaderAt, size int64) (p pcm, ok bool) {
	chunk := make([]byte, 8)
	for at := int64(12); at+8 <= size; {
		if _, err := r.ReadAt(chunk, at); err != nil {
			return p, false
		}

		length := int64(binary.LittleEndian.Uint32(chunk[4:]))
		switch string(chunk[:4]) {
		case "fmt ":
			if p, ok = readFormat(r, at+8, length); !ok {
				return p, false
			}
		case "data":
			p.r, p.offset = r, at+8
			// Programs that stream write 0 or the largest number, because they do not know the length.
			p.size = min(length, size-p.offset)
			if length == 0 {
				p.size = size - p.offset
			}

			if p.rate == 0 {
				return p, false
			}
			p.size -= p.size % p.blockBytes()

			return p, true
		}
		at += 8 + length + length%2
	}

	return p, false
}

// readFormat reads the chunk with the sample format.
func readFormat(r io.ReaderAt, at, length int64) (p pcm, ok bool) {
	b := make([]byte, min(length, 26))
	if _, err := r.ReadAt(b, at); err != nil || len(b) < 16 {
		return p, false
	}

	tag := binary.LittleEndian.Uint16(b)
	// The extensible format has the real tag at the beginning of its sub-format, a GUID.
	if tag == tagExtensible && len(b) == 26 {
		tag = binary.LittleEndian.Uint16(b[24:])
	}
	p = pcm{
		channels: int(binary.LittleEndian.Uint16(b[2:])),
		rate:     int(min(binary.LittleEndian.Uint32(b[4:]), math.MaxInt32)),
		bits:     int(binary.LittleEndian.Uint16(b[14:])),
		float:    tag == tagFloat,
	}
	known := tag == tagInteger && (p.bits == 8 || p.bits == 16 || p.bits == 24 || p.bits == 32) ||
		tag == tagFloat && (p.bits == 32 || p.bits == 64)
	inRange := p.channels >= 1 && p.channels <= 8 && p.rate >= 4000 && p.rate <= 384_000

	return p, known && inRange && int64(binary.LittleEndian.Uint16(b[12:])) == p.blockBytes()
}
