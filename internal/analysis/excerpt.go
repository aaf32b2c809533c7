package analysis

import "bytes"

const (
	// excerptBytes limits the source that is parsed. It is more than the words that are read (sampleBytes) need.
	excerptBytes = 256 << 10
	// sectionBytes is the least length of a section of the excerpt.
	sectionBytes = 8 << 10
)

// excerpt returns the beginning of a long source and sections spread evenly over the rest, with their share of the
// source. It returns a source of at most excerptBytes as it is.
func excerpt(src []byte) (out []byte, share float64) {
	const head = excerptBytes / 4

	if len(src) <= excerptBytes {
		return src, 1
	}
	out = make([]byte, 0, excerptBytes+sectionBytes)

	for seen := 0; seen < len(src); {
		length := sectionLength(src[seen:])

		due := seen
		if seen > head {
			due = head + int(int64(seen-head)*(excerptBytes-head)/int64(len(src)-head))
		}

		if len(out) <= due {
			out = append(out, src[seen:seen+length]...)
		}
		seen += length
	}

	return out, float64(len(out)) / float64(len(src))
}

// sectionLength returns the length of the first section of a source: sectionBytes and the text up to the next blank
// line outside a code fence.
func sectionLength(src []byte) int {
	length, fence := 0, ""

	for line := range bytes.Lines(src) {
		length += len(line)
		text := bytes.TrimSpace(line)

		switch {
		case fence != "" && bytes.HasPrefix(text, []byte(fence)):
			fence = ""
		case fence != "":
		case bytes.HasPrefix(text, []byte("```")), bytes.HasPrefix(text, []byte("~~~")):
			fence = string(text[:3])
		case len(text) == 0 && length >= sectionBytes:
			return length
		}
	}

	return length
}
