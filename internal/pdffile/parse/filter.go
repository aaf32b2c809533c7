package parse

import (
	"bytes"
	"compress/lzw"
	"compress/zlib"
	"encoding/ascii85"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"

	"presswork/internal/pdffile"
)

// ErrFilter is returned for streams whose filter has no text or tables in it, such as those of pictures.
var ErrFilter = errors.New("the stream uses a filter of pictures")

// Unpack returns the unpacked content of a stream object. Each of its filters may return at most limit bytes. A
// stream that breaks off gives the part before. f resolves references in the stream dictionary. Errors: ErrFilter,
// ErrTooLarge, and errors of damaged streams.
func Unpack(f *pdffile.File, object []byte, limit int) ([]byte, error) {
	d, rest, err := pdffile.ReadDict(object)
	if err != nil {
		return nil, err
	}
	content, _ := bytes.CutPrefix(rest, []byte(" stream\n"))
	content, _ = bytes.CutSuffix(content, []byte("\nendstream"))

	filters, err := list(f, d.Get("Filter"))
	if err != nil {
		return nil, err
	}

	const maxFilters = 8 // real files use at most two
	if len(filters) > maxFilters {
		return nil, errSyntax
	}

	parameters, err := list(f, d.Get("DecodeParms"))
	if err != nil {
		return nil, err
	}

	for i, name := range filters {
		var parms pdffile.Dict
		if i < len(parameters) {
			parms, _ = f.Dictionary(parameters[i]) // null if the filter needs none
		}

		if content, err = unfilter(string(name), parms, content, limit); err != nil {
			return nil, err
		}
	}

	return content, nil
}

// list returns the values of an array, of a reference to one, or of a single value. It is empty for nil.
func list(f *pdffile.File, value []byte) ([][]byte, error) {
	if n, ok := f.Object(value); ok {
		value = f.Objects[n]
	}

	if value == nil {
		return nil, nil
	}

	return pdffile.ReadArray(value)
}

// unfilter undoes one filter (ISO 32000-2, 7.4).
func unfilter(name string, parms pdffile.Dict, in []byte, limit int) (out []byte, err error) {
	switch name {
	case "/FlateDecode", "/Fl":
		out, err = inflate(in, limit)
	case "/LZWDecode", "/LZW":
		out, err = unLZW(in, limit, string(parms.Get("EarlyChange")) != "0")
	case "/ASCIIHexDecode", "/AHx":
		in, _, _ = bytes.Cut(in, []byte(">"))
		in = bytes.Join(bytes.Fields(in), nil)
		out = make([]byte, hex.DecodedLen(len(in)))
		n, _ := hex.Decode(out, in)

		return out[:n], nil
	case "/ASCII85Decode", "/A85":
		in, _, _ = bytes.Cut(bytes.TrimPrefix(bytes.TrimSpace(in), []byte("<~")), []byte("~"))
		out = make([]byte, 4*len(in)+4)
		n, _, _ := ascii85.Decode(out, in, true)

		return out[:n], nil
	case "/RunLengthDecode", "/RL":
		return unRunLength(in, limit)
	case "/Crypt":
		return in, nil // objects are decrypted when they are read
	default:
		return nil, fmt.Errorf("%w: %s", ErrFilter, name)
	}

	if err != nil {
		return nil, err
	}

	return unpredict(out, parms)
}

// inflate unpacks zlib data. Errors: ErrTooLarge for more than limit bytes, and those of a damaged header.
func inflate(in []byte, limit int) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(in))
	if err != nil {
		return nil, err
	}

	return readUpTo(z, limit)
}

// readUpTo reads all of r, but fails for more than limit bytes: a small stream may unpack to gigabytes. After the first
// bytes it ignores an error, as other readers do. Errors: ErrTooLarge, and an error of r before the first byte.
func readUpTo(r io.Reader, limit int) ([]byte, error) {
	var out bytes.Buffer

	_, err := out.ReadFrom(io.LimitReader(r, int64(limit)+1))
	switch {
	case out.Len() > limit:
		return nil, ErrTooLarge
	case err != nil && out.Len() == 0:
		return nil, err
	}

	return out.Bytes(), nil
}

