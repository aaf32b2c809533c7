package guide

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"text/template"

	"github.com/goccy/go-yaml"
)

// sample is a program that sends the request of an operation to a server on this machine.
type sample struct {
	// Language is one of languages.
	Language string
	Text     string
}

// languages are the languages of samples: names as on the page, and files of the folder samples.
var languages = []struct{ name, file, fence string }{
	{"curl", "samples/curl.sh", "sh"},
	{"Python", "samples/python.py", "python"},
	{"JavaScript", "samples/javascript.mjs", "js"},
	{"Go", "samples/go.txt", "go"},
}

// request is what a sample sends.
type request struct {
	Method, Path string
	// Header is the header with the key, Prefix the text before the key.
	Header, Prefix string
	// JSON is the body, nil without one. Form is the body as a form.
	JSON any
	Form []part
	// Socket reports that the answer is a WebSocket, Stream that it is server-sent events. Save is the file that
	// gets the answer; "" prints it.
	Socket, Stream bool
	Save           string
}

// part is a field of a form. File is the name of a file to send, "" to send Value.
type part struct{ Name, Value, File string }

//go:embed samples
var sampleFiles embed.FS

// sampleTemplates parses the templates at its first call.
var sampleTemplates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"json":   indented,
		"python": pythonLiteral,
		"shell":  func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" },
	}).ParseFS(sampleFiles, "samples/*"))
})

// samples returns the sample of each language. A WebSocket has one in JavaScript only.
func (o *operation) samples() []sample {
	r := o.request()
	var all []sample

	for _, language := range languages {
		if r.Socket && language.name != "JavaScript" {
			continue
		}

		var text strings.Builder
		if err := sampleTemplates().ExecuteTemplate(&text, language.file[len("samples/"):], r); err != nil {
			panic(err) // a defect of a template; each test of a page finds it
		}
		all = append(all, sample{language.name, strings.TrimSpace(text.String()) + "\n"})
	}

	return all
}

// extensions maps the type of an answer that is not text to the extension of its file.
var extensions = map[string]string{
	"application/pdf": ".pdf",
	"application/zip": ".zip",
	"image/png":       ".png",
	"audio/mpeg":      ".mp3",
	"font/woff2":      ".woff2",
}

// request derives the request of the samples from the examples of the description.
func (o *operation) request() request {
	r := request{Method: o.Method, Path: o.Path, Header: "X-API-Key"}
	if strings.HasPrefix(o.Path, "/v1/") {
		r.Header, r.Prefix = "Authorization", "Bearer "
	}

	for _, p := range o.Parameters {
		if p.In == "path" {
			r.Path = strings.ReplaceAll(r.Path, "{"+p.Name+"}", p.Example)
		}
	}

	if len(o.Body) > 0 && o.Body[0].Type == "multipart/form-data" {
		r.Form = parts(o.Body[0].example)
	} else if len(o.Body) > 0 {
		r.JSON = o.Body[0].example
		r.Stream = asObject(r.JSON).get("stream") == true
	}

	for _, a := range o.Answers {
		r.Socket = r.Socket || a.Status == "101"
	}

	if len(o.Answers) > 0 && len(o.Answers[0].Types) > 0 {
		first := o.Answers[0].Types[0]
		r.Stream = r.Stream || first == "text/event-stream"

		if extension := extensions[first]; extension != "" {
			r.Save = "result" + extension
		}
	}

	return r
}

// parts returns the fields of an example of a form. A value that begins with @ names a file.
func parts(example any) []part {
	var all []part

	for _, item := range asObject(example) {
		values, isList := item.Value.([]any)
		if !isList {
			values = []any{item.Value}
		}

		for _, value := range values {
			p := part{Name: fmt.Sprint(item.Key), Value: fmt.Sprint(value)}
			if file, ok := strings.CutPrefix(p.Value, "@"); ok {
				p = part{Name: p.Name, File: file}
			}
			all = append(all, p)
		}
	}

	return all
}

// indented returns a value of the description as JSON of several lines.
func indented(v any) (string, error) {
	compact, err := yaml.MarshalWithOptions(v, yaml.JSON())
	if err != nil {
		return "", fmt.Errorf("guide: %w", err)
	}
	var out bytes.Buffer
	err = json.Indent(&out, bytes.TrimSpace(compact), "", "  ")

	return out.String(), err
}

// pythonLiteral returns a value of the description as an expression of Python.
func pythonLiteral(v any) string {
	switch v := v.(type) {
	case yaml.MapSlice:
		items := make([]string, 0, len(v))
		for _, item := range v {
			items = append(items, fmt.Sprintf("%q: %s", item.Key, pythonLiteral(item.Value)))
		}

		return "{" + strings.Join(items, ", ") + "}"
	case []any:
		items := make([]string, 0, len(v))
		for _, item := range v {
			items = append(items, pythonLiteral(item))
		}

		return "[" + strings.Join(items, ", ") + "]"
	case string:
		return fmt.Sprintf("%q", v)
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	case nil:
		return "None"
	}

	return fmt.Sprint(v)
}

// Sample is a program on the page of an operation.
type Sample struct{ Operation, Language, Text string }

// Samples returns the samples of all operations of an OpenAPI description, except those that serve pages. Tests run
// them. Errors: the description is not YAML.
func Samples(openapi []byte) ([]Sample, error) {
	d, err := parseDescription(openapi)
	if err != nil {
		return nil, err
	}
	var all []Sample

	for _, o := range d.operations() {
		for _, s := range o.Samples {
			if o.Tag != pagesTag {
				all = append(all, Sample{o.ID, s.Language, s.Text})
			}
		}
	}

	return all, nil
}
