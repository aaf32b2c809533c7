package imagetype

import (
	"bytes"
	"encoding/binary"
)

// avif returns the largest size in the boxes of the file. An AVIF may hold several images, and finding the visible
// one needs the whole box tree. So avif searches all descriptive boxes, and a size late in the file also counts.
// Data outside meta and moov does not count. Errors: errDamaged. Without a size the Info has width and height 0.
func avif(b []byte) (Info, error) {
	info := Info{ContentType: "image/avif"}
	largest := func(w, h uint64) {
		if w*h > info.Pixels() {
			info.Width, info.Height = w, h
		}
	}

	for len(b) >= 8 {
		kind, body, rest, ok := nextBox(b)
		if !ok {
			return Info{}, errDamaged
		}

		switch kind {
		case "meta", "moov":
			// An ispe is version and flags, width, height.
			eachNamed(body, "ispe", 12, func(p []byte) {
				largest(uint64(binary.BigEndian.Uint32(p[4:])), uint64(binary.BigEndian.Uint32(p[8:])))
			})
			// A track's header (ISO/IEC 14496-12, 8.3.2) ends with its size, in
			// 1/65536 pixel; version 1 has longer times before it.
			eachNamed(body, "tkhd", 84, func(p []byte) {
				if p[0] == 1 {
					p = p[min(12, len(p)-84):]
				}
				largest(uint64(binary.BigEndian.Uint32(p[76:])>>16), uint64(binary.BigEndian.Uint32(p[80:])>>16))
			})
		}
		b = rest
	}

	return info, nil
}

// nextBox splits off the first box of a file (ISO/IEC 14496-12, 4.2). A box whose stated length exceeds the file
// ends with the file, as in a truncated file. b has at least 8 bytes. ok is false if the header is incomplete or the
// stated length is smaller than the header.
func nextBox(b []byte) (kind string, body, rest []byte, ok bool) {
	size, head := uint64(binary.BigEndian.Uint32(b)), uint64(8)
	switch size {
	case 0: // the box extends to the end of the file
		size = uint64(len(b))
	case 1: // a 64-bit size follows
		if len(b) < 16 {
			return "", nil, nil, false
		}
		size, head = binary.BigEndian.Uint64(b[8:]), 16
	}

	if size < head {
		return "", nil, nil, false
	}
	size = min(size, uint64(len(b)))

	return string(b[4:8]), b[head:size], b[size:], true
}

// eachNamed calls f with the bytes after every occurrence of a box's name, if at least size bytes follow.
func eachNamed(b []byte, name string, size int, f func([]byte)) {
	for {
		at := bytes.Index(b, []byte(name))
		if at < 0 || len(b) < at+4+size {
			return
		}
		b = b[at+4:]
		f(b)
	}
}
