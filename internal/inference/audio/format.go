package audio

import "bytes"

// Format is the format of a recording.
type Format struct {
	// Name is also its file extension, by which engines identify it.
	Name string
	// demuxer is ffmpeg's name for it. With a name, ffmpeg does not read the file as a list of other files.
	demuxer string
}

// The formats.
var (
	wav  = Format{"wav", "wav"}
	flac = Format{"flac", "flac"}
	ogg  = Format{"ogg", "ogg"}
	mp3  = Format{"mp3", "mp3"}
	mp4  = Format{"mp4", "mov"}
	webm = Format{"webm", "matroska"}
	mpeg = Format{"mpeg", "mpeg"}
)

// Formats lists the extensions of accepted recordings, for messages.
const Formats = "flac, mp3, mp4, mpeg, mpga, m4a, ogg, opus, wav, webm"

// HeadBytes is the number of bytes that Detect needs.
const HeadBytes = 16 << 10

// Detect identifies a recording by its first bytes. ok is false for other formats.
func Detect(head []byte) (f Format, ok bool) {
	switch {
	case len(head) >= 12 && (bytes.HasPrefix(head, []byte("RIFF")) || bytes.HasPrefix(head, []byte("RF64"))) &&
		string(head[8:12]) == "WAVE":
		return wav, true
	case bytes.HasPrefix(head, []byte("fLaC")):
		return flac, true
	case bytes.HasPrefix(head, []byte("OggS")):
		return ogg, true
	case len(head) >= 8 && string(head[4:8]) == "ftyp":
		return mp4, true
	case bytes.HasPrefix(head, []byte("\x1a\x45\xdf\xa3")):
		return webm, true
	case bytes.HasPrefix(head, []byte("\x00\x00\x01\xba")):
		return mpeg, true
	case bytes.HasPrefix(head, []byte("ID3")):
		// FLAC may also have a tag before its data.
		if size := tagSize(head); size+4 <= int64(len(head)) && bytes.HasPrefix(head[size:], []byte("fLaC")) {
			return flac, true
		}

		return mp3, true
	}

	first, ok := readFrame(head)
	if !ok {
		return Format{}, false
	}
	// Any two bytes may look like the beginning of a frame; two frames in a row do not.
	if first.size < int64(len(head)) {
		second, ok := readFrame(head[first.size:])
		return mp3, ok && second.rate == first.rate && second.layer == first.layer
	}

	return mp3, true
}
