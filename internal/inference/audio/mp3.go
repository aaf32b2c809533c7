package audio

import (
	"bufio"
	"errors"
	"io"
)

// frame is the header of an MPEG audio frame (ISO 11172-3, 13818-3).
type frame struct {
	layer   int
	rate    int   // samples a second
	samples int   // in the frame
	size    int64 // in bytes, with the header
}

// bitrates are in kbit/s. The first index is the table of a version and layer, the second the field of the header.
var bitrates = [5][16]int{
	{0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448}, // version 1, layer I
	{0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},    // version 1, layer II
	{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},     // version 1, layer III
	{0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},    // version 2, layer I
	{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},         // version 2, layers II and III
}

// readFrame reads the header of a frame at the beginning of b.
func readFrame(b []byte) (f frame, ok bool) {
	if len(b) < 4 || b[0] != 0xff || b[1]&0xe0 != 0xe0 {
		return f, false
	}
	// The version is 0 for MPEG 2.5, 2 for MPEG 2 and 3 for MPEG 1. The header counts layers downwards.
	version, layer := b[1]>>3&3, 4-int(b[1]>>1&3)

	bitrate, rate, padding := int(b[2]>>4), int(b[2]>>2&3), int64(b[2]>>1&1)

	reserved := version == 1 || layer == 4 || bitrate == 15 || rate == 3
	if reserved || bitrate == 0 { // 0 is a free bit rate, which the header does not state
		return f, false
	}
	f = frame{layer: layer, rate: [3]int{44100, 48000, 32000}[rate], samples: 1152}
	table := layer - 1

	if version != 3 {
		f.rate /= 2
		table = min(2+layer, 4)
	}

	if version == 0 {
		f.rate /= 2
	}
	bits := int64(bitrates[table][bitrate]) * 1000

	switch {
	case layer == 1:
		f.samples = 384
		f.size = (12*bits/int64(f.rate) + padding) * 4

		return f, true
	case layer == 3 && version != 3:
		f.samples = 576
	}
	f.size = int64(f.samples)/8*bits/int64(f.rate) + padding

	return f, true
}

// tagSize returns the length of the ID3v2 tag at the beginning of a file, in bytes, or 0 if there is none.
func tagSize(head []byte) int64 {
	if len(head) < 10 || string(head[:3]) != "ID3" {
		return 0
	}

	size := int64(10)
	if head[5]&0x10 != 0 {
		size += 10 // a footer
	}

	return size + int64(head[6]&0x7f)<<21 + int64(head[7]&0x7f)<<14 + int64(head[8]&0x7f)<<7 + int64(head[9]&0x7f)
}

// mp3Seconds adds up the lengths of all frames of MPEG audio. ok is false for a file that has other data than a
// tag and frames: engines may disagree on its length.
func mp3Seconds(r io.Reader) (seconds float64, ok bool) {
	b := bufio.NewReaderSize(r, 64<<10)
	for head, _ := b.Peek(10); tagSize(head) > 0; head, _ = b.Peek(10) {
		if _, err := io.CopyN(io.Discard, b, tagSize(head)); err != nil {
			return 0, false
		}
	}
	frames := 0

	for {
		head, err := b.Peek(4)
		if len(head) == 0 && errors.Is(err, io.EOF) {
			return seconds, frames > 1
		}

		f, ok := readFrame(head)
		if !ok {
			// A tag of 128 bytes or padding may be at the end.
			rest, err := io.CopyN(io.Discard, b, 4096)
			return seconds, frames > 1 && errors.Is(err, io.EOF) && rest < 4096
		}
		frames++

		seconds += float64(f.samples) / float64(f.rate)
		if _, err := b.Discard(int(f.size)); err != nil {
			return seconds, frames > 1 && errors.Is(err, io.EOF) // the last frame is cut
		}
	}
}
