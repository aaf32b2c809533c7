package messages

import (
	"encoding/json"
	"slices"
	"strings"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
	"presswork/internal/input"
	"presswork/internal/lazyregexp"
)

// builtins are the beginnings of the types of server tools that Presswork has. A date follows.
var builtins = map[string]string{
	"web_search_20":     inference.BrowserSearch,
	"web_fetch_20":      inference.BrowserSearch,
	"code_execution_20": inference.CodeInterpreter,
}

// clientTools are the beginnings of the types of tools that the client runs and that models of Anthropic know.
var clientTools = []string{"bash_20", "text_editor_20", "computer_20", "memory_20"}

// hasPrefix returns a function that reports whether kind begins with a prefix.
func hasPrefix(kind string) func(prefix string) bool {
	return func(prefix string) bool { return strings.HasPrefix(kind, prefix) }
}

// ignored begins the types of tools that find other tools. The model sees all tools, so it works without them.
const ignored = "tool_search_tool"

// validName matches the names of tools.
var validName = lazyregexp.New(`^[A-Za-z0-9_-]{1,128}$`)

// builtinOf returns the built-in tool for the type of a server tool, "" for other types.
func builtinOf(kind string) string {
	for prefix, builtin := range builtins {
		if strings.HasPrefix(kind, prefix) {
			return builtin
		}
	}

	return ""
}

// readTools reads the list of tools.
func (p *parser) readTools() {
	p.List("tools", func(item json.RawMessage, path string) {
		p.readTool(jsonbody.New(item, path+".", p.Err))
	})

	if len(p.r.Tools) > jsonbody.MaxTools {
		p.Failf("tools", "at most %d tools are allowed", jsonbody.MaxTools)
	}
}

// readTool adds a tool of the client or a built-in tool. Tools that find other tools are ignored.
func (p *parser) readTool(o jsonbody.Object) {
	kind := o.Str("type")
	builtin := builtinOf(kind)

	switch {
	case o.Failed():
	case kind == "" || kind == "custom":
		p.addTool(o)
	case builtin != "":
		if !slices.ContainsFunc(p.r.Tools, func(t inference.Tool) bool { return t.Type == builtin }) {
			p.r.Tools = append(p.r.Tools, inference.Tool{Type: builtin})
		}

		// The gateway counts the calls of all built-in tools together, so the largest limit applies.
		if n := o.Integer("max_uses", 1, 1<<16); n != nil {
			p.r.MaxToolCalls = max(p.r.MaxToolCalls, int(*n))
		}
	case p.options.Native() && slices.ContainsFunc(clientTools, hasPrefix(kind)):
		p.addClientTool(o)
	case kind != toolset && !strings.HasPrefix(kind, ignored): // readServers reads toolsets
		o.Failf("type", "the tool %q is not supported; allowed: custom, web_search_20…, web_fetch_20…, "+
			"code_execution_20…, %s", jsonbody.Bounded(kind, 60), toolset)
	}
}

// addClientTool adds a tool that the client runs and that the upstream describes to its model.
func (p *parser) addClientTool(o jsonbody.Object) {
	t := inference.Tool{Type: inference.FunctionTool, Name: o.Required("name"), Block: o.Except()}

	switch {
	case o.Failed():
	case !validName().MatchString(t.Name):
		o.Failf("name", "must be 1 to 128 letters, digits, underscores and dashes")
	case slices.ContainsFunc(p.r.Tools, func(o inference.Tool) bool { return o.Name == t.Name }):
		o.Failf("name", "there are two tools %q", jsonbody.Bounded(t.Name, 64))
	default:
		p.r.Tools = append(p.r.Tools, t)
	}
}

// addTool adds a tool of the client.
func (p *parser) addTool(o jsonbody.Object) {
	name := o.Str("name")
	t := inference.Tool{
		Type: inference.FunctionTool, Name: inference.ShortName(name), Description: o.Str("description"),
		Parameters: p.limits.Schema(o, "input_schema"), Strict: o.IsTrue("strict"),
	}

	if p.options.Native() {
		t.Fields = o.Except("type", "name", "description", "input_schema", "strict")
	}

	switch {
	case o.Failed():
		return
	case !validName().MatchString(name):
		o.Failf("name", "must be 1 to 128 letters, digits, underscores and dashes")
		return
	case slices.ContainsFunc(p.r.Tools, func(o inference.Tool) bool { return o.Name == t.Name }):
		o.Failf("name", "there are two tools %q", jsonbody.Bounded(name, 64))
		return
	}

	if t.Name != name {
		p.f.names[t.Name] = name
	}
	p.r.Tools = append(p.r.Tools, t)
}

// readToolChoice reads tool_choice, which may also forbid parallel calls.
func (p *parser) readToolChoice() {
	if !p.Has("tool_choice") {
		return
	}
	o, choice := p.Object.Object("tool_choice"), &p.r.ToolChoice

	switch o.Enum("type", "auto", "any", "tool", "none") {
	case "":
		o.Failf("type", "property 'type' is missing")
	case "auto":
		choice.Mode = inference.ChooseAuto
	case "none":
		choice.Mode = inference.ChooseNone
	case "any":
		choice.Mode = inference.ChooseRequired
	case "tool":
		choice.Mode, choice.Names = inference.ChooseNamed, p.chosen(o)
	}

	if len(p.r.Tools) == 0 && (choice.Mode == inference.ChooseRequired || choice.Mode == inference.ChooseNamed) {
		p.Failf("tool_choice", "it is only allowed when 'tools' are given")
	}

	if o.IsTrue("disable_parallel_tool_use") {
		p.r.ParallelToolCalls = new(false)
	}
}

// chosen returns the function of the tool that o names. A built-in tool is required by its first function.
func (p *parser) chosen(o jsonbody.Object) []string {
	name := o.Required("name")
	var all []string

	for _, t := range p.r.Tools {
		// The name of a server tool is its type without the date.
		if t.Type == builtinOf(name+"_20") {
			return inference.BuiltinNames(t.Type)[:1]
		}
		all = append(all, p.f.original(t.Name))
	}

	if !o.Failed() && !slices.Contains(all, name) {
		o.Failf("name", "the tool %q is not one of 'tools'%s", jsonbody.Bounded(name, 64), input.DidYouMean(name, all))
	}

	return []string{inference.ShortName(name)}
}

// original returns the client's name of a tool.
func (f *Format) original(name string) string {
	if long := f.names[name]; long != "" {
		return long
	}

	return name
}
