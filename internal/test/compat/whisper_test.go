//go:build compat

package compat_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presswork/internal/test/e2e"
)

// transcript has the fields of verbose_json that the tests read.
type transcript struct {
	Text     string
	Duration float64
	Words    []struct {
		Word       string
		Start, End float64
	}
}

// transcribe sends the audio file clip and returns its transcript.
func transcribe(t *testing.T, base, clip string) (out transcript) {
	t.Helper()

	audio, err := os.ReadFile(clip)
	if err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)

	file, err := form.CreateFormFile("file", filepath.Base(clip))
	if err == nil {
		_, err = file.Write(audio)
	}

	for _, field := range [][2]string{
		{"model", "whisper"},
		{"response_format", "verbose_json"},
		{"timestamp_granularities[]", "word"},
		{"temperature", "0"},
	} {
		if err == nil {
			err = form.WriteField(field[0], field[1])
		}
	}

	if err == nil {
		err = form.Close()
	}

	if err != nil {
		t.Fatal(err)
	}

	res, err := http.Post(base+"/v1/audio/transcriptions", form.FormDataContentType(), &body)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()

	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("status %d, %.500s (%v); want 200", res.StatusCode, b, err)
	}

	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}

	return out
}

// normalize returns a word in lower case without punctuation.
func normalize(word string) string {
	return strings.ToLower(strings.Trim(word, " .,;:!?'\"-"))
}

// TestWhisperServerTranscriptsAreUnchanged compares a transcript by Presswork with that of whisper.cpp itself.
func TestWhisperServerTranscriptsAreUnchanged(t *testing.T) {
	dir := enginesDir(t)
	direct := startEngine(t, filepath.Join(dir, "whisper-server"), filepath.Join(dir, "models", "whisper-tiny.en"))
	_, client := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG": writeCatalogue(t,
			"{id: whisper, capabilities: [transcription], upstreams: [{base_url: %q}]}", direct+"/v1"),
		"WORKER_QUEUES": "infer,text,audio",
	})
	clip := filepath.Join(dir, "clips", "beckett.wav")

	theirs, ours := transcribe(t, direct, clip), transcribe(t, client.Base, clip)
	if len(theirs.Words) < 10 || len(ours.Words) != len(theirs.Words) || math.Abs(ours.Duration-theirs.Duration) > 0.2 {
		t.Fatalf("got %+v, want about %+v as from the engine", ours, theirs)
	}

	for i, w := range theirs.Words {
		o := ours.Words[i]
		if normalize(o.Word) != normalize(w.Word) || math.Abs(o.Start-w.Start) > 0.2 || math.Abs(o.End-w.End) > 0.2 {
			t.Errorf("word %d is %+v, want about %+v as from the engine", i, o, w)
		}
	}

	for _, want := range []string{"try again", "fail again", "fail better"} {
		if !strings.Contains(strings.ToLower(ours.Text), want) {
			t.Errorf("text %q, want %q in it", ours.Text, want)
		}
	}
}
