package responses

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
	"presswork/internal/input"
)

// toolName is the name that the client has given a tool.
type toolName struct {
	namespace, name string
	// custom tools take text instead of JSON.
	custom bool
}

// flat returns the name that the model sees.
func (t toolName) flat() string {
	if t.namespace == "" {
		return t.name
	}

	return inference.ShortName(t.namespace + "__" + t.name)
}

// customInput is the field of a custom tool's only argument, and customSchema the schema of its arguments.
const (
	customInput  = "input"
	customSchema = `{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],` +
		`"additionalProperties":false}`
)

// builtins are the hosted tools that Presswork has.
var builtins = map[string]string{
	"web_search":                    inference.BrowserSearch,
	"web_search_2025_08_26":         inference.BrowserSearch,
	"web_search_preview":            inference.BrowserSearch,
	"web_search_preview_2025_03_11": inference.BrowserSearch,
	inference.BrowserSearch:         inference.BrowserSearch,
	inference.CodeInterpreter:       inference.CodeInterpreter,
}

// ignored are the hosted tools that agents send without being asked. A model works without them.
var ignored = []string{
	"apply_patch", "image_generation", "local_shell", "programmatic_tool_calling", "shell", "tool_search",
}

// readTools reads the list of tools.
func (p *parser) readTools() {
	p.List("tools", func(item json.RawMessage, path string) {
		p.readTool(jsonbody.New(item, path+".", p.Err), "", false)
	})
}

// dropBuiltins drops the built-in tools and the calls that the user has approved if max_tool_calls allows no call.
func (p *parser) dropBuiltins() {
	if !p.Has("max_tool_calls") || p.r.MaxToolCalls > 0 {
		return
	}
	p.r.Tools = slices.DeleteFunc(p.r.Tools, func(t inference.Tool) bool { return t.Type != inference.FunctionTool })

	for i := range p.r.Messages {
		if m := &p.r.Messages[i]; m.Approved != nil {
			m.Approved, m.Parts = nil, []inference.Part{{Text: "It was not called: 'max_tool_calls' is 0."}}
		}
	}
}

// readTool adds the tool o of a namespace, "" for none. With again it replaces an earlier tool of the same name, which
// is an error otherwise.
func (p *parser) readTool(o jsonbody.Object, namespace string, again bool) {
	allowed := []string{inference.FunctionTool, "custom"}
	if namespace == "" {
		allowed = append(allowed, "namespace", inference.MCPTool)
		allowed = append(allowed, slices.Sorted(maps.Keys(builtins))...)
		allowed = append(allowed, ignored...)
	}

	kind := o.Enum("type", allowed...)
	if o.Failed() {
		return
	}

	switch {
	case kind == "":
		o.Failf("type", "property 'type' is missing")
	case kind == "namespace":
		name := o.Required("name")
		o.List("tools", func(item json.RawMessage, path string) {
			p.readTool(jsonbody.New(item, path+".", p.Err), name, again)
		})
	case kind == inference.MCPTool:
		p.readServer(o, again)
	case kind == inference.FunctionTool || kind == "custom":
		p.addFunction(o, toolName{namespace: namespace, name: o.Str("name"), custom: kind == "custom"}, again)
	case builtins[kind] == "" || isFalse(o, "external_web_access"):
		// It is ignored. A search without access to the web would need an index of its own.
	case !slices.ContainsFunc(p.r.Tools, func(t inference.Tool) bool { return t.Type == builtins[kind] }):
		// Agents send a search without being asked.
		p.addTool(o, inference.Tool{Type: builtins[kind], Optional: kind != inference.CodeInterpreter})
	}
}

// isFalse reports whether a field is present and false.
func isFalse(o jsonbody.Object, name string) bool {
	b := o.Boolean(name)
	return b != nil && !*b
}

// addFunction adds a function or a custom tool, which becomes a function.
func (p *parser) addFunction(o jsonbody.Object, name toolName, again bool) {
	t := inference.Tool{Type: inference.FunctionTool, Name: name.flat(), Description: o.Str("description")}
	if name.custom {
		t.Parameters = json.RawMessage(customSchema)
		t.Description += grammarOf(o)
	} else {
		t.Parameters, t.Strict = p.limits.Schema(o, "parameters"), o.IsTrue("strict")
	}

	switch {
	case o.Failed():
		return
	case name.name == "" || !inference.ValidName(t.Name):
		o.Failf("name", "must be 1 to 64 letters, digits, underscores and dashes")
		return
	}

	i := slices.IndexFunc(p.r.Tools, func(o inference.Tool) bool { return o.Name == t.Name })
	switch earlier := p.f.original(t.Name); {
	case i < 0:
		p.addTool(o, t)
	case again && earlier == name:
		p.r.Tools[i] = t
	default:
		o.Failf("name", "there are two tools %q", t.Name)
	}

	if name != (toolName{name: t.Name}) {
		p.f.names[t.Name] = name
	}
}

