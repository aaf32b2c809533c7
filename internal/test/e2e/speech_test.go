package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
	"presswork/internal/test/wait"
)

func TestSpeechIsPassedThrough(t *testing.T) {
	t.Parallel()
	server, base := inferencetest.Start(t)
	_, c := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG": audioModels(t, base, "voice", "voice-cut", "voice-hang", "voice-fail-once",
			"voice-status:400", "voice-status:503", "ears"),
		"WORKER_QUEUES": "infer",
	})

	speechRequest := func(model, more string) []byte {
		return fmt.Appendf(nil, `{"model":%q,"input":"one two three","voice":"alloy"%s}`, model, more)
	}
	for _, model := range []string{"voice", "voice-fail-once"} {
		status, header, body := c.Do("POST", "/v1/audio/speech", "application/json",
			speechRequest(model, `,"response_format":"mp3","speed":1.5,"unknown":1`))
		if status != 200 || header.Get("Content-Type") != "audio/mpeg" || string(body) != "one two three" {
			t.Errorf("%s: status %d, headers %v, body %s; want 200, audio/mpeg and the three words", model,
				status, header, body)
		}
	}

	sent := string(server.Requests()[0].Raw)
	if sent != `{"model":"voice","input":"one two three","voice":"alloy","response_format":"mp3","speed":1.5}` {
		t.Errorf("the engine got %s, want the request without the unknown field", sent)
	}

	if status, _, body, err := c.Try("POST", "/v1/audio/speech", "application/json",
		speechRequest("voice-cut", "")); err == nil {
		t.Errorf("an answer that is cut off: status %d, %s and no error; want an error", status, body)
	}

	for body, want := range map[string]string{
		string(speechRequest("voice-status:400", "")):              `"code":"invalid_request"`,
		string(speechRequest("voice-status:503", "")):              `"code":"upstream_unavailable"`,
		string(speechRequest("chat", "")):                          `does not support speech`,
		string(speechRequest("absent", "")):                        `"code":"model_not_found"`,
		string(speechRequest("voice", `,"response_format":"mp4"`)): `"param":"response_format"`,
		string(speechRequest("voice", `,"speed":9`)):               `"param":"speed"`,
		string(speechRequest("voice", `,"stream_format":"sse"`)):   `"param":"stream_format"`,
		`{"model":"voice","voice":"alloy"}`:                        `"param":"input"`,
		`{"model":"voice","voice":"alloy","input":"a"`:             `"code":"invalid_json"`,
		`{"model":"voice","input":"a","voice":{"id":"x"}}`:         `"param":"voice"`,
	} {
		t.Run(body, func(t *testing.T) {
			status, header, answer := c.Do("POST", "/v1/audio/speech", "application/json", []byte(body))
			if status < 400 || !strings.Contains(string(answer), want) || header.Get("x-should-retry") == "" {
				t.Errorf("status %d, headers %v, %s; want an error with %s and x-should-retry", status, header,
					answer, want)
			}
		})
	}
	// A client that disconnects frees the engine.
	ctx, disconnect := context.WithCancel(t.Context())

	res, err := c.PostJSON(ctx, "/v1/audio/speech", speechRequest("voice-hang", ""))
	if err != nil {
		t.Fatal(err)
	}

	firstBytes := make([]byte, len("one two three"))
	if _, err := io.ReadFull(res.Body, firstBytes); err != nil || string(firstBytes) != "one two three" {
		t.Errorf("read %q, %v; want one two three", firstBytes, err)
	}
	disconnect()
	res.Body.Close()

	soon, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()

	if err := server.WaitDisconnected(soon, 1); err != nil {
		t.Errorf("the request to the engine is still open: %v", err)
	}
}

func TestTranscribeCommand(t *testing.T) {
	t.Parallel()
	server, base := inferencetest.Start(t)
	_, c := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG": audioModels(t, base, "ears", "ears-untimed", "ears-hang"), "WORKER_QUEUES": "audio",
		"API_KEY": "hush",
	})

	file := filepath.Join(t.TempDir(), "Meeting.wav")
	if err := os.WriteFile(file, sampleWAV(9), 0o600); err != nil {
		t.Fatal(err)
	}

	run := func(args ...string) (stdout, stderr string, err error) {
		cmd := exec.CommandContext(t.Context(), e2e.Binary(t),
			append([]string{"transcribe", "--server", c.Base + "/v1", file}, args...)...)
		cmd.Env = append(os.Environ(), "PRESSWORK_API_KEY=hush")
		var out, messages bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &messages
		err = cmd.Run()

		return out.String(), messages.String(), err
	}

	out, messages, err := run("--language", "en")
	if err != nil || !strings.HasPrefix(out, "one two three") || messages != "" {
		t.Errorf("stdout %q, stderr %q, %v; want the text alone", out, messages, err)
	}

	if f := server.Recordings()[0].Fields; f["language"][0] != "en" || f["model"][0] != "ears" {
		t.Errorf("fields %v, want language en and model ears", f)
	}

	srt := file + ".srt"

	out, messages, err = run("--format", "srt", "--model", "ears-untimed", "--translate", "-o", srt)
	if err != nil || out != "" || !strings.Contains(messages, "returns no times") {
		t.Errorf("stdout %q, stderr %q, %v; want a note that there are no times", out, messages, err)
	}

	if b, err := os.ReadFile(srt); err != nil || !strings.HasPrefix(string(b), "1\n00:00:00,000 --> ") {
		t.Errorf("file %s, %v; want subtitles", b, err)
	}

	for want, args := range map[string][]string{
		`did you mean "srt"`: {"--format", "str"},
		"does not support":   {"--model", "chat"},
		"does not exist":     {"--model", "absent"},
		"does not answer":    {"--server", "http://127.0.0.1:1"},
		"key is not valid":   {"--key", "wrong"},
		"write http://HOST":  {"--server", "localhost"},
	} {
		t.Run(want, func(t *testing.T) {
			if _, messages, err := run(args...); err == nil || !strings.Contains(messages, want) {
				t.Errorf("transcribe %v: stderr %q, %v; want an error with %q", args, messages, err, want)
			}
		})
	}
	// SIGINT cancels the job.
	before := len(server.Recordings())

	cmd := exec.CommandContext(t.Context(), e2e.Binary(t), "transcribe", "--server", c.Base, "--key", "hush",
		"--model", "ears-hang", file)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the engine receives the recording", func() bool { return len(server.Recordings()) > before })

	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}

	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("after SIGINT: %v, want exit status 130", err)
	}

	soon, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()

	if err := server.WaitDisconnected(soon, 1); err != nil {
		t.Errorf("the request to the engine is still open: %v", err)
	}
}
