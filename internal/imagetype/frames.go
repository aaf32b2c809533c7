package imagetype

import (
	"bytes"
	"encoding/binary"
)

// MaxFrames is how many frames an animated image may have. A browser reads all of them,
// in a time that grows with the square of their number, to show one.
const MaxFrames = 2000

// Frames returns how many frames an animated image has, by its bytes and the type that
// Inspect has found; 1 for other images. The frames of an AVIF are not counted.
func Frames(b []byte, contentType string) int {
	n := 0

	switch contentType {
	case "image/gif":
		n = gifFrames(b)
	case "image/png":
		n = pngFrames(b)
	case "image/webp":
		n = webpFrames(b)
	}

	return max(n, 1)
}

// gifFrames counts the image descriptors of a GIF, as far as it can be read.
func gifFrames(b []byte) int {
	const head, descriptor, extension, image = 13, 10, 0x21, 0x2c

	n := 0
	if len(b) < head {
		return n
	}

	at := head + colours(b[10])
	for at < len(b) {
		switch b[at] {
		case extension:
			at += 2 // and its kind
		case image:
			if n++; at+descriptor > len(b) {
				return n
			}
			at += descriptor + colours(b[at+9]) + 1 // the size of codes
		default:
			return n
		}

		for at < len(b) && b[at] != 0 { // blocks of data
			at += 1 + int(b[at])
		}
		at++
	}

	return n
}

// colours returns the bytes of the table of colours that flags announce.
func colours(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}

	return 3 << (1 + flags&7)
}

// pngFrames counts the frames of an APNG.
func pngFrames(b []byte) int {
	const signature, frame = 8, 12
	n := 0

	for b = b[min(signature, len(b)):]; len(b) >= frame; {
		size := uint64(binary.BigEndian.Uint32(b))
		if bytes.Equal(b[4:8], []byte("fcTL")) {
			n++
		}

		if size > uint64(len(b)-frame) {
			break
		}
		b = b[frame+size:]
	}

	return n
}

// webpFrames counts the frames of an animated WebP.
func webpFrames(b []byte) int {
	const riff, head = 12, 8
	n := 0

	for b = b[min(riff, len(b)):]; len(b) >= head; {
		size := uint64(binary.LittleEndian.Uint32(b[4:]))
		if bytes.Equal(b[:4], []byte("ANMF")) {
			n++
		}

		size += size & 1 // padding
		if size > uint64(len(b)-head) {
			break
		}
		b = b[head+size:]
	}

	return n
}