// unLZW unpacks LZW data. early is the EarlyChange entry. Most PDF writers set it: they increase the code width one
// code earlier than Go's reader expects, so this function reads their data itself.
func unLZW(in []byte, limit int, early bool) ([]byte, error) {
	if !early {
		return readUpTo(lzw.NewReader(bytes.NewReader(in), lzw.MSB, 8), limit)
	}
	const clear, end = 256, 257 // codes that are no data
	// A table entry is a part of the output so far. Each new entry is the text of the previous code and one byte
	// more, which are next to each other in the output.
	type entry struct{ start, length int }
	table := make([]entry, end+1, 4096)
	var out []byte
	bits, held, width := uint32(0), 0, 9 // the lowest held bits of bits are unread
	last := entry{}

	for _, b := range in {
		bits, held = bits<<8|uint32(b), held+8
		if held < width {
			continue
		}
		code := int(bits>>(held-width)) & (1<<width - 1)
		held -= width

		switch {
		case code == end:
			return out, nil
		case code == clear:
			table, width, last = table[:end+1], 9, entry{}
			continue
		case code > len(table) || code > clear && code >= len(table) && last.length == 0:
			return out, nil // damaged
		}
		now := entry{len(out), 1}

		switch {
		case code < clear:
			out = append(out, byte(code))
		case code < len(table):
			e := table[code]
			now.length = e.length
			out = append(out, out[e.start:e.start+e.length]...)
		default: // the code of the entry that this step adds
			now.length = last.length + 1
			out = append(append(out, out[last.start:last.start+last.length]...), out[last.start])
		}

		if len(out) > limit {
			return nil, ErrTooLarge
		}

		if last.length > 0 && len(table) < 4096 {
			table = append(table, entry{last.start, last.length + 1})
		}

		// The 1 is the early change: the width grows one code before the table is full.
		if n := len(table) + 1; n >= 1<<width && width < 12 {
			width++
		}
		last = now
	}

	return out, nil
}

// unRunLength unpacks run-length data. Errors: ErrTooLarge.
func unRunLength(in []byte, limit int) (out []byte, err error) {
	for len(in) > 0 {
		n := int(in[0])
		in = in[1:]

		switch {
		case n == 128:
			return out, nil
		case n < 128:
			n = min(n+1, len(in))
			out = append(out, in[:n]...)
			in = in[n:]
		case len(in) > 0:
			out = append(out, bytes.Repeat(in[:1], 257-n)...)
			in = in[1:]
		}

		if len(out) > limit {
			return nil, ErrTooLarge
		}
	}

	return out, nil
}

// unpredict undoes the predictors of PNG and TIFF (ISO 32000-2, 7.4.4.4), which store the difference of each byte to
// its neighbours. It changes in. A last row that is cut off is kept.
func unpredict(in []byte, parms pdffile.Dict) ([]byte, error) {
	number := func(key string, byDefault int) int {
		if n, err := strconv.Atoi(string(parms.Get(key))); err == nil && n > 0 && n < 1<<20 {
			return n
		}

		return byDefault
	}

	predictor := number("Predictor", 1)
	if predictor == 1 {
		return in, nil
	}

	colors, bits, columns := number("Colors", 1), number("BitsPerComponent", 8), number("Columns", 1)
	if colors > 32 || bits > 16 {
		return nil, errSyntax
	}
	pixel := max(colors*bits/8, 1)       // the distance in bytes to the left neighbour
	row := (colors*bits*columns + 7) / 8 // bytes

	if predictor == 2 {
		if bits != 8 {
			return nil, errSyntax
		}

		for start := 0; start < len(in); start += row {
			line := in[start:min(start+row, len(in))]
			for i := pixel; i < len(line); i++ {
				line[i] += line[i-pixel]
			}
		}

		return in, nil
	}
	out := make([]byte, 0, len(in))
	above := make([]byte, row)

	for len(in) > 1 {
		kind := in[0]
		// Each row begins with the number of its filter.
		line := in[1:min(1+row, len(in))]
		in = in[1+len(line):]
		unpredictLine(kind, line, above[:len(line)], pixel)
		out = append(out, line...)
		above = line

		if len(line) < row {
			break
		}
	}

	return out, nil
}

// unpredictLine undoes a filter of PNG in place. kind is its number: none, Sub, Up, Average or Paeth. above is the line
// before, already undone. pixel is the distance in bytes to the left neighbour.
func unpredictLine(kind byte, line, above []byte, pixel int) {
	for i := range line {
		var left, corner byte
		if i >= pixel {
			left, corner = line[i-pixel], above[i-pixel]
		}

		switch kind {
		case 1:
			line[i] += left
		case 2:
			line[i] += above[i]
		case 3:
			line[i] += byte((int(left) + int(above[i])) / 2)
		case 4:
			line[i] += paeth(left, above[i], corner)
		}
	}
}

// paeth is the predictor of the same name in PNG.
func paeth(left, above, corner byte) byte {
	distance := func(b byte) int {
		d := int(left) + int(above) - int(corner) - int(b)
		return max(d, -d)
	}

	switch {
	case distance(left) <= distance(above) && distance(left) <= distance(corner):
		return left
	case distance(above) <= distance(corner):
		return above
	}

	return corner
}
