package wire

import (
	"encoding/json"
	"slices"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
	"presswork/internal/input"
)

// readTools reads tools, or the older field functions.
func (p *parser) readTools(r *inference.Request) {
	p.List("tools", func(item json.RawMessage, path string) {
		if p.tooManyTools(r) {
			return
		}
		o := jsonbody.New(item, path+".", p.Err)

		kind := o.Enum("type", inference.FunctionTool, inference.BrowserSearch, inference.CodeInterpreter,
			inference.MCPTool)
		if kind == "" {
			o.Failf("type", "property 'type' is missing")
		}

		if kind == inference.MCPTool {
			p.readServer(o, r)
			return
		}

		t := inference.Tool{Type: kind}
		if kind == inference.FunctionTool {
			p.readFunction(o.Object("function"), &t)
			t.Fields = o.Only("cache_control")
		}

		if t.Name != "" && slices.ContainsFunc(r.Tools, func(o inference.Tool) bool { return o.Name == t.Name }) {
			o.Failf("function.name", "there are two functions %q", t.Name)
		}
		r.Tools = append(r.Tools, t)
	})

	if len(r.Tools) == 0 {
		p.List("functions", func(item json.RawMessage, path string) {
			if p.tooManyTools(r) {
				return
			}
			t := inference.Tool{Type: inference.FunctionTool}
			p.readFunction(jsonbody.New(item, path+".", p.Err), &t)
			r.Tools = append(r.Tools, t)
			r.LegacyFunctions = true
		})
	}
	p.readToolChoice(r)

	r.ParallelToolCalls = p.Boolean("parallel_tool_calls")
	// The older form has room for one call only.
	if r.LegacyFunctions {
		r.ParallelToolCalls = new(false)
	}
	r.DisableToolValidation = p.IsTrue("disable_tool_validation")
}

// readServer reads an MCP server. A chat completion has no approval requests, so no tool may need one.
func (p *parser) readServer(o jsonbody.Object, r *inference.Request) {
	s := jsonbody.ToolServer(o, inference.ApproveNever)
	if s.Approve != nil {
		o.Failf("require_approval", "must be \"never\": chat completions have no approval requests; use /v1/responses")
	}
	jsonbody.AddServer(o, "server_label", r, s)
}

// tooManyTools reports whether to stop reading tools. It is called before each tool, so that tools after the limit or
// an error are not parsed.
func (p *parser) tooManyTools(r *inference.Request) bool {
	if len(r.Tools) == jsonbody.MaxTools {
		p.Failf("tools", "at most %d tools are allowed", jsonbody.MaxTools)
	}

	return p.Failed()
}

// readFunction reads the definition of a function into t.
func (p *parser) readFunction(o jsonbody.Object, t *inference.Tool) {
	if t.Name = o.Str("name"); !inference.ValidName(t.Name) {
		o.Failf("name", "must be 1 to 64 letters, digits, underscores and dashes")
	}
	t.Description = o.Str("description")
	t.Strict = o.IsTrue("strict")
	t.Parameters = p.limits.Schema(o, "parameters")
}

// readToolChoice reads tool_choice, or function_call with functions.
func (p *parser) readToolChoice(r *inference.Request) {
	field := "tool_choice"
	if r.LegacyFunctions {
		field = "function_call"
	}

	v := p.Raw(field)
	switch {
	case v == nil:
		return
	case v[0] == '"':
		r.ToolChoice.Mode = p.Enum(field, inference.ChooseNone, inference.ChooseAuto, inference.ChooseRequired)
	default:
		o := p.Object.Object(field)

		kind := inference.FunctionTool
		if !r.LegacyFunctions {
			kind = o.Enum(
				"type",
				inference.FunctionTool,
				"allowed_tools",
				inference.BrowserSearch,
				inference.CodeInterpreter,
				inference.MCPTool,
			)
		}
		p.readChoiceObject(r, o, kind)
	}

	if len(r.Tools) == 0 && !p.lax &&
		(r.ToolChoice.Mode == inference.ChooseRequired || r.ToolChoice.Mode == inference.ChooseNamed) {
		p.Failf(field, "it is only allowed when 'tools' are given")
	}
}

// readChoiceObject reads a tool_choice that is an object of this type.
func (p *parser) readChoiceObject(r *inference.Request, o jsonbody.Object, kind string) {
	switch kind {
	case "":
		o.Failf("type", "property 'type' is missing")
	case "allowed_tools":
		a := o
		if o.Has("allowed_tools") {
			a = o.Object("allowed_tools")
		}
		r.ToolChoice.Mode = a.Enum("mode", inference.ChooseAuto, inference.ChooseRequired)
		a.List("tools", func(item json.RawMessage, path string) {
			p.allowTool(r, jsonbody.New(item, path+".", p.Err))
		})
	case inference.FunctionTool:
		r.ToolChoice.Mode = inference.ChooseNamed
		p.allowTool(r, o)
	case inference.MCPTool:
		r.ToolChoice = inference.ToolChoice{Mode: inference.ChooseNamed, Names: serverChoice(r, o)}
	default:
		// A built-in tool is required by its first function.
		r.ToolChoice = inference.ToolChoice{Mode: inference.ChooseNamed, Names: inference.BuiltinNames(kind)[:1]}
		if !slices.ContainsFunc(r.Tools, func(t inference.Tool) bool { return t.Type == kind }) {
			o.Failf("type", "%q is not one of 'tools'", kind)
		}
	}
}

// allowTool adds the tool that o names to the choice. The name of a function is in the object "function" or in o
// itself; a built-in tool adds its functions.
func (p *parser) allowTool(r *inference.Request, o jsonbody.Object) {
	kind := o.Str("type")
	if kind == inference.MCPTool {
		r.ToolChoice.Names = append(r.ToolChoice.Names, serverChoice(r, o)...)
		return
	}

	isBuiltin := func(t inference.Tool) bool { return t.Type == kind && kind != inference.FunctionTool }

	if slices.ContainsFunc(r.Tools, isBuiltin) {
		r.ToolChoice.Names = append(r.ToolChoice.Names, inference.BuiltinNames(kind)...)
		return
	}

	if o.Has("function") {
		o = o.Object("function")
	}

	chosen := o.Str("name")
	if chosen == "" {
		o.Failf("name", "property 'name' is missing: it names a function of 'tools'")
	}

	var names []string
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}

	if !slices.Contains(names, chosen) {
		o.Failf("name", "the function %q is not one of 'tools'%s", jsonbody.Bounded(chosen, 64),
			input.DidYouMean(chosen, names))
	}
	r.ToolChoice.Names = append(r.ToolChoice.Names, chosen)
}

// serverChoice returns the choice of the MCP server or its tool that o names.
func serverChoice(r *inference.Request, o jsonbody.Object) []string {
	return []string{inference.ServerChoice(jsonbody.ServerLabel(o, "server_label", r), o.Str("name"))}
}
