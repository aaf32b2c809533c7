package studio_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/input"

	"presswork/internal/test/browsertest"
)

// say sends a message to a model and waits for the end of its answer, which includes text.
func say(p *browsertest.Visit, model, message, text string) {
	selectModel(p, model)
	p.See("textarea[aria-label=Message]").MustInput(message).MustType(input.Enter)
	waitForAnswer(p, text)
}

// selectModel waits until the page lists a model, and selects it.
func selectModel(p *browsertest.Visit, model string) {
	p.Until("the model "+model+" is listed",
		`id => [...document.querySelectorAll("#model option")].some(o => o.value === id)`, model)
	p.See("#model").MustSelect(model)
}

// waitForAnswer waits until the last answer has ended and includes text.
func waitForAnswer(p *browsertest.Visit, text string) {
	p.Until("the answer "+text, `text => {
		const last = [...document.querySelectorAll(".said")].at(-1);
		return last?.querySelector(".below") && last.innerText.includes(text);
	}`, text)
}

// checkAnswerDetails checks the search, the sources and the price of an answer.
func checkAnswerDetails(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	p.Click("Chat")
	say(p, "cited", "How does it print?", "druckt")
	p.Reads(".spent", "cited", "11 tokens in", "20 out", "cost 0.021")
	p.Reads(".sources", "Hand presses", "example.org", "Friskets", "example.com")

	const links = `() => [...document.querySelectorAll(".said .prose a.source")]
		.map(a => a.innerText + " " + a.href).join(", ")`

	want := "1 https://www.example.org/press, 2 https://example.com/frisket, 1 https://www.example.org/press"
	if got := p.Eval(links); got != want {
		t.Errorf("the links are %s, want %s", got, want)
	}

	if text := p.Text(".said.assistant > .prose"); strings.Contains(text, "【") {
		t.Errorf("answer %q, want it without the citation marks of the model", text)
	}
	p.Press(".tool summary")
	p.Reads(".tool", "Searched the web", "hand presses", "Friskets")
	say(p, "cited", "Again?", "druckt")
	p.Reads(".total", "2 answers", "62 tokens", "cost 0.042")
}

// checkEditedQuestion changes the first of two questions, which removes the second.
func checkEditedQuestion(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	p.Click("Chat")
	say(p, "echo", "First version", "First version")
	say(p, "echo", "Second question", "Second question")
	p.Press(".said.user .actions button")
	p.See("textarea[aria-label='Edit the message']").MustType(input.Escape)
	p.Until("nothing has changed",
		`() => document.querySelectorAll(".said").length === 4 && !document.querySelector(".edit")`)
	p.Press(".said.user .actions button")
	p.See("textarea[aria-label='Edit the message']").
		MustSelectAllText().
		MustInput("Better version").
		MustType(input.Enter)
	waitForAnswer(p, "Better version")
	p.Until("the later question is gone", `() => document.querySelectorAll(".said").length === 2 &&
		document.querySelector(".said.user").innerText === "Better version"`)
}

// checkConversations opens one of two conversations again, continues it in two windows, and deletes the other.
func checkConversations(t *testing.T, h *shared) {
	v, p, c := h.open(t)
	p.Click("Chat")
	say(p, "echo", "The first conversation", "The first conversation")
	p.Click("New conversation")
	p.Until("it is empty", `() => document.querySelector(".said") === null`)
	say(p, "whole", "The second conversation", "Hello")
	p.Until("both are listed", `() => [...document.querySelectorAll(".chat-list span")].map(e => e.innerText).join() ===
		"The second conversation,The first conversation"`)
	p.Page.MustReload().MustWaitLoad()
	waitForAnswer(p, "Hello")
	p.Click("The first conversation")
	waitForAnswer(p, "The first conversation")

	if model := p.Eval(`() => document.querySelector("#model").value`); model != "echo" {
		t.Errorf("the model is %s, want echo of the conversation", model)
	}

	// Another window writes to the same conversation. Both texts stay.
	other := v.OpenAlso(p, c.Base+"/#chat")
	other.Click("The first conversation")
	waitForAnswer(other, "The first conversation")
	say(other, "echo", "From there", "From there")
	say(p, "echo", "From here", "From here")
	p.Until("a copy is kept", `() => document.querySelectorAll(".chat-list li").length === 3`)
	p.Click("Delete The second conversation")
	p.Until("it is gone", `() => document.querySelectorAll(".chat-list li").length === 2`)
	p.Click("Undo")
	p.Until("it is back", `() => document.querySelectorAll(".chat-list li").length === 3`)
	p.Click("The second conversation")
	waitForAnswer(p, "Hello")
}

// checkStoppedAnswer opens another conversation while the model writes an answer. The answer is stopped.
func checkStoppedAnswer(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	p.Click("Chat")
	selectModel(p, "hang-middle")
	p.See("textarea[aria-label=Message]").MustInput("It never ends").MustType(input.Enter)
	p.See(".said.assistant .prose p")
	p.Click("New conversation")
	p.Until("it is empty", `() => document.querySelector(".said") === null`)
	p.Click("It never ends")
	waitForAnswer(p, "Stopped")
}

// These match the address and the body of the request in a program for curl.
var (
	programAddress = regexp.MustCompile(`'(http[^']+)'`)
	programBody    = regexp.MustCompile(`(?s)-d '(.*)'\s*$`)
)

// checkPrograms runs the requests that the studio shows for a conversation, one for each API.
func checkPrograms(t *testing.T, h *shared) {
	_, p, c := h.open(t)
	p.Click("Chat")
	selectModel(p, "reason-field")
	p.Click("Settings")
	p.See("#instructions").MustInput("Don't explain.")
	p.See("#longest").MustInput("500")
	p.See("#effort").MustSelect("low")
	p.Click("Close")
	say(p, "reason-field", "Name a fruit.", "An apple")
	p.Click("Copy as")

	// settings are the parts of the program, divided by "|".
	for i, api := range []struct{ name, path, settings string }{
		{"Chat", "/v1/chat/completions", `"reasoning_effort": "low"|"max_completion_tokens": 500|"role": "system"`},
		{"Responses", "/v1/responses", `"effort": "low"|"max_output_tokens": 500|"instructions": "Don`},
		{"Messages", "/v1/messages", `"max_tokens": 500|"system": "Don`},
	} {
		p.Press(fmt.Sprintf(".apis button:nth-child(%d)", i+1))
		program := p.Reads(".program", append(strings.Split(api.settings, "|"), api.path)...)

		address, body := programAddress.FindStringSubmatch(program), programBody.FindStringSubmatch(program)
		if address == nil || body == nil {
			t.Fatalf("program %s, want an address and a body in it", program)
		}
		text := strings.ReplaceAll(body[1], `'\''`, "'")

		res, err := c.HTTP.Post(address[1], "application/json", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(res.Body)
		res.Body.Close()

		if res.StatusCode != http.StatusOK || !strings.Contains(string(answer), "apple") {
			t.Errorf("%s: status %d, %s; want 200 and an apple", api.name, res.StatusCode, answer)
		}
	}
	p.Click("Python")
	p.Reads(".program", "requests.post", "/v1/messages")
}
