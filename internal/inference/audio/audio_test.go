package audio_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/audio"
	"presswork/internal/test/golden"
)

// readFile returns the content of a file.
func readFile(t *testing.T, path string) []byte {
	t.Helper()

	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	return b
}

// readRecording reads a recording and cuts it into parts of at most that length.
func readRecording(t *testing.T, o audio.Options, b []byte, part time.Duration) (*audio.Recording, error) {
	t.Helper()
	return audio.NewReader(o).Read(t.Context(), bytes.NewReader(b), int64(len(b)), audio.Wanted{Part: part})
}

// readAll returns the content of a part.
func readAll(t *testing.T, p audio.Part) []byte {
	t.Helper()

	b, err := io.ReadAll(p.Open())
	if err != nil {
		t.Fatal(err)
	}

	return b
}

// is16kHzMono reports whether a WAV file with a header of 44 bytes has 16 kHz, one channel and 16 bits.
func is16kHzMono(b []byte) bool {
	return len(b) > 44 && string(b[36:40]) == "data" && binary.LittleEndian.Uint32(b[24:]) == 16000 && b[22] == 1 &&
		b[34] == 16
}

// seconds returns the length of a WAV file with a header of 44 bytes.
func seconds(b []byte) float64 {
	return float64(binary.LittleEndian.Uint32(b[40:])) / float64(binary.LittleEndian.Uint32(b[28:]))
}

// mp3Frames returns n frames of MP3: version 1, layer III, 128 kbit/s, 44.1 kHz. A frame has 1152 samples.
func mp3Frames(n int) []byte {
	frame := append([]byte{0xff, 0xfb, 0x90, 0x00}, make([]byte, 413)...)
	return bytes.Repeat(frame, n)
}

func TestShortRecordingsAreSentUnchanged(t *testing.T) {
	t.Parallel()

	tag := append([]byte("ID3\x03\x00\x00\x00\x00\x01\x00"), make([]byte, 128)...)
	for name, tc := range map[string]struct {
		b       []byte
		file    string // name of the only part
		seconds float64
	}{
		"wav":                   {wavTone(8000, 2, 3, nil), "audio.wav", 3},
		"mp3":                   {mp3Frames(100), "audio.mp3", 100 * 1152 / 44100.},
		"mp3 with ID3v2":        {append(tag, mp3Frames(50)...), "audio.mp3", 50 * 1152 / 44100.},
		"mp3 with ID3v1":        {append(mp3Frames(50), append([]byte("TAG"), make([]byte, 125)...)...), "audio.mp3", 50 * 1152 / 44100.},
		"wav of unknown length": {unknownLength(wavTone(8000, 1, 3, nil)), "audio.wav", 3},
	} {
		t.Run(name, func(t *testing.T) {
			// Without Convert, a recording that needs a conversion would fail.
			r, err := readRecording(t, audio.Options{}, tc.b, time.Minute)
			if err != nil {
				t.Fatal(err)
			}

			if len(r.Parts) != 1 || r.Parts[0].Name != tc.file || math.Abs(r.Duration-tc.seconds) > .001 ||
				!bytes.Equal(readAll(t, r.Parts[0]), tc.b) {
				t.Errorf("got %d parts of %g s, the first is %s; want one unchanged %s of %g s", len(r.Parts),
					r.Duration, r.Parts[0].Name, tc.file, tc.seconds)
			}
		})
	}
}

// unknownLength sets the length in the header of a WAV file to that of a writer that did not know it.
func unknownLength(b []byte) []byte {
	binary.LittleEndian.PutUint32(b[40:], math.MaxUint32)
	return b
}

