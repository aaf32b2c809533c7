//go:build compat

package compat

import (
	"fmt"
	"testing"

	"github.com/go-rod/rod/lib/input"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/browsertest"
	"presswork/internal/test/e2e"
)

// TestConversationIsAccessible checks a conversation, its list and its dialogs with axe.
func TestConversationIsAccessible(t *testing.T) {
	axe := readAxe(t)
	_, base := inferencetest.Start(t)
	models := writeFile(t, "models.yaml", fmt.Sprintf("models: [{id: cited, capabilities: [chat, tools, reasoning], "+
		"price: {input_per_m: 1, output_per_m: 2}, upstreams: [{base_url: %q}]}]", base))
	_, c := e2e.Serve(t, map[string]string{"INFERENCE_CONFIG": models})
	v := browsertest.NewVisitor(t)

	for _, size := range sizes {
		for _, dark := range []bool{false, true} {
			p := v.Open(c.Base+"/#chat", size[0], size[1], dark)
			check := func(part string) { t.Helper(); checkAccessibility(t, p, axe, part, size, dark) }
			p.Until("the model is there", `() => document.querySelector("#model")?.value === "cited"`)
			p.See("textarea[aria-label=Message]").MustInput("Why?").MustType(input.Enter)
			p.See(".sources")
			p.Press(".tool summary")
			check("an answer")
			p.Press(".said.user .actions button")
			check("an edited question")

			if size[0] < 900 {
				p.Click("Conversations")
				check("conversations")
				p.Click("Close")
			}
			p.Click("Settings")
			check("settings of a conversation")
			p.Click("Close")
			p.Click("Copy as")
			check("programs of a conversation")
		}
	}
}
