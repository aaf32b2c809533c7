package imagetype

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"hash/crc32"
	"io"
)

// Whole returns an error for an image that the browser would not show completely. That is a PNG or SVG that is cut
// off or altered, or a JPEG without a picture. Inspect must have identified it as contentType. Pixels are not
// unpacked, and other types are not checked. The error is public.
func Whole(b []byte, contentType string) error {
	whole := true

	switch contentType {
	case "image/png":
		whole = wholePNG(b)
	case "image/jpeg":
		whole = wholeJPEG(b)
	case "image/svg+xml":
		whole = wholeSVG(b)
	}

	if !whole {
		return errDamaged
	}

	return nil
}

// wholePNG walks the chunks, each of length, type, data and checksum, from the
// signature to IEND. A chunk that must be understood has a capital letter first.
func wholePNG(b []byte) bool {
	const signature, frame = 8, 12
	pixels := false

	for b = b[signature:]; len(b) >= frame; {
		size := uint64(binary.BigEndian.Uint32(b))
		if size > uint64(len(b)-frame) {
			return false
		}

		kind, data, sum := string(b[4:8]), b[8:8+size], binary.BigEndian.Uint32(b[8+size:])
		if kind[0] < 'a' && crc32.ChecksumIEEE(b[4:8+size]) != sum {
			return false
		}

		switch {
		case kind == "IEND":
			return pixels
		case kind == "IDAT" && !pixels:
			// An image may begin with empty chunks.
			if _, err := zlib.NewReader(bytes.NewReader(data)); err != nil && len(data) >= 2 {
				return false
			}
			pixels = len(data) > 0
		}
		b = b[frame+size:]
	}

	return false
}

// wholeJPEG reads the segments, each of a marker and a length, up to the first scan. The rest may be cut off:
// browsers show the part that is there.
func wholeJPEG(b []byte) bool {
	const startOfScan = 0xda

	for b = b[2:]; len(b) >= 4 && b[0] == 0xff; {
		if b[1] == 0xff { // fill
			b = b[1:]
			continue
		}

		size := 2 + int(binary.BigEndian.Uint16(b[2:]))
		if size > len(b) {
			return false
		}

		if b[1] == startOfScan {
			return size < len(b)
		}
		b = b[size:]
	}

	return false
}

// wholeSVG reads to the end of the root element.
func wholeSVG(b []byte) bool {
	d := xml.NewDecoder(bytes.NewReader(b))

	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for {
		switch _, err := d.Token(); {
		case errors.Is(err, io.EOF):
			return true
		case err != nil:
			// In a character set that is not read here, anything may look wrong.
			syntax, ok := errors.AsType[*xml.SyntaxError](err)
			return ok && syntax.Msg == "invalid UTF-8"
		}
	}
}
