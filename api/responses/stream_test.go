package responses_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/golden"
)

const weather = `"tools":[{"type":"function","name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}]`

// requests are requests whose answers are the golden files. %s has the model and the input.
var requests = map[string]struct{ scenario, input, fields string }{
	"text":              {scenario: "hello"},
	"length":            {scenario: "length"},
	"reasoning":         {scenario: "reason-field", fields: `"include":["reasoning.encrypted_content"]`},
	"reasoning-summary": {scenario: "reason-field", fields: `"reasoning":{"effort":"low","summary":"auto"}`},
	"calls":             {scenario: "tool-parallel", fields: weather},
	"thought-and-call": {
		scenario: "tools-plan",
		input:    inferencetest.Plan(`think Which city? | say Let me see. | weather {"city":"Oslo"}`),
		fields:   weather,
	},
	"custom-call": {
		scenario: "tools-plan",
		input:    inferencetest.Plan(`apply_patch {"input":"*** Begin\n\"a\""}`),
		fields:   `"tools":[{"type":"custom","name":"apply_patch","format":{"type":"grammar","syntax":"lark","definition":"start: x"}}]`,
	},
	"namespace-call": {
		scenario: "tools-plan",
		input:    inferencetest.Plan(`agents__wait {"ms":1} | shell__run {"input":"ls"}`),
		fields: `"tools":[{"type":"namespace","name":"agents","description":"Agents.","tools":[{"type":"function","name":"wait"}]},` +
			`{"type":"namespace","name":"shell","tools":[{"type":"custom","name":"run"}]}]`,
	},
	"cut": {scenario: "cut"},
}

func TestStreamsAndWholeAnswersMatchTheirGoldens(t *testing.T) {
	t.Parallel()
	base := start(t)

	for name, tc := range requests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			input, _ := json.Marshal(tc.input + "Hi"[:max(0, 2-len(tc.input))])

			fields := tc.fields
			if fields != "" {
				fields = "," + fields
			}
			a := ask(t, base, nil, fmt.Sprintf(`{"model":%q,"input":%s%s}`, tc.scenario, input, fields))
			out := a.events()
			checkEvents(t, out)

			if a.err == nil {
				out += a.whole() + "\n"
			}
			golden.Check(t, name+".golden", []byte(readable(out)))
		})
	}
}

// checkEvents checks what clients check of every stream.
func checkEvents(t *testing.T, stream string) {
	t.Helper()
	open := map[float64]string{} // the id of each item by its index, "" when it is done

	for n, event := range strings.Split(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		name, data, ok := strings.Cut(event, "\ndata: ")

		var fields map[string]any
		if err := json.Unmarshal([]byte(data), &fields); !ok || err != nil {
			t.Fatalf("event %d: %v: %s", n, err, event)
		}

		if fields["sequence_number"] != float64(n) || name != "event: "+fields["type"].(string) {
			t.Errorf("event %d: %s", n, event)
		}

		item, _ := fields["item"].(map[string]any)
		index, _ := fields["output_index"].(float64)

		switch fields["type"] {
		case "response.output_item.added":
			if int(index) != len(open) {
				t.Errorf("the item %v has the index %v", item["id"], index)
			}
			open[index] = item["id"].(string)
		case "response.output_item.done":
			if open[index] != item["id"] {
				t.Errorf("%s ends an item that is not open", data)
			}
			open[index] = ""
		default:
			if id, ok := fields["item_id"]; ok && open[index] != id {
				t.Errorf("%s is about an item that is not open", data)
			}
		}
	}
}
