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

// Whole returns an error for an image that the browser would not show completely. That is a truncated or altered
// PNG or SVG, or a JPEG without a picture. contentType is the type that Inspect returned. Whole does not unpack
// pixels and does not check other types. The error is public.
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

// wholePNG reads the chunks from the signature to IEND and checks their checksums. Each chunk has a length, a
// type, data and a checksum. A capital first letter of the type marks a chunk that decoders must understand.
func wholePNG(b []byte) bool {
	const signature, frame = 8, 12 // sizes in bytes; the frame is all but the data
	pixels := false                // whether a chunk had compressed pixels

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
			// The first chunks of an image may be empty.
			if _, err := zlib.NewReader(bytes.NewReader(data)); err != nil && len(data) >= 2 {
				return false
			}
			pixels = len(data) > 0
		}
		b = b[frame+size:]
	}

	return false
}

// wholeJPEG reads the segments up to the first scan. Each has a marker and a length. The rest may be truncated:
// browsers show the existing part.
func wholeJPEG(b []byte) bool {
	const startOfScan = 0xda

	for b = b[2:]; len(b) >= 4 && b[0] == 0xff; {
		if b[1] == 0xff { // fill byte
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
			// The decoder does not know every character set, so bytes that are not UTF-8 prove nothing.
			syntax, ok := errors.AsType[*xml.SyntaxError](err)
			return ok && syntax.Msg == "invalid UTF-8"
		}
	}
}