// original returns the tool that the model sees under a name.
func (f *Format) original(flat string) toolName {
	if t, renamed := f.names[flat]; renamed {
		return t
	}

	return toolName{name: flat}
}

// addTool adds a tool, or records an error if there are too many. o is where the error is recorded.
func (p *parser) addTool(o jsonbody.Object, t inference.Tool) {
	if p.r.Tools = append(p.r.Tools, t); len(p.r.Tools) > jsonbody.MaxTools {
		o.Fail(inference.Invalidf("tools",
			"'tools' : at most %d tools are allowed, those of namespaces included", jsonbody.MaxTools))
	}
}

// grammarOf describes the format of a custom tool's input to the model.
func grammarOf(o jsonbody.Object) string {
	if !o.Has("format") {
		return ""
	}

	format := o.Object("format")
	if format.Enum("type", "text", "grammar") != "grammar" {
		return ""
	}
	g := format

	if format.Has("grammar") { // the form of chat completions
		g = format.Object("grammar")
	}

	return fmt.Sprintf("\n\nThe input must match this grammar (%s):\n%s", g.Str("syntax"), g.Str("definition"))
}

// readToolChoice reads tool_choice, a word or an object. If a call is required, no tool may be left out of the
// request.
func (p *parser) readToolChoice() {
	v := p.Raw("tool_choice")
	switch {
	case v == nil:
		return
	case v[0] == '"':
		p.choose(p.Object, "tool_choice", p.Str("tool_choice"))
	default:
		o := p.Object.Object("tool_choice")
		p.choose(o, "type", o.Str("type"))
	}

	// An optional tool is left out if no worker runs it, and then the model could not make the required call.
	choice := p.r.ToolChoice.Mode
	if choice != inference.ChooseRequired && choice != inference.ChooseNamed {
		return
	}

	if len(p.r.Tools) == 0 {
		p.Failf("tool_choice", "it is only allowed when 'tools' are given")
	}

	for i := range p.r.Tools {
		p.r.Tools[i].Optional = false
	}
}

// choose sets the choice of a kind: a mode, or the type of a tool. field of o has the kind.
func (p *parser) choose(o jsonbody.Object, field, kind string) {
	choice := &p.r.ToolChoice

	switch kind {
	case inference.ChooseNone, inference.ChooseAuto, inference.ChooseRequired:
		choice.Mode = kind
	case "any":
		choice.Mode = inference.ChooseRequired
	case "allowed_tools":
		choice.Mode = o.Enum("mode", inference.ChooseAuto, inference.ChooseRequired)
		o.List("tools", func(item json.RawMessage, path string) {
			tool := jsonbody.New(item, path+".", p.Err)
			choice.Names = append(choice.Names, p.namesOf(tool, tool.Str("type"))...)
		})

		if len(choice.Names) == 0 {
			o.Failf("tools", "none of them is one of 'tools'")
		}
	default:
		choice.Mode = inference.ChooseNamed
		if choice.Names = p.namesOf(o, kind); len(choice.Names) == 0 {
			o.Failf(field, "%q is not one of 'tools'", jsonbody.Bounded(kind, 60))
			return
		}
		choice.Names = choice.Names[:1] // a built-in tool is required by its first function
	}
}

// namesOf returns the functions of the tool o of a kind. It returns none for a tool that is ignored.
func (p *parser) namesOf(o jsonbody.Object, kind string) (names []string) {
	if kind == inference.MCPTool {
		return p.serverChoice(o)
	}

	if builtin := builtins[kind]; builtin != "" {
		if slices.ContainsFunc(p.r.Tools, func(t inference.Tool) bool { return t.Type == builtin }) {
			return inference.BuiltinNames(builtin)
		}

		return nil
	}

	var all []string

	for _, t := range p.r.Tools {
		if t.Name == "" {
			continue
		}
		all = append(all, t.Name)

		if kind == "namespace" && p.f.original(t.Name).namespace == o.Str("name") {
			names = append(names, t.Name)
		}
	}

	if !slices.Contains([]string{inference.FunctionTool, "custom", "tool"}, kind) {
		return names
	}

	name := toolName{namespace: o.Str("namespace"), name: o.Str("name")}.flat()
	if !slices.Contains(all, name) {
		o.Failf("name", "the tool %q is not one of 'tools'%s", jsonbody.Bounded(name, 64), input.DidYouMean(name, all))
	}

	return []string{name}
}
