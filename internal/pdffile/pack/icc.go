package pack

import (
	"encoding/binary"
	"math"
	"unicode/utf16"
)

// srgbProfile returns the ICC profile of sRGB (IEC 61966-2-1) in version 4, because Chromium writes sRGB colours.
// It has the primaries adapted to D50 and the parametric tone curve.
func srgbProfile() []byte {
	const (
		headerSize = 128
		entrySize  = 12
	)
	white := xyzTag(0.9642, 1, 0.8249) // D50
	curve := parametricCurve(2.4, 1/1.055, 0.055/1.055, 1/12.92, 0.04045)
	tags := []struct {
		name string
		data []byte
	}{
		{"desc", textTag("sRGB IEC61966-2.1")},
		{"cprt", textTag("No copyright, use freely")},
		{"wtpt", white},
		// The adaptation from D65, the white of sRGB, to D50, which profiles require.
		{"chad", fixedTag("sf32",
			1.047882, 0.022918, -0.050217,
			0.029587, 0.990479, -0.017059,
			-0.009247, 0.015076, 0.751678)},
		{"rXYZ", xyzTag(0.436066, 0.222488, 0.013916)},
		{"gXYZ", xyzTag(0.385147, 0.716873, 0.097076)},
		{"bXYZ", xyzTag(0.143066, 0.060608, 0.714096)},
		{"rTRC", curve},
		{"gTRC", curve},
		{"bTRC", curve},
	}
	table := binary.BigEndian.AppendUint32(nil, uint32(len(tags)))
	offset := headerSize + 4 + entrySize*len(tags)

	var data []byte
	for i, tag := range tags {
		at := offset + len(data)
		if tag.name[1:] == "TRC" && i > len(tags)-3 {
			at -= len(curve) // all three channels share one curve
		} else {
			data = append(data, tag.data...)
		}
		table = append(table, tag.name...)
		table = binary.BigEndian.AppendUint32(table, uint32(at))
		table = binary.BigEndian.AppendUint32(table, uint32(len(tag.data)))
	}
	header := make([]byte, headerSize)
	binary.BigEndian.PutUint32(header[0:], uint32(offset+len(data)))
	copy(header[8:], "\x04\x30\x00\x00mntrRGB XYZ ")
	// A fixed date keeps the bytes of the profile reproducible.
	for i, n := range []uint16{2026, 1, 1, 0, 0, 0} {
		binary.BigEndian.PutUint16(header[24+2*i:], n)
	}
	copy(header[36:], "acsp")
	copy(header[68:], white[8:])

	return append(append(header, table...), data...)
}

// fixedTag returns a tag of signed 16.16 fixed-point numbers.
func fixedTag(kind string, values ...float64) []byte {
	b := append([]byte(kind), 0, 0, 0, 0)
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, uint32(int32(math.Round(v*65536))))
	}

	return b
}

// xyzTag returns a tag of one colour in the space XYZ.
func xyzTag(x, y, z float64) []byte { return fixedTag("XYZ ", x, y, z) }

// parametricCurve returns a tag of function type 3: (a·x+b)^g from d upwards, c·x below.
func parametricCurve(g, a, b, c, d float64) []byte {
	tag := fixedTag("para", g, a, b, c, d)
	return append(tag[:8:8], append([]byte{0, 3, 0, 0}, tag[8:]...)...)
}

// textTag returns a multiLocalizedUnicode tag with one text, padded to a multiple of four bytes.
func textTag(s string) []byte {
	units := utf16.Encode([]rune(s))
	b := []byte("mluc\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x0cenUS")
	b = binary.BigEndian.AppendUint32(b, uint32(2*len(units)))

	b = binary.BigEndian.AppendUint32(b, 28)
	for _, u := range units {
		b = binary.BigEndian.AppendUint16(b, u)
	}

	for len(b)%4 != 0 {
		b = append(b, 0)
	}

	return b
}
