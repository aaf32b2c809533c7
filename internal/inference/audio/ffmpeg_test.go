package audio_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"presswork/internal/fault"
	"presswork/internal/inference/audio"
	"presswork/internal/inference/sandbox"
)

// newConverter returns a converter with ffmpeg in a sandbox. It skips the test under -short.
func newConverter(t *testing.T) audio.Convert {
	t.Helper()

	if testing.Short() {
		t.Skip("needs bubblewrap and ffmpeg; `make test` runs this test")
	}

	b, err := sandbox.Open(t.Context(), sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}

	if err := audio.HasFFmpeg(t.Context(), b); err != nil {
		t.Fatal(err)
	}

	return audio.FFmpeg(b)
}

// wavTone returns a WAV file with a tone of 440 Hz. The tone is silent at the seconds for which quiet returns true; nil
// means never. The header has 44 bytes.
func wavTone(rate, channels int, seconds float64, quiet func(second float64) bool) []byte {
	frames := int(seconds * float64(rate))
	size := uint32(frames * channels * 2)
	b := binary.LittleEndian.AppendUint32([]byte("RIFF"), 36+size)
	b = binary.LittleEndian.AppendUint32(append(b, "WAVEfmt "...), 16)
	b = binary.LittleEndian.AppendUint16(b, 1)
	b = binary.LittleEndian.AppendUint16(b, uint16(channels))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate*channels*2))
	b = binary.LittleEndian.AppendUint16(b, uint16(channels*2))
	b = binary.LittleEndian.AppendUint16(b, 16)
	b = binary.LittleEndian.AppendUint32(append(b, "data"...), size)

	for n := range frames {
		at := float64(n) / float64(rate)

		v := int16(12000 * math.Sin(2*math.Pi*440*at))
		if quiet != nil && quiet(at) {
			v = 0
		}

		for range channels {
			b = binary.LittleEndian.AppendUint16(b, uint16(v))
		}
	}

	return b
}

// encode converts a WAV file with the ffmpeg of the host, not with that of the sandbox.
func encode(t *testing.T, wav []byte, args ...string) []byte {
	t.Helper()
	path := t.TempDir() + "/out"
	input := []string{"-v", "error", "-f", "wav", "-i", "pipe:0"}
	cmd := exec.CommandContext(t.Context(), "ffmpeg", slices.Concat(input, args, []string{path})...)

	cmd.Stdin = bytes.NewReader(wav)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg %v: %v %s", args, err, out)
	}

	return readFile(t, path)
}

// encodings are the accepted formats, with the arguments of ffmpeg that produce them.
var encodings = map[string][]string{
	"flac":  {"-f", "flac"},
	"mp3":   {"-f", "mp3"},
	"mp4":   {"-c:a", "aac", "-f", "mp4"},
	"m4a":   {"-c:a", "aac", "-f", "ipod"},
	"ogg":   {"-c:a", "libvorbis", "-f", "ogg"},
	"opus":  {"-c:a", "libopus", "-f", "ogg"},
	"webm":  {"-c:a", "libopus", "-f", "webm"},
	"mpga":  {"-c:a", "mp2", "-f", "mp2"},
	"mpeg":  {"-c:a", "mp2", "-f", "mpeg"},
	"wav":   {"-ar", "44100", "-ac", "2", "-f", "wav"},
	"alaw":  {"-c:a", "pcm_alaw", "-f", "wav"},
	"float": {"-c:a", "pcm_f32le", "-f", "wav"},
}

