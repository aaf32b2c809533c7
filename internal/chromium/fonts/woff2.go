package fonts

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/andybalholm/brotli"
)

// brotliLevel compresses a face in about 30 ms; the best level takes ten times as long and saves 3 %.
const brotliLevel = 9

// woff2 returns the tables as a WOFF 2.0 file, without the optional transformations of the format.
func (s *subset) woff2() ([]byte, error) {
	const (
		arbitraryTag = 63     // the tag itself follows; smaller numbers stand for well-known tags
		untouched    = 3 << 6 // not transformed, for the tables glyf and loca; other tables have 0
	)
	// The table loca has to follow glyf.
	tags := slices.SortedFunc(maps.Keys(s.tables), func(a, b string) int {
		return cmp.Compare(order(a), order(b))
	})
	var directory []byte
	var packed bytes.Buffer

	unpacked := 12 + 16*len(tags)
	w := brotli.NewWriterLevel(&packed, brotliLevel)

	for _, tag := range tags {
		flags := byte(arbitraryTag)
		if tag == "glyf" || tag == "loca" {
			flags |= untouched
		}
		directory = append(append(directory, flags), tag...)
		directory = appendBase128(directory, len(s.tables[tag]))
		unpacked += (len(s.tables[tag]) + 3) &^ 3

		if _, err := w.Write(s.tables[tag]); err != nil {
			return nil, err
		}
	}

	if err := w.Close(); err != nil {
		return nil, err
	}

	size := 48 + len(directory) + packed.Len()
	padding := -size & 3
	out := append([]byte("wOF2"), 0, 1, 0, 0)
	out = binary.BigEndian.AppendUint32(out, uint32(size+padding))
	out = binary.BigEndian.AppendUint16(out, uint16(len(tags)))
	out = append(out, 0, 0)
	out = binary.BigEndian.AppendUint32(out, uint32(unpacked))
	out = binary.BigEndian.AppendUint32(out, uint32(packed.Len()))
	out = append(out, make([]byte, 24)...) // version 0.0, no metadata and no private data

	return slices.Concat(out, directory, packed.Bytes(), make([]byte, padding)), nil
}

// order sorts the tags of tables, with loca directly after glyf.
func order(tag string) string {
	if tag == "loca" {
		return "glyf "
	}

	return tag
}

// appendBase128 appends a number as UIntBase128: seven bits a byte, the most significant first.
func appendBase128(b []byte, n int) []byte {
	for shift := 28; shift > 0; shift -= 7 {
		if n>>shift > 0 {
			b = append(b, byte(n>>shift)|0x80)
		}
	}

	return append(b, byte(n)&0x7f)
}
