package responses

import (
	"encoding/json"
	"slices"
	"strconv"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
)

// itemKind describes the items of one kind and the events about their text.
type itemKind struct {
	// kind is the type of the items.
	kind string
	// event begins the names of the events about a text, and field is its name in the last of them.
	event, field string
	// part is the type of the part that holds the text; "" for a text that is in the item itself. partEvent begins
	// the names of the events about the part, and partIndex is the field with its position.
	part, partEvent, partIndex string
}

// The kinds of items whose text is streamed.
var (
	messageText = &itemKind{
		kind: "message", event: "response.output_text", field: "text",
		part: "output_text", partEvent: "response.content_part", partIndex: "content_index",
	}
	reasoningText = &itemKind{
		kind: "reasoning", event: "response.reasoning_text", field: "text",
		part: "reasoning_text", partEvent: "response.content_part", partIndex: "content_index",
	}
	reasoningSummary = &itemKind{
		kind: "reasoning", event: "response.reasoning_summary_text", field: "text",
		part: "summary_text", partEvent: "response.reasoning_summary_part", partIndex: "summary_index",
	}
	functionCall = &itemKind{
		kind: "function_call", event: "response.function_call_arguments", field: "arguments",
	}
	customCall = &itemKind{
		kind: "custom_tool_call", event: "response.custom_tool_call_input", field: customInput,
	}
)

// item is an item of the output.
type item struct {
	kind  *itemKind
	id    string
	index int
	// text is the text, the reasoning or the arguments so far.
	text []byte
	// piece is the start of the events about pieces of text; nil before the first.
	piece []byte
	// status is "" while the item is open.
	status string
	// from is the number of characters of earlier items of text.
	from int
	// annotations and logprobs are those of a text, JSON with commas between them.
	annotations, logprobs []json.RawMessage
	// callID and tool are those of a call.
	callID string
	tool   toolName
	// thought is reasoning that the upstream signed, nil for other items.
	thought *inference.Thought
	// sealed is the encrypted reasoning, "" for none.
	sealed string
	// whole is a call of a built-in tool, a JSON object.
	whole []byte
}

// markIncomplete marks an open item as incomplete, because its answer has failed.
func (it *item) markIncomplete() {
	if it.status == "" {
		it.status = "incomplete"
	}
}

// append appends the item as it is now.
func (it *item) append(dst []byte) []byte {
	if it.whole != nil {
		return append(dst, it.whole...)
	}
	status := it.status

	if status == "" {
		status = "in_progress"
	}
	dst = appendString(append(dst, `{"id":`...), it.id)
	dst = appendString(append(dst, `,"type":`...), it.kind.kind)
	dst = appendString(append(dst, `,"status":`...), status)

	switch it.kind {
	case messageText:
		dst = append(dst, `,"role":"assistant","content":`...)
		dst = it.appendParts(dst)
	case reasoningText:
		dst = append(dst, `,"summary":[],"content":`...)
		dst = it.appendParts(dst)
	case reasoningSummary:
		dst = append(dst, `,"summary":`...)
		dst = it.appendParts(dst)
	default:
		dst = it.appendCall(dst)
	}

	if it.sealed != "" {
		dst = appendString(append(dst, `,"encrypted_content":`...), it.sealed)
	}

	return append(dst, '}')
}

// appendCall appends the fields of a call. The input of an open custom call is not known yet.
func (it *item) appendCall(dst []byte) []byte {
	dst = appendString(append(dst, `,"call_id":`...), it.callID)
	dst = appendString(append(dst, `,"name":`...), it.tool.name)

	if it.tool.namespace != "" {
		dst = appendString(append(dst, `,"namespace":`...), it.tool.namespace)
	}
	dst = append(appendString(append(dst, ','), it.kind.field), ':')

	if it.kind == customCall && it.status == "" {
		return append(dst, `""`...)
	}

	return appendString(dst, it.value())
}

// value returns the text of the item as clients receive it.
func (it *item) value() string {
	if it.kind != customCall {
		return string(it.text)
	}
	var arguments map[string]string

	if json.Unmarshal(it.text, &arguments) != nil || len(arguments) != 1 {
		return string(it.text) // the model did not follow the schema
	}

	return arguments[customInput]
}

// appendParts appends the list of parts, which is empty until the item has a text.
func (it *item) appendParts(dst []byte) []byte {
	dst = append(dst, '[')
	if len(it.text) > 0 || it.status != "" {
		dst = it.appendPart(dst, string(it.text))
	}

	return append(dst, ']')
}

// appendPart appends a part with a text.
func (it *item) appendPart(dst []byte, text string) []byte {
	dst = appendString(append(dst, `{"type":`...), it.kind.part)
	dst = appendString(append(dst, `,"text":`...), text)

	if it.kind == messageText {
		dst = jsonbody.AppendList(append(dst, `,"annotations":`...), it.annotations)
		dst = jsonbody.AppendList(append(dst, `,"logprobs":`...), it.logprobs)
	}

	return append(dst, '}')
}

// appendPlace appends the fields of an event that name the item.
func (it *item) appendPlace(dst []byte) []byte {
	dst = appendString(append(dst, `,"item_id":`...), it.id)
	dst = strconv.AppendInt(append(dst, `,"output_index":`...), int64(it.index), 10)

	if it.kind.partIndex != "" {
		dst = appendString(append(dst, ','), it.kind.partIndex)
		dst = append(dst, `:0`...)
	}

	return dst
}

// annotation is a citation of a page.
type annotation struct {
	Type string `json:"type"`
	// Start and End are counted in characters of the item's text.
	Start int    `json:"start_index"`
	End   int    `json:"end_index"`
	URL   string `json:"url"`
	Title string `json:"title"`
}

// readExtra returns what the answer needs of the other fields of a chunk.
func readExtra(extra json.RawMessage) (refusal string, cited []annotation) {
	var fields struct {
		Refusal     string `json:"refusal"`
		Annotations []struct {
			Type     string     `json:"type"`
			Citation annotation `json:"url_citation"`
		} `json:"annotations"`
	}
	_ = json.Unmarshal(extra, &fields) // fields of unexpected types are left out

	for _, a := range fields.Annotations {
		if a.Type == "url_citation" {
			a.Citation.Type = a.Type
			cited = append(cited, a.Citation)
		}
	}

	return fields.Refusal, slices.Clip(cited)
}
