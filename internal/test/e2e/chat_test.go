package e2e_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"presswork/internal/client"
	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
	"presswork/internal/test/wait"
)

// TestChatIsTheSameInEveryWireFormat uses the client of `presswork chat`.
func TestChatIsTheSameInEveryWireFormat(t *testing.T) {
	t.Parallel()
	models, base := inferencetest.Start(t)
	_, c := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG": chatModels(t, base, "tools-plan", "reason-field", "echo", "cut"),
		"WORKER_QUEUES":    "infer,tools",
	})
	awaitTools(t, c)

	server, err := client.New(c.Base, "")
	if err != nil {
		t.Fatal(err)
	}

	for _, api := range client.ChatAPIs() {
		t.Run(api, func(t *testing.T) {
			var out, aside strings.Builder
			open := func(model string, tools ...string) *client.Chat {
				out.Reset()
				aside.Reset()

				chat, err := server.Chat(t.Context(), client.ChatOptions{
					API:       api,
					Model:     model,
					System:    "Be brief.",
					Reasoning: true,
					Tools:     tools,
					Out:       &out,
					Aside:     &aside,
				})
				if err != nil {
					t.Fatal(err)
				}

				return chat
			}
			ask := func(chat *client.Chat, prompt, wantOut, wantAside string) {
				t.Helper()

				err := chat.Ask(t.Context(), prompt)
				if err != nil || out.String() != wantOut || aside.String() != wantAside {
					t.Errorf("answer %q, aside %q, error %v; want %q and %q", &out, &aside, err, wantOut, wantAside)
				}
			}
			ask(open("reason-field"), "Hi", inferencetest.Answer+"\n", inferencetest.Thought)
			ask(open("tools-plan", "code"), inferencetest.Plan(`python {"code":"print(6*7)"}`, "say It is 42."),
				"It is 42.\n", "\n[python] print(6*7)\n42\n")

			talk := open("echo")
			ask(talk, "one two", "one two\n", "")
			ask(talk, "three", "one two\nthree\n", "")

			requests := models.Requests()

			roles := ""
			for _, m := range requests[len(requests)-1].Body.Messages {
				roles += fmt.Sprintf("%s: %v\n", m.Role, m.Content)
			}

			if want := "system: Be brief.\nuser: one two\nassistant: one two\nuser: three\n"; roles != want {
				t.Errorf("the model got %q, want %q", roles, want)
			}

			err := open("cut").Ask(t.Context(), "Hi")
			if err == nil || !strings.Contains(err.Error(), "the model's server") || out.String() != "Hello, \n" {
				t.Errorf("a stream that broke off: answer %q, error %v; want Hello and an error of the model's server",
					&out, err)
			}
		})
	}

	wait.Until(t, "the ledger has the streams that broke off", func() bool {
		_, _, usage := c.Do("GET", "/v1/usage?group_by=model", "", nil)

		var ledger struct {
			Data []struct {
				Model    string
				Requests int
			}
		}
		_ = json.Unmarshal(usage, &ledger) // an unexpected form has no rows

		for _, row := range ledger.Data {
			if row.Model == "cut" {
				return row.Requests == len(client.ChatAPIs())
			}
		}

		return false
	})
}
