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

func readFile(t *testing.T, path string) []byte {
	t.Helper()

	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	return b
}

func readAll(t *testing.T, p audio.Part) []byte {
	t.Helper()

	b, err := io.ReadAll(p.Open())
	if err != nil {
		t.Fatal(err)
	}

	return b
}

// plain reports whether a WAV file with a header of 44 bytes has 16 kHz, one channel and 16 bits.
func plain(b []byte) bool {
	return len(b) > 44 && string(b[36:40]) == "data" && binary.LittleEndian.Uint32(b[24:]) == 16000 && b[22] == 1 &&
		b[34] == 16
}

func seconds(b []byte) float64 {
	return float64(binary.LittleEndian.Uint32(b[40:])) / float64(binary.LittleEndian.Uint32(b[28:]))
}

// frames returns n frames of MP3: version 1, layer III, 128 kbit/s, 44.1 kHz.
func frames(n int) []byte {
	one := append([]byte{0xff, 0xfb, 0x90, 0x00}, make([]byte, 413)...)
	return bytes.Repeat(one, n)
}

func TestShortRecordingsAreSentUnchanged(t *testing.T) {
	t.Parallel()

	tag := append([]byte("ID3\x03\x00\x00\x00\x00\x01\x00"), make([]byte, 128)...)
	for name, tc := range map[string]struct {
		b       []byte
		file    string
		seconds float64
	}{
		"wav":              {wave(8000, 2, 3, nil), "audio.wav", 3},
		"mp3":              {frames(100), "audio.mp3", 100 * 1152 / 44100.},
		"mp3 with its tag": {append(tag, frames(50)...), "audio.mp3", 50 * 1152 / 44100.},
		"mp3 and an end":   {append(frames(50), append([]byte("TAG"), make([]byte, 125)...)...), "audio.mp3", 50 * 1152 / 44100.},
		"a wav unfinished": {unfinished(wave(8000, 1, 3, nil)), "audio.wav", 3},
	} {
		t.Run(name, func(t *testing.T) {
			// Without Convert, a recording that needs a conversion would fail.
			r, err := audio.NewReader(audio.Options{}).
				Read(t.Context(), bytes.NewReader(tc.b), int64(len(tc.b)), audio.Wanted{Part: time.Minute})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}

			if len(r.Parts) != 1 || r.Parts[0].Name != tc.file || math.Abs(r.Duration-tc.seconds) > .001 ||
				!bytes.Equal(readAll(t, r.Parts[0]), tc.b) {
				t.Errorf("%s: %g s in %d parts, %s", name, r.Duration, len(r.Parts), r.Parts[0].Name)
			}
		})
	}
}

// unfinished is a WAV file whose writer did not know the length.
func unfinished(b []byte) []byte {
	binary.LittleEndian.PutUint32(b[40:], math.MaxUint32)
	return b
}

