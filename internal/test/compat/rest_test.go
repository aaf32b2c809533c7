//go:build compat

package compat

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
)

// program is a code block of docs/rest.md. task is the number of its section.
type program struct{ task, language, text string }

// codeBlock matches the headings of tasks and languages, and code blocks.
var codeBlock = regexp.MustCompile("(?m)^## (\\d)\\.|^### (\\S+)$|^```\\w+\n((?s:.*?))^```$")

// programs returns the code blocks of docs/rest.md.
func programs(t *testing.T) (list []program) {
	t.Helper()

	page, err := os.ReadFile("../../../docs/rest.md")
	if err != nil {
		t.Fatal(err)
	}
	var p program

	for _, m := range codeBlock.FindAllStringSubmatch(string(page), -1) {
		switch {
		case m[1] != "":
			p.task = m[1]
		case m[2] != "":
			p.language = m[2]
		default:
			p.text = m[3]
			list = append(list, p)
		}
	}

	if len(list) != 25 {
		t.Fatalf("docs/rest.md has %d programs, want 25", len(list))
	}

	return list
}

// runners has a function for each language. It returns the file for a program in dir and the command that runs it.
var runners = map[string]func(tools, dir string) (file string, command []string){
	"curl":   func(_, dir string) (string, []string) { return dir + "/run.sh", []string{"bash", "-eu", "run.sh"} },
	"Python": func(_, dir string) (string, []string) { return dir + "/run.py", []string{"python3", "run.py"} },
	"JavaScript": func(tools, dir string) (string, []string) {
		return dir + "/run.mjs", []string{tools + "/nodejs", "run.mjs"}
	},
	"Go": func(_, dir string) (string, []string) { return dir + "/main.go", []string{"go", "run", "main.go"} },
}

// TestProgramsOfTheRESTPage runs the programs of docs/rest.md, except the receivers of webhooks.
func TestProgramsOfTheRESTPage(t *testing.T) {
	t.Parallel()

	tools := os.Getenv("PRESSWORK_COMPAT")
	if tools == "" {
		t.Fatal("PRESSWORK_COMPAT is not set; `make compat` runs this test")
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "<h1>A page</h1>")
	}))
	t.Cleanup(site.Close)
	_, model := inferencetest.Start(t)
	config := writeFile(t, "models.yaml", fmt.Sprintf(`models:
  - {id: llama-3.1-8b, upstreams: [{base_url: %[1]q, model: hello}]}
  - {id: whisper-large-v3-turbo, capabilities: [transcription], upstreams: [{base_url: %[1]q, model: ears}]}
`, model))
	_, c := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG": config, "API_KEY": apiKey, "EXPORT_ALLOW_PRIVATE": strings.TrimPrefix(site.URL, "http://"),
	})

	// results has the file that the programs of a task write, and a part of their output.
	results := map[string]struct{ pdf, output string }{
		"1": {pdf: "report.pdf"},
		"2": {"report.pdf", "done"},
		"3": {pdf: "page.pdf"},
		"4": {output: "Hello"},
		"5": {output: "one two three"},
		"6": {pdf: "book.pdf"},
	}

	for _, p := range programs(t) {
		if p.task == webhookTask {
			continue // see TestDocumentedReceiversCheckSignatures
		}
		t.Run(p.task+" "+p.language, func(t *testing.T) {
			t.Parallel()

			dir := t.TempDir()
			for name, data := range map[string][]byte{
				"report.md":   []byte("# Report\n\n![logo](logo.png)\n"),
				"usage.md":    []byte("# Usage\n\n![logo](logo.png)\n"),
				"logo.png":    samplePNG(t),
				"book.zip":    sampleZip(t),
				"meeting.wav": sampleWAV(3),
			} {
				if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}

			if err := os.Symlink(tools+"/node/node_modules", dir+"/node_modules"); err != nil {
				t.Fatal(err)
			}
			file, command := runners[p.language](tools, dir)

			text := strings.NewReplacer("http://127.0.0.1:8000", c.Base, "https://example.com/", site.URL+"/").
				Replace(p.text)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "PRESSWORK_API_KEY="+apiKey, "PYTHONPATH="+tools+"/python")

			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}

			want := results[p.task]
			if !bytes.Contains(out, []byte(want.output)) {
				t.Errorf("output %q, want %q in it", out, want.output)
			}

			if want.pdf == "" {
				return
			}

			data, err := os.ReadFile(filepath.Join(dir, want.pdf))
			if err != nil || !bytes.HasPrefix(data, []byte("%PDF-")) {
				t.Errorf("%s has %.40q (%v), want a PDF", want.pdf, data, err)
			}
		})
	}
}

// sampleZip returns a zip file of a folder with two documents.
func sampleZip(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer

	w := zip.NewWriter(&b)
	for _, name := range []string{"README.md", "usage.md"} {
		out, err := w.Create("book/" + name)
		if err != nil {
			t.Fatal(err)
		}

		if _, err := io.WriteString(out, "# "+name+"\n"); err != nil {
			t.Fatal(err)
		}
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	return b.Bytes()
}

// samplePNG returns a black picture of 8 by 8 pixels.
func samplePNG(t *testing.T) []byte {
	t.Helper()

	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}

	return b.Bytes()
}

// sampleWAV returns a WAV file of noise, with 8 000 samples of two bytes a second.
func sampleWAV(seconds int) []byte {
	const rate = 8000

	samples := make([]byte, seconds*rate*2)
	for i := range samples {
		samples[i] = byte(i * 37)
	}
	var b bytes.Buffer
	b.WriteString("RIFF")
	binary.Write(&b, binary.LittleEndian, uint32(36+len(samples)))
	b.WriteString("WAVEfmt ")
	binary.Write(&b, binary.LittleEndian, struct {
		Size             uint32
		Format, Channels uint16
		Rate, Bytes      uint32
		Align, Bits      uint16
	}{16, 1, 1, rate, rate * 2, 2, 16})
	b.WriteString("data")
	binary.Write(&b, binary.LittleEndian, uint32(len(samples)))
	b.Write(samples)

	return b.Bytes()
}