func TestLongRecordingsAreCutAtSilences(t *testing.T) {
	t.Parallel()
	b := wavTone(8000, 2, 60, func(s float64) bool { return math.Mod(s, 4) > 3.2 })

	r, err := readRecording(t, audio.Options{}, b, 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var whole []byte
	at := 0.0

	for _, p := range r.Parts {
		got := readAll(t, p)

		whole = append(whole, got[44:]...)
		if p.Start != at || p.End-p.Start > 20 || int64(len(got)) != p.Size {
			t.Errorf("a part from %g to %g s has %d bytes; want up to 20 s from %g, %d bytes", p.Start, p.End,
				len(got), at, p.Size)
		}

		if at = p.End; at < 60 && math.Mod(at, 4) <= 3.2 {
			t.Errorf("cut at %g s during the tone, want a silence", at)
		}
	}

	if at != 60 || !bytes.Equal(whole, b[44:]) || len(r.Parts) < 3 || len(r.Parts) > 5 {
		t.Errorf("got %d parts up to %g s, %d bytes; want 3 to 5 parts up to 60 s, %d bytes", len(r.Parts), at,
			len(whole), len(b)-44)
	}
}

func TestWithoutFFmpegLongRecordingsAreRejected(t *testing.T) {
	t.Parallel()
	long := mp3Frames(3000)

	_, err := readRecording(t, audio.Options{}, long, 20*time.Second)

	e := fault.AsError(err)
	if e == nil || e.Code != fault.ContentTooLarge || e.Param != "file" ||
		!strings.Contains(e.Message, "without ffmpeg") {
		t.Errorf("a long MP3: got %v, want %s without ffmpeg", err, fault.ContentTooLarge)
	}
	// The length of a FLAC is only known after it was decoded.
	flac := append([]byte("fLaC"), make([]byte, 1000)...)

	r, err := readRecording(t, audio.Options{}, flac, 20*time.Second)
	if err != nil || r.Duration != 0 || r.Parts[0].Name != "audio.flac" {
		t.Errorf("a FLAC of unknown length: got %+v, %v; want audio.flac with duration 0", r, err)
	}
	hour := wavTone(1000*4, 1, 3700, nil)

	_, err = readRecording(t, audio.Options{MaxDuration: time.Hour}, hour, 10*time.Minute)
	if fault.CodeOf(err) != fault.ContentTooLarge {
		t.Errorf("more than an hour: got %v, want %s", err, fault.ContentTooLarge)
	}
}

func TestJoinShiftsTimesToTheRecording(t *testing.T) {
	t.Parallel()
	part := func(text string, end float64) inference.Transcript {
		return inference.Transcript{
			Language: "english",
			Duration: end,
			Text:     " " + text + "\n",
			Segments: []inference.Segment{{Seek: 100, Start: .5, End: end, Text: " " + text, Tokens: []int{1}}},
			Words:    []inference.Word{{Word: text, Start: .5, End: end}},
		}
	}
	got := audio.Join(
		[]audio.Piece{
			{0, 10, part("one", 9)},
			{10, 15, part("two", 30)},
			{15, 20, inference.Transcript{Text: "three", Untimed: true}},
		},
		true,
	)

	want := inference.Transcript{
		Language: "english", Duration: 20, Text: "one two three", Untimed: true,
		Segments: []inference.Segment{
			{Seek: 100, Start: .5, End: 9, Text: " one", Tokens: []int{1}},
			// The engine returned times after the end of the part. They end with it.
			{ID: 1, Seek: 1100, Start: 10.5, End: 15, Text: " two", Tokens: []int{1}},
			{ID: 2, Seek: 1500, Start: 15, End: 20, Text: "three", Tokens: []int{}},
		},
		Words: []inference.Word{{Word: "one", Start: .5, End: 9}, {Word: "two", Start: 10.5, End: 15}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}

	for want, texts := range map[string][2]string{
		"a b": {"a", "b"}, "你好世界。": {"你好", "世界。"}, "世界 b": {"世界", "b"}, "b": {"", "b"},
	} {
		t.Run(want, func(t *testing.T) {
			got := audio.Join(
				[]audio.Piece{
					{0, 1, inference.Transcript{Text: texts[0]}},
					{1, 2, inference.Transcript{Text: texts[1]}},
				},
				false,
			)
			if got.Text != want {
				t.Errorf("the joined text is %q, want %q", got.Text, want)
			}
		})
	}
}

func TestPromptEndsWithThePreviousText(t *testing.T) {
	t.Parallel()

	if got := audio.Prompt("Names: Ada.", " and so\n"); got != "Names: Ada. and so" {
		t.Errorf("the prompt is %q, want \"Names: Ada. and so\"", got)
	}

	got := audio.Prompt("", strings.Repeat("väterlich ", 200))
	if len(got) > 600 || !strings.HasPrefix(got, "väterlich väterlich") {
		t.Errorf("the prompt has %d bytes: %q; want up to 600, cut between words", len(got), got)
	}
}

func TestTranscriptFormatsGolden(t *testing.T) {
	t.Parallel()
	transcript := inference.Transcript{
		Language: "english", Duration: 3725.25, Text: " Hello <b>you</b> & all.\n\nBye.",
		Segments: []inference.Segment{
			{
				Start:            0,
				End:              2.5,
				Text:             " Hello <b>you</b> & all.",
				Tokens:           []int{1, 2},
				AvgLogprob:       -.2,
				CompressionRatio: 1.2,
				NoSpeechProb:     .01,
			},
			{ID: 1, Start: 3720.0004, End: 3725.25, Text: " Bye --> \n\nnow.", Tokens: []int{}},
			{ID: 2, Start: 3725.25, End: 3725.25, Text: " "},
		},
		Words: []inference.Word{{Word: "Hello", Start: 0, End: .5}},
	}
	var out bytes.Buffer

	for _, format := range audio.ResponseFormats() {
		b, err := audio.Render(transcript, audio.Form{
			Format:    format,
			Task:      inference.Transcribe,
			Segments:  true,
			Words:     true,
			Vendor:    "presswork",
			RequestID: "req_1",
		})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "-- %s: %s --\n%s\n", format, audio.ContentType(format), b)
	}

	b, err := audio.Render(
		inference.Transcript{},
		audio.Form{Format: audio.VerboseJSON, Task: inference.Translate, Segments: true, Words: true, Vendor: "v"},
	)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&out, "-- nothing said --\n%s\n", b)
	golden.Check(t, "formats.txt", out.Bytes())
}

func FuzzReadingARecording(f *testing.F) {
	f.Add(wavTone(8000, 1, .1, nil))
	f.Add(mp3Frames(3))
	f.Add([]byte("ID3\x03\x00\x10\x7f\x7f\x7f\x7ffLaC"))
	f.Add([]byte(
		"RIFF\x00\x00\x00\x00WAVEfmt \x12\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00\x00\x00data\x00\x00\x00\x00",
	))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := readRecording(t, audio.Options{}, b, 5*time.Second)
		if err != nil {
			if fault.CodeOf(err) == fault.Internal {
				t.Fatal(err)
			}

			return
		}

		at := 0.0
		for _, p := range r.Parts {
			if p.Start != at || p.End < p.Start || int64(len(readAll(t, p))) != p.Size {
				t.Errorf("part %+v, want a start at %g s and its size", p, at)
			}
			at = p.End
		}
	})
}