func TestEveryFormatIsConvertedAndCut(t *testing.T) {
	t.Parallel()
	convert := newConverter(t)
	// 14 s need three parts of at most 6 s, and the tone pauses twice.
	source := wavTone(22050, 1, 14, func(s float64) bool { return s > 5 && s < 5.8 || s > 10.6 && s < 11 })

	for name, args := range encodings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := encode(t, source, args...)

			r, err := readRecording(t, audio.Options{Convert: convert}, b, 6*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()

			if math.Abs(r.Duration-14) > .15 || len(r.Parts) != 3 {
				t.Fatalf("got %d parts of %g s, want 3 of 14 s", len(r.Parts), r.Duration)
			}

			if a, b := r.Parts[0].End, r.Parts[1].End; a < 5 || a > 5.8 || b < 10.5 || b > 11.1 {
				t.Errorf("cut at %g and %g s, want the pauses from 5 to 5.8 and 10.6 to 11 s", a, b)
			}

			for _, p := range r.Parts {
				got := readAll(t, p)
				if int64(len(got)) != p.Size || p.Name != "audio.wav" || !is16kHzMono(got) ||
					math.Abs(seconds(got)-(p.End-p.Start)) > .001 {
					t.Errorf("%s has %d bytes and %g s; want audio.wav with %d bytes and %g s", p.Name,
						len(got), seconds(got), p.Size, p.End-p.Start)
				}
			}
		})
	}
}

func TestHostileRecordingsAreRejectedWithAReason(t *testing.T) {
	t.Parallel()
	reader := audio.NewReader(audio.Options{Convert: newConverter(t), MaxDuration: 5 * time.Minute})
	song := wavTone(16000, 1, 2, nil)
	mp4 := encode(t, song, "-c:a", "aac", "-f", "mp4")
	flac := encode(t, song, "-f", "flac")

	film := encode(t, song, "-f", "lavfi", "-i", "color=c=red:s=16x16:d=1", "-map", "1:v", "-f", "webm")
	for name, tc := range map[string]struct {
		b    []byte
		code fault.Code
		says string
	}{
		"empty":               {nil, fault.ContentEmpty, "empty"},
		"text":                {[]byte("This is no sound at all, only some words.\n"), fault.InvalidOption, "by its content"},
		"m3u":                 {[]byte("#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n"), fault.InvalidOption, "by its content"},
		"hls":                 {[]byte("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nconcat:/etc/passwd|/etc/shadow\n#EXT-X-ENDLIST\n"), fault.InvalidOption, "by its content"},
		"concat":              {[]byte("ffconcat version 1.0\nfile /etc/passwd\n"), fault.InvalidOption, "by its content"},
		"hls of a server":     {[]byte("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://169.254.169.254/a.wav\n#EXT-X-ENDLIST\n"), fault.InvalidOption, "by its content"},
		"subfile":             {append([]byte("ID3\x03\x00\x00\x00\x00\x00\x00"), "#EXTM3U\nsubfile,,start,0,end,64,,:/etc/passwd\n"...), fault.InvalidOption, "cannot be decoded"},
		"image":               {[]byte("\x89PNG\r\n\x1a\n0000000000000000"), fault.InvalidOption, "by its content"},
		"gzip":                {[]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00"), fault.InvalidOption, "by its content"},
		"a masked list":       {append([]byte("ID3\x03\x00\x00\x00\x00\x00\x00"), "#EXTM3U\nfile:///etc/passwd\n"...), fault.InvalidOption, "cannot be decoded"},
		"mp4 without its end": {mp4[:len(mp4)/2], fault.InvalidOption, "cannot be decoded"},
		"only a header":       {flac[:60], fault.InvalidOption, ""},
		"no sound":            {film, fault.InvalidOption, "cannot be decoded"},
		"random":              {append([]byte("OggS"), bytes.Repeat([]byte("\x00\xff\x13"), 5000)...), fault.InvalidOption, "cannot be decoded"},
		"too short":           {wavTone(16000, 1, .005, nil), fault.InvalidOption, "too short"},
		"10 hours in flac":    {encodedSilence(t, "10:00:00", "1000", "-f", "flac"), fault.ContentTooLarge, "longer than 5m"},
		"10 minutes in ogg":   {encodedSilence(t, "00:10:00", "8000", "-c:a", "libvorbis", "-f", "ogg"), fault.ContentTooLarge, "longer than 5m"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := reader.Read(t.Context(), bytes.NewReader(tc.b), int64(len(tc.b)),
				audio.Wanted{Part: 10 * time.Minute})
			if fault.CodeOf(err) != tc.code || !strings.Contains(fault.AsError(err).Message, tc.says) {
				t.Errorf("got %v, want %s: %s", err, tc.code, tc.says)
			}
		})
	}
	t.Run("a cut recording", func(t *testing.T) {
		t.Parallel()
		half := flac[:len(flac)/2]

		r, err := reader.Read(t.Context(), bytes.NewReader(half), int64(len(half)), audio.Wanted{Part: time.Minute})
		if err != nil || r.Duration <= .3 || r.Duration >= 2 {
			t.Errorf("half a FLAC: got %+v, %v; want the part that can be decoded", r, err)
		}
	})
}

