package studio_test

import (
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
	p.See("#model").MustSelect(model)
	p.See("textarea[aria-label=Message]").MustInput(message).MustType(input.Enter)
	waitForAnswer(p, text)
}

// waitForAnswer waits until the last answer has ended and includes text.
func waitForAnswer(p *browsertest.Visit, text string) {
	p.Until("the answer "+text, `text => {
		const last = [...document.querySelectorAll(".said")].at(-1);
		return last?.querySelector(".below") && last.innerText.includes(text);
	}`, text)
}

// checkAnswerDetails visits an answer with a search, sources and a price.
func checkAnswerDetails(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	p.Click("Chat")
	say(p, "cited", "How does it print?", "druckt")
	p.Reads(".spent", "cited", "11 tokens in", "20 out", "cost 0.021")
	p.Reads(".sources", "Hand presses", "example.org", "Friskets", "example.com")

	const links = `() => [...document.querySelectorAll(".said .prose a.source")].map(a => a.innerText + " " + a.href).join(", ")`

	want := "1 https://www.example.org/press, 2 https://example.com/frisket, 1 https://www.example.org/press"
	if got := p.Eval(links); got != want {
		t.Errorf("the links are %s, want %s", got, want)
	}

	if text := p.Text(".said.assistant > .prose"); strings.Contains(text, "【") {
		t.Errorf("got %q, want no marks of the model", text)
	}
	p.Press(".tool summary")
	p.Reads(".tool", "Searched the web", "hand presses", "Friskets")
	say(p, "cited", "Again?", "druckt")
	p.Reads(".total", "2 answers", "62 tokens", "cost 0.042")
}

// checkEditedQuestion sends a question again after a change.
func checkEditedQuestion(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	p.Click("Chat")
	say(p, "echo", "First version", "First version")
	say(p, "echo", "Second question", "Second question")
	p.Press(".said.user .actions button")
	p.See("textarea[aria-label='Edit the message']").MustType(input.Escape)
	p.Until(
		"nothing has changed",
		`() => document.querySelectorAll(".said").length === 4 && !document.querySelector(".edit")`,
	)
	p.Press(".said.user .actions button")
	p.See("textarea[aria-label='Edit the message']").
		MustSelectAllText().
		MustInput("Better version").
		MustType(input.Enter)
	waitForAnswer(p, "Better version")
	p.Until("the later question is gone", `() => document.querySelectorAll(".said").length === 2 &&
		document.querySelector(".said.user").innerText === "Better version"`)
}

// checkConversations keeps two conversations, opens them again, and deletes one.
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
		t.Errorf("the model is %s, want that of the conversation", model)
	}

	// Another window writes to the same conversation. Both texts stay.
	other := v.Beside(p, c.Base+"/#chat")
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

// checkStoppedAnswer opens another conversation while an answer is written, and comes back.
func checkStoppedAnswer(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	p.Click("Chat")
	p.See("#model").MustSelect("hang-middle")
	p.See("textarea[aria-label=Message]").MustInput("It never ends").MustType(input.Enter)
	p.See(".said.assistant .prose p")
	p.Click("New conversation")
	p.Until("it is empty", `() => document.querySelector(".said") === null`)
	p.Click("It never ends")
	waitForAnswer(p, "Stopped")
}

var (
	programAddress = regexp.MustCompile(`'(http[^']+)'`)
	programBody    = regexp.MustCompile(`(?s)-d '(.*)'\s*$`)
)

// checkPrograms runs the requests that the studio shows for a conversation, one for each API.
func checkPrograms(t *testing.T, h *shared) {
	_, p, c := h.open(t)
	p.Click("Chat")
	p.Until("the models are there", `() => document.querySelector("#model")?.value === "reason-field"`)
	p.See("#model").MustSelect("reason-field")
	p.Click("Settings")
	p.See("#instructions").MustInput("Don't explain.")
	p.See("#longest").MustInput("500")
	p.See("#effort").MustSelect("low")
	p.Click("Close")
	say(p, "reason-field", "Name a fruit.", "An apple")
	p.Click("Copy as")

	for _, api := range []struct{ name, path, settings string }{
		{"Chat", "/v1/chat/completions", `"reasoning_effort": "low"|"max_completion_tokens": 500|"role": "system"`},
		{"Responses", "/v1/responses", `"effort": "low"|"max_output_tokens": 500|"instructions": "Don`},
		{"Messages", "/v1/messages", `"max_tokens": 500|"system": "Don`},
	} {
		p.Press(
			".apis button:nth-child(" + map[string]string{"Chat": "1", "Responses": "2", "Messages": "3"}[api.name] + ")",
		)
		program := p.Reads(".program", append(strings.Split(api.settings, "|"), api.path)...)

		address, body := programAddress.FindStringSubmatch(program), programBody.FindStringSubmatch(program)
		if address == nil || body == nil {
			t.Fatalf("no request in %s", program)
		}
		text := strings.ReplaceAll(body[1], `'\''`, "'")

		res, err := c.HTTP.Post(address[1], "application/json", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(res.Body)
		res.Body.Close()

		if res.StatusCode != http.StatusOK || !strings.Contains(string(answer), "apple") {
			t.Errorf("%s: status %d, %s", api.name, res.StatusCode, answer)
		}
	}
	p.Click("Python")
	p.Reads(".program", "requests.post", "/v1/messages")
}
