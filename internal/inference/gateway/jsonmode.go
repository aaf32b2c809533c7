package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"presswork/internal/inference"
	"presswork/internal/inference/schema"
	"presswork/internal/input"
)

// concludeJSON checks the answer n against the JSON format of its request r. If the content was held back, the model
// may correct it once, and then it is emitted as one chunk.
func (c *completion) concludeJSON(ctx context.Context, r *inference.Request, n *normaliser) error {
	text, err := c.checkJSON(string(n.text))
	// An answer that was emitted, was cut off, or has siblings cannot be replaced by another one.
	if err != nil && n.holdContent && n.finish == "stop" && r.Choices() == 1 {
		retry := *r
		retry.Format, retry.ToolChoice = c.request.Format, inference.ToolChoice{Mode: inference.ChooseNone}
		request := fmt.Sprintf("That is not the JSON that was asked for: %s. "+
			"Answer again with the corrected JSON and nothing else.", input.Cut(err.Error(), 300))
		retry.Messages = append(
			slices.Clone(r.Messages),
			textMessage(inference.Assistant, input.Cut(string(n.text), 64<<10)),
			textMessage(inference.User, request),
		)

		corrected, retryErr := c.requestAnswers(ctx, &retry)
		if retryErr != nil {
			return retryErr
		}
		*n = *corrected[0]
		text, err = c.checkJSON(string(n.text))
	}

	if err != nil {
		const failedPrefix = "Failed to validate JSON. Please adjust your prompt. See 'failed_generation' for more details. "

		reason := "The answer is wrong: " + err.Error()
		if n.finish == "length" {
			reason = "The answer reached the token limit before the document was complete."
		}

		return failedf(inference.JSONValidateFailed, string(n.text), "%s%s", failedPrefix, input.Cut(reason, 400))
	}

	if !n.holdContent {
		return nil
	}

	return n.emit(&inference.Chunk{Content: text})
}

// checkJSON returns the JSON in an answer. If the answer has no JSON that satisfies the format, it returns an error,
// whose text the model can understand.
func (c *completion) checkJSON(text string) (string, error) {
	text, ok := findJSON(text)
	if !ok {
		return text, errors.New("it is not valid JSON")
	}

	if c.request.Format.Type == inference.JSONObject {
		if !strings.HasPrefix(text, "{") {
			return text, errors.New("it is not a JSON object")
		}

		return text, nil
	}

	if len(c.request.Format.Schema) == 0 {
		return text, nil
	}

	s, err := schema.Compile(c.request.Format.Schema)
	if err != nil {
		return text, err
	}

	return text, s.Validate(text)
}

// findJSON returns the JSON in a text, or false if there is none. Models write code fences around it, or a sentence
// before or after it.
func findJSON(text string) (string, bool) {
	text = strings.TrimSpace(text)
	if json.Valid([]byte(text)) {
		return text, true
	}

	from := strings.IndexAny(text, "{[")
	if from < 0 {
		return text, false
	}

	closing := "}"
	if text[from] == '[' {
		closing = "]"
	}

	to := strings.LastIndex(text, closing)
	if to < from || !json.Valid([]byte(text[from:to+1])) {
		return text, false
	}

	return text[from : to+1], true
}