func TestLongRecordingsAreCutAtSilences(t *testing.T) {
	t.Parallel()
	b := wave(8000, 2, 60, func(s float64) bool { return math.Mod(s, 4) > 3.2 })

	r, err := audio.NewReader(audio.Options{}).
		Read(t.Context(), bytes.NewReader(b), int64(len(b)), audio.Wanted{Part: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var whole []byte
	at := 0.0

	for _, p := range r.Parts {
		got := readAll(t, p)

		whole = append(whole, got[44:]...)
		if p.Start != at || p.End-p.Start > 20 || int64(len(got)) != p.Size {
			t.Errorf("from %g to %g, after %g", p.Start, p.End, at)
		}

		if at = p.End; at < 60 && math.Mod(at, 4) <= 3.2 {
			t.Errorf("cut at %g, during speech", at)
		}
	}

	if at != 60 || !bytes.Equal(whole, b[44:]) || len(r.Parts) < 3 || len(r.Parts) > 5 {
		t.Errorf("%d parts up to %g s, %d bytes of %d", len(r.Parts), at, len(whole), len(b)-44)
	}
}

func TestWithoutFFmpegLongRecordingsAreRejected(t *testing.T) {
	t.Parallel()
	long := frames(3000)

	_, err := audio.NewReader(audio.Options{}).
		Read(t.Context(), bytes.NewReader(long), int64(len(long)), audio.Wanted{Part: 20 * time.Second})

	e := fault.AsError(err)
	if e == nil || e.Code != fault.ContentTooLarge || e.Param != "file" ||
		!strings.Contains(e.Message, "without ffmpeg") {
		t.Errorf("a long MP3: %v", err)
	}
	flac := append([]byte("fLaC"), make([]byte, 1000)...)

	r, err := audio.NewReader(audio.Options{}).
		Read(t.Context(), bytes.NewReader(flac), int64(len(flac)), audio.Wanted{Part: 20 * time.Second})
	if err != nil || r.Duration != 0 || r.Parts[0].Name != "audio.flac" {
		t.Errorf("a FLAC of unknown length: %v %+v", err, r)
	}
	hour := wave(1000*4, 1, 3700, nil)

	_, err = audio.NewReader(audio.Options{MaxDuration: time.Hour}).
		Read(t.Context(), bytes.NewReader(hour), int64(len(hour)), audio.Wanted{Part: 10 * time.Minute})
	if fault.CodeOf(err) != fault.ContentTooLarge {
		t.Errorf("more than an hour: %v", err)
	}
}

func TestJoinedTimesAreThoseOfTheRecording(t *testing.T) {
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
			// An engine returned a word after the end.
			{ID: 1, Seek: 1100, Start: 10.5, End: 15, Text: " two", Tokens: []int{1}},
			{ID: 2, Seek: 1500, Start: 15, End: 20, Text: "three", Tokens: []int{}},
		},
		Words: []inference.Word{{Word: "one", Start: .5, End: 9}, {Word: "two", Start: 10.5, End: 15}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}

	for want, texts := range map[string][2]string{"a b": {"a", "b"}, "你好世界。": {"你好", "世界。"}, "世界 b": {"世界", "b"}, "b": {"", "b"}} {
		t.Run(want, func(t *testing.T) {
			got := audio.Join(
				[]audio.Piece{
					{0, 1, inference.Transcript{Text: texts[0]}},
					{1, 2, inference.Transcript{Text: texts[1]}},
				},
				false,
			)
			if got.Text != want {
				t.Errorf("%q, want %q", got.Text, want)
			}
		})
	}
}

func TestThePromptOfAPartEndsWithThePreviousText(t *testing.T) {
	t.Parallel()

	if got := audio.Prompt("Names: Ada.", " and so\n"); got != "Names: Ada. and so" {
		t.Errorf("%q", got)
	}

	got := audio.Prompt("", strings.Repeat("väterlich ", 200))
	if len(got) > 600 || !strings.HasPrefix(got, "väterlich väterlich") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

func TestATranscriptIsWrittenInEveryFormat(t *testing.T) {
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
		b, err := audio.Render(
			transcript,
			audio.Form{
				Format:    format,
				Task:      inference.Transcribe,
				Segments:  true,
				Words:     true,
				Vendor:    "presswork",
				RequestID: "req_1",
			},
		)
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
	f.Add(wave(8000, 1, .1, nil))
	f.Add(frames(3))
	f.Add([]byte("ID3\x03\x00\x10\x7f\x7f\x7f\x7ffLaC"))
	f.Add(
		[]byte(
			"RIFF\x00\x00\x00\x00WAVEfmt \x12\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00\x00\x00data\x00\x00\x00\x00",
		),
	)
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := audio.NewReader(audio.Options{}).
			Read(t.Context(), bytes.NewReader(b), int64(len(b)), audio.Wanted{Part: 5 * time.Second})
		if err != nil {
			if fault.CodeOf(err) == fault.Internal {
				t.Fatal(err)
			}

			return
		}

		at := 0.0
		for _, p := range r.Parts {
			if p.Start != at || p.End < p.Start || int64(len(readAll(t, p))) != p.Size {
				t.Errorf("part %+v after %g", p, at)
			}
			at = p.End
		}
	})
}
