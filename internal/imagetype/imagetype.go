// Package imagetype determines from the bytes of an image what a browser would do with it, regardless of its name and
// media type.
//
// Inspect tells the type and the size. Frames counts the pictures of an animation, and Work what an SVG costs to draw.
// Callers compare these with limits before a browser gets the image. Whole finds truncated images, and
// DarkOnTransparent those that a dark page would hide. ReadDataURI decodes an image that is part of a document.
package imagetype

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
)

// MaxPixels is the limit on the pixels of one image that the browser unpacks: 200 MB at four bytes each.
const MaxPixels = 50_000_000

// Info is what the header of an image says.
type Info struct {
	// ContentType is the media type, such as "image/png".
	ContentType string
	// Width and Height are in pixels. Both are 0 for an SVG.
	Width, Height uint64
}

// Pixels returns width times height. It cannot overflow, because each side has at most 32 bits.
func (i Info) Pixels() uint64 { return i.Width * i.Height }

var (
	errNotImage = errors.New("it is not a PNG, JPEG, GIF, WebP, AVIF or SVG image")
	errDamaged  = errors.New("the image is damaged")
	errEntities = errors.New("SVG images may not define entities")
)

// Inspect returns an image's type and size without unpacking its pixels. It returns an error for images that the
// browser cannot show and for an SVG that defines entities. The caller must compare Pixels with MaxPixels. Errors
// are public.
func Inspect(b []byte) (Info, error) {
	info, err := readHeader(b)
	if err == nil && info.ContentType != "image/svg+xml" && info.Pixels() == 0 {
		err = errDamaged // without a size no limit applies
	}

	if err != nil {
		return Info{}, err
	}

	return info, nil
}

// readHeader recognises the format by the first bytes and reads the size. Errors: errNotImage, errDamaged,
// errEntities.
func readHeader(b []byte) (Info, error) {
	switch {
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		return decoded("image/png", b, png.DecodeConfig)
	case bytes.HasPrefix(b, []byte("\xff\xd8\xff")):
		return decoded("image/jpeg", b, jpeg.DecodeConfig)
	case bytes.HasPrefix(b, []byte("GIF87a")), bytes.HasPrefix(b, []byte("GIF89a")):
		return decoded("image/gif", b, gif.DecodeConfig)
	case len(b) >= 30 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP":
		return webp(b)
	case len(b) >= 12 && string(b[4:8]) == "ftyp" && (string(b[8:12]) == "avif" || string(b[8:12]) == "avis"):
		return avif(b)
	case isSVG(b):
		// A few entities that contain each other can expand to gigabytes.
		if bytes.Contains(b, []byte("<!ENTITY")) {
			return Info{}, errEntities
		}

		return Info{ContentType: "image/svg+xml"}, nil
	}

	return Info{}, errNotImage
}

// decoded reads the size with config, a decoder of package image.
func decoded(contentType string, b []byte, config func(io.Reader) (image.Config, error)) (Info, error) {
	c, err := config(bytes.NewReader(b))
	if err != nil || c.Width < 0 || c.Height < 0 {
		return Info{}, errDamaged
	}

	return Info{contentType, uint64(c.Width), uint64(c.Height)}, nil
}

// webp reads the canvas size of the three WebP variants (RFC 9649). b must have at least 30 bytes.
func webp(b []byte) (Info, error) {
	info := Info{ContentType: "image/webp"}

	switch string(b[12:16]) {
	case "VP8 ":
		info.Width = uint64(binary.LittleEndian.Uint16(b[26:]) & 0x3fff)
		info.Height = uint64(binary.LittleEndian.Uint16(b[28:]) & 0x3fff)
	case "VP8L":
		bits := binary.LittleEndian.Uint32(b[21:])
		info.Width, info.Height = uint64(bits&0x3fff)+1, uint64(bits>>14&0x3fff)+1
	case "VP8X":
		u24 := func(p []byte) uint64 { return uint64(p[0]) | uint64(p[1])<<8 | uint64(p[2])<<16 }
		info.Width, info.Height = u24(b[24:])+1, u24(b[27:])+1
	default:
		return Info{}, errDamaged
	}

	return info, nil
}

// isSVG reports whether the root element is svg. XML declarations and comments may precede it.
func isSVG(b []byte) bool {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	if !bytes.HasPrefix(bytes.TrimSpace(b), []byte("<")) {
		return false
	}
	d := xml.NewDecoder(bytes.NewReader(b))
	d.Strict = false

	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for range 32 { // more tokens before the root are unusual
		token, err := d.RawToken()
		if err != nil {
			return false
		}

		switch token := token.(type) {
		case xml.StartElement:
			return token.Name.Local == "svg"
		case xml.CharData:
			if len(bytes.TrimSpace(token)) > 0 {
				return false // text before the root: not XML
			}
		}
	}

	return false
}
