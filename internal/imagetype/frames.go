package imagetype

import (
	"bytes"
	"encoding/binary"
)

// MaxFrames is the limit on the frames of an animated image. A browser reads all frames to show one, and the time
// grows with the square of their number.
const MaxFrames = 2000

// Frames returns the number of frames of an animated image, or 1 for other images. contentType is the type that
// Inspect returned. Frames does not count those of an AVIF and returns 1.
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

// gifFrames counts the image descriptors of a GIF, up to the first damaged block.
func gifFrames(b []byte) int {
	const (
		head, descriptor = 13, 10     // sizes in bytes
		extension, image = 0x21, 0x2c // the first bytes of blocks
	)

	n := 0
	if len(b) < head {
		return n
	}

	at := head + colours(b[10])
	for at < len(b) {
		switch b[at] {
		case extension:
			at += 2 // introducer and label of the extension
		case image:
			if n++; at+descriptor > len(b) {
				return n
			}
			at += descriptor + colours(b[at+9]) + 1 // the last byte is the LZW code size
		default:
			return n
		}

		for at < len(b) && b[at] != 0 { // data sub-blocks
			at += 1 + int(b[at])
		}
		at++
	}

	return n
}

// colours returns the size in bytes of the colour table that flags announce.
func colours(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}

	return 3 << (1 + flags&7)
}

// pngFrames counts the frames of an APNG, up to a chunk that exceeds the file.
func pngFrames(b []byte) int {
	const signature, frame = 8, 12 // sizes in bytes; the frame of a chunk is length, type and checksum
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

// webpFrames counts the frames of an animated WebP, up to a chunk that exceeds the file.
func webpFrames(b []byte) int {
	const riff, head = 12, 8 // sizes in bytes, of the file's header and of that of a chunk
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
