package mcp

import (
	_ "embed"
	"encoding/json"
	"maps"

	"presswork"
)

// optionsJSON is the schema Options of api/openapi.yaml in JSON. PRESSWORK_UPDATE=1 go test ./internal/mcp writes it.
//
//go:embed options.json
var optionsJSON []byte

// fields are the properties of a JSON Schema object.
type fields map[string]any

// object returns the schema of an object that allows no other fields.
func object(properties fields, required ...string) map[string]any {
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}

	return schema
}

// stringField returns the schema of a string.
func stringField(description string) map[string]any {
	return map[string]any{"type": "string", "description": description}
}

// boolField returns the schema of a boolean whose default is false.
func boolField(description string) map[string]any {
	return map[string]any{"type": "boolean", "description": description, "default": false}
}

// intField returns the schema of an integer from least to most.
func intField(description string, least, most, standard int) map[string]any {
	return map[string]any{
		"type": "integer", "description": description, "minimum": least, "maximum": most, "default": standard,
	}
}

// fullOptions returns the schema of options. Only one tool has it, because clients send all schemas to the model.
func fullOptions() any { return json.RawMessage(optionsJSON) }

// shortOptions returns the schema of options for the other tools: it only refers to that of convert_markdown.
func shortOptions() any {
	return map[string]any{"type": "object", "description": "the same options as those of convert_markdown"}
}

// textFields adds the fields that name a text: markdown and, on a server that reads files, path.
func (s *Server) textFields(all fields) fields {
	all["markdown"] = stringField("text of the document")

	if s.o.Files {
		all["path"] = stringField("Markdown file to read instead of markdown, in an allowed folder; " +
			"its images are found next to it")
	}

	return all
}

// documentSchema returns the schema of a tool that prints a document.
func (s *Server) documentSchema(more fields, options any) map[string]any {
	all := s.textFields(fields{
		"theme": stringField("name of a theme, or \"auto\" to choose one for the text " +
			"(default: that of the front matter, else a plain one)"),
		"options": options,
	})
	maps.Copy(all, more)

	if s.o.Files {
		return object(all)
	}

	return object(all, "markdown")
}

// textSchema returns the schema of a tool that reads a text.
func (s *Server) textSchema() map[string]any {
	if s.o.Files {
		return object(s.textFields(fields{}))
	}

	return object(s.textFields(fields{}), "markdown")
}

// outputField describes the file to write.
func (s *Server) outputField(example string) map[string]any {
	field := stringField(s.pick(
		"file to write, in an allowed folder; an existing file is replaced (default: next to path)",
		"name of the file (default: by the title)"))
	field["examples"] = []string{example}

	return field
}

// formatField describes the output format.
func formatField() map[string]any {
	names := []string{}
	for _, o := range presswork.Outputs() {
		names = append(names, string(o))
	}

	return map[string]any{
		"type":        "string",
		"enum":        names,
		"description": "format of the file (default: by the extension of output, else pdf); png is a zip of page pictures",
	}
}

// pageSchema describes the arguments of export_page.
func (s *Server) pageSchema() map[string]any {
	return object(fields{
		"url":       stringField("http or https address of the page"),
		"output":    s.outputField("page.pdf"),
		"paper":     stringField("paper size of a PDF: letter (default), legal, a3, a4, a5"),
		"landscape": boolField("turn the paper of a PDF"),
		"full_page": boolField("take the picture of the whole page, not only of the window"),
		"wait_for":  stringField("CSS selector of an element to wait for"),
	}, "url", "output")
}

// viewSchema describes the arguments of fetch_page.
func viewSchema() map[string]any {
	return object(fields{
		"url":   stringField("http or https address of the page"),
		"line":  intField("first line to show", 0, 1_000_000, 0),
		"lines": intField("number of lines; 0 shows about 1000 tokens", 0, 10_000, 0),
	}, "url")
}

// maxResults is the largest number of results of a search.
const maxResults = 20

// searchSchema describes the arguments of search_web.
func searchSchema() map[string]any {
	return object(fields{
		"query": stringField("words to search for"), "results": intField("number of results", 1, maxResults, 10),
	}, "query")
}

// recordingSchema describes the arguments of transcribe.
func (s *Server) recordingSchema() map[string]any {
	all := fields{
		"language": stringField("language of the speech as an ISO 639-1 code, such as \"de\" (default: found out)"),
		"format": map[string]any{
			"type":        "string",
			"enum":        []string{"text", "srt", "vtt"},
			"default":     "text",
			"description": "format of the text",
		},
	}
	source := s.pick("path", "url")
	all[source] = stringField(
		s.pick("recording to read, in an allowed folder", "http or https address of the recording"),
	)

	return object(all, source)
}