// encodedSilence returns silence of a length, such as 00:10:00, at a sample rate. It has few bytes.
func encodedSilence(t *testing.T, length, rate string, args ...string) []byte {
	t.Helper()
	path := t.TempDir() + "/out"

	input := []string{"-v", "error", "-f", "lavfi", "-t", length, "-i", "anullsrc=r=" + rate + ":cl=mono"}
	cmd := exec.CommandContext(t.Context(), "ffmpeg", slices.Concat(input, args, []string{path})...)

	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg: %v %s", err, out)
	}

	return readFile(t, path)
}

// recordingBox is a Box that records its command and runs nothing.
type recordingBox struct{ command sandbox.Command }

func (b *recordingBox) Run(_ context.Context, c sandbox.Command) (sandbox.Output, error) {
	b.command = c
	return sandbox.Output{}, nil
}

// TestEverySandboxLayerAppliesToFFmpeg checks the command. Hostile recordings cannot show that a layer is missing,
// because another layer stops them.
func TestEverySandboxLayerAppliesToFFmpeg(t *testing.T) {
	t.Parallel()

	var box recordingBox

	err := audio.FFmpeg(&box)(t.Context(), strings.NewReader("moov"), 4, "mov", 90*time.Second, new(bytes.Buffer))
	if err != nil {
		t.Fatal(err)
	}
	c := box.command

	inputArgs, outputArgs, _ := strings.Cut(strings.Join(c.Args, " "), " -i "+sandbox.StdinPath+" ")
	for _, want := range []string{"-nostdin", "-protocol_whitelist file", "-f mov"} {
		if !strings.Contains(inputArgs+" ", want+" ") {
			t.Errorf("the input arguments lack %q: %s", want, inputArgs)
		}
	}

	for _, want := range []string{"-map 0:a:0", "-vn", "-sn", "-dn", "-ac 1", "-ar 16000", "-t 90.000", "-f s16le pipe:1"} {
		if !strings.Contains(outputArgs+" ", want+" ") {
			t.Errorf("the output arguments lack %q: %s", want, outputArgs)
		}
	}

	if seen, err := io.ReadAll(c.StdinFile); err != nil || string(seen) != "moov" || len(c.Files) > 0 {
		t.Errorf("ffmpeg reads %q, %v and the files %+v; want moov on stdin and no files", seen, err, c.Files)
	}

	if l := c.Limits; l.Memory <= 0 || l.CPU <= 0 || l.Wall <= 0 || l.Output < 90*2*16000 || l.Output > 100*2*16000 {
		t.Errorf("the limits are %+v, want all set, and an output of little more than 90 s", l)
	}
}

func TestCancelledContextEndsConversion(t *testing.T) {
	t.Parallel()
	convert := newConverter(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	b := wavTone(8000, 2, 2, nil)
	if err := convert(ctx, bytes.NewReader(b), int64(len(b)), "wav", time.Minute, new(bytes.Buffer)); err == nil {
		t.Error("a conversion with a cancelled context returned no error")
	}
}
