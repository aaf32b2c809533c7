package studio_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/input"

	"presswork/internal/inference/inferencetest"
)

// writeModels writes a models.yaml with scenarios of the scripted server, and returns its path.
func writeModels(t *testing.T) string {
	t.Helper()
	_, base := inferencetest.Start(t)
	var b strings.Builder
	b.WriteString("models:\n")

	for _, m := range []struct{ id, more string }{
		{"reason-field", ", capabilities: [chat, tools, vision, reasoning], reasoning: {parser: field}"},
		{"reason-think", ", reasoning: {parser: think}"},
		{"echo", ""},
		{"executed", ""},
		{"hang-middle", ""},
		{"whole", ""},
		{"cited", ", price: {input_per_m: 100, output_per_m: 1000}"},
		{"ears", ", capabilities: [transcription]"},
		{"ears-broken", ", capabilities: [transcription]"},
	} {
		fmt.Fprintf(&b, "  - {id: %s, upstreams: [{base_url: %q, model: %s}]%s}\n", m.id, base, m.id, m.more)
	}

	return writeFile(t, "models.yaml", []byte(b.String()))
}

// writeFile writes a file in a new directory and returns its path.
func writeFile(t *testing.T, name string, data []byte) string {
	t.Helper()

	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}

	return path
}

// checkChat checks answers with reasoning and links, and an answer that is stopped.
func checkChat(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	p.Click("Chat")
	p.Until("the models are there", `() => document.querySelector("#model")?.options.length === 7`)
	p.See("textarea[aria-label=Message]").MustInput("Name a fruit.").MustType(input.Enter)
	waitForAnswer(p, inferencetest.Answer)

	if folded := p.Eval(`() => String(document.querySelector(".reasoning").open)`); folded != "false" {
		t.Errorf("open = %s, want false: the reasoning is folded", folded)
	}
	p.Press(".reasoning summary")
	p.Reads(".reasoning", inferencetest.Thought)
	p.Click("Copy as")
	p.Reads(".program", "/v1/chat/completions", "Name a fruit.")
	p.Click("Close")
	// A tool that no worker has is disabled. Its title has the reason, without the name of a setting.
	p.Until(
		"a tool is not offered",
		`() => [...document.querySelectorAll(".toggle")].some(e => e.innerText === "Web" && e.disabled &&
		e.title === "no search engine is configured")`,
	)
	// Reasoning between tags in the text is folded as well.
	selectModel(p, "reason-think")
	p.See("textarea[aria-label=Message]").MustInput("Again.").MustType(input.Enter)
	p.Until("its answer has no tags", `(text, thought) => {
		const last = [...document.querySelectorAll(".said.assistant")].at(-1);
		return last.querySelector(".below") && last.querySelector(".reasoning")?.textContent.includes(thought) &&
			last.querySelector(":scope > .prose").innerText.trim() === text;
	}`, inferencetest.Answer, inferencetest.Thought)
	selectModel(p, "echo")
	p.See("textarea[aria-label=Message]").MustInput("See docs/rest.md#errors now.").MustType(input.Enter)
	p.See(`.prose a[href="/docs/rest#errors"]`)
	// This answer never ends, so it is stopped and requested again from another model.
	selectModel(p, "hang-middle")
	p.See("textarea[aria-label=Message]").MustInput("And another?").MustType(input.Enter)
	p.Click("Stop")
	p.Until("it is stopped", `() => [...document.querySelectorAll(".below")].at(-1)?.innerText.includes("Stopped")`)
	selectModel(p, "whole")
	p.Click("Try again")
	p.Until("the other model answers",
		`() => [...document.querySelectorAll(".said")].at(-1).innerText.includes("Hello")`)
	p.Until("no question is lost", `() => document.querySelectorAll(".said.user").length === 4`)
}

// checkPageExport exports a page as a picture, and an address that the guard rejects.
func checkPageExport(t *testing.T, h *shared) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>Ours</title><h1>A page of ours</h1>")
	}))
	defer site.Close()
	_, p, _ := h.open(t)
	p.Click("Page export")
	p.See("#url").MustInput(site.URL)
	p.Click("PNG")
	p.Press(".export button[type=submit]")
	p.Until("the picture is shown", `() => document.querySelector(".picture img")?.naturalWidth === 1280`)
	p.Allow = []string{"403 (Forbidden)"}
	p.See("#url").MustSelectAllText().MustInput("http://169.254.169.254/latest")
	p.Press(".export button[type=submit]")
	p.Reads(".notice.error, .job[data-status=failed]", "169.254.169.254")
}

// checkTranscription transcribes a recording.
func checkTranscription(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	p.Click("Transcribe")
	p.Until("the model is there", `() => document.querySelector("#voice-model")?.value === "ears"`)
	p.Page.MustElement("#recording").MustSetFiles(writeFile(t, "memo.wav", sampleWAV()))
	p.Press(".side button[type=submit]:not(:disabled)")
	p.Until("the text is there", `() => document.querySelector(".transcript pre")?.innerText.startsWith("one two")`)
}

// sampleWAV returns a WAV file with two seconds of a tone, in 16 000 samples of two bytes a second.
func sampleWAV() []byte {
	const rate, seconds = 16000, 2
	var b bytes.Buffer

	samples := make([]int16, rate*seconds)
	for i := range samples {
		samples[i] = int16(i%80*200 - 8000)
	}
	size := uint32(len(samples) * 2)
	b.WriteString("RIFF")
	binary.Write(&b, binary.LittleEndian, 36+size)
	b.WriteString("WAVEfmt ")
	// Size, PCM and one channel, samples and bytes a second, bytes and bits of a sample.
	binary.Write(&b, binary.LittleEndian, []uint32{16, 1 | 1<<16, rate, rate * 2, 2 | 16<<16})
	b.WriteString("data")
	binary.Write(&b, binary.LittleEndian, size)
	binary.Write(&b, binary.LittleEndian, samples)

	return b.Bytes()
}

// checkNarrowScreen opens the studio and the documentation with a width of 320 pixels, which a window of 1280 has at a
// zoom of 400 %.
func checkNarrowScreen(t *testing.T, h *shared) {
	v := h.visitor.For(t)
	p := v.Open(h.client.Base+"/", 320, 640, false)
	p.See(".cm-content")

	for _, tab := range []string{"Convert", "Page export", "Chat", "Transcribe"} {
		p.Click(tab)

		if tab == "Chat" {
			p.Until("the models are listed", `() => document.querySelector("#model option") !== null`)
		}
		p.Until("nothing of "+tab+" is beyond the edge", `() => {
			const panel = document.querySelector("[role=tabpanel]:not([hidden])");
			return panel && panel.getBoundingClientRect().width > 0 && document.documentElement.scrollWidth <= 320 &&
				[...panel.querySelectorAll("button, select, textarea")].every(e => e.getBoundingClientRect().right <= 320);
		}`)
	}
	docs := v.Open(h.client.Base+"/docs", 320, 640, false)
	docs.Until("the header has its links in one row", `() => {
		const [, ...links] = [...document.querySelectorAll(".bar a")].map(e => e.getBoundingClientRect());
		return links.length > 0 && links.every(l => l.top === links[0].top && l.right <= 320);
	}`)
}
