package openai

import (
	"encoding/json"
	"regexp"
	"slices"

	"presswork/internal/inference"
	"presswork/internal/input"
)

const (
	// maxTools bounds the tools of a request.
	maxTools = 128
	// maxSchemas bounds the schemas of a request together, in bytes: each is compiled before the request is
	// accepted.
	maxSchemas = 512 << 10
)

// namePattern matches the names of functions and schemas.
var namePattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func (p *parser) readTools(r *inference.Request) {
	p.list("tools", func(item json.RawMessage, path string) {
		if p.tooManyTools(r) {
			return
		}
		o := newObject(item, path+".", p.err)

		kind := o.enum("type", inference.FunctionTool, inference.BrowserSearch, inference.CodeInterpreter)
		if kind == "" {
			o.failf("type", "property 'type' is missing")
		}

		t := inference.Tool{Type: kind}
		if kind == inference.FunctionTool {
			p.readFunction(o.object("function"), &t)
		}

		if t.Name != "" && slices.ContainsFunc(r.Tools, func(o inference.Tool) bool { return o.Name == t.Name }) {
			o.failf("function.name", "there are two functions %q", t.Name)
		}
		r.Tools = append(r.Tools, t)
	})

	if len(r.Tools) == 0 {
		p.list("functions", func(item json.RawMessage, path string) {
			if p.tooManyTools(r) {
				return
			}
			t := inference.Tool{Type: inference.FunctionTool}
			p.readFunction(newObject(item, path+".", p.err), &t)
			r.Tools = append(r.Tools, t)
			r.LegacyFunctions = true
		})
	}
	p.readToolChoice(r)

	r.ParallelToolCalls = p.boolean("parallel_tool_calls")
	if r.LegacyFunctions {
		r.ParallelToolCalls = new(false)
	}
	r.DisableToolValidation = p.isTrue("disable_tool_validation")
}

// tooManyTools reports whether to stop reading tools. It is called before each tool, so that tools after the limit or
// an error are not parsed.
func (p *parser) tooManyTools(r *inference.Request) bool {
	if len(r.Tools) == maxTools {
		p.failf("tools", "at most %d tools are allowed", maxTools)
	}

	return p.failed()
}

func (p *parser) readFunction(o object, t *inference.Tool) {
	if t.Name = o.str("name"); !namePattern.MatchString(t.Name) {
		o.failf("name", "must be 1 to 64 letters, digits, underscores and dashes")
	}
	t.Description = o.str("description")
	t.Strict = o.isTrue("strict")
	t.Parameters = p.readSchema(o, "parameters")
}

// readToolChoice reads tool_choice, or function_call with functions.
func (p *parser) readToolChoice(r *inference.Request) {
	field := "tool_choice"
	if r.LegacyFunctions {
		field = "function_call"
	}

	v := p.raw(field)
	switch {
	case v == nil:
		return
	case v[0] == '"':
		r.ToolChoice.Mode = p.enum(field, inference.ChooseNone, inference.ChooseAuto, inference.ChooseRequired)
	default:
		o := p.object.object(field)

		kind := inference.FunctionTool
		if !r.LegacyFunctions {
			kind = o.enum(
				"type",
				inference.FunctionTool,
				"allowed_tools",
				inference.BrowserSearch,
				inference.CodeInterpreter,
			)
		}
		p.readChoiceObject(r, o, kind)
	}

	if len(r.Tools) == 0 && !p.lax &&
		(r.ToolChoice.Mode == inference.ChooseRequired || r.ToolChoice.Mode == inference.ChooseNamed) {
		p.failf(field, "it is only allowed when 'tools' are given")
	}
}

func (p *parser) readChoiceObject(r *inference.Request, o object, kind string) {
	switch kind {
	case "":
		o.failf("type", "property 'type' is missing")
	case "allowed_tools":
		a := o
		if o.has("allowed_tools") {
			a = o.object("allowed_tools")
		}
		r.ToolChoice.Mode = a.enum("mode", inference.ChooseAuto, inference.ChooseRequired)
		a.list("tools", func(item json.RawMessage, path string) {
			p.allowTool(r, newObject(item, path+".", p.err))
		})
	case inference.FunctionTool:
		r.ToolChoice.Mode = inference.ChooseNamed
		p.allowTool(r, o)
	default:
		// A built-in tool is required by its first function.
		r.ToolChoice = inference.ToolChoice{Mode: inference.ChooseNamed, Names: inference.FunctionsOf(kind)[:1]}
		if !slices.ContainsFunc(r.Tools, func(t inference.Tool) bool { return t.Type == kind }) {
			o.failf("type", "%q is not one of 'tools'", kind)
		}
	}
}

// allowTool adds the tool that o names to the choice. The name of a function is in the object "function" or in o
// itself; a built-in tool adds its functions.
func (p *parser) allowTool(r *inference.Request, o object) {
	kind := o.str("type")
	if slices.ContainsFunc(
		r.Tools,
		func(t inference.Tool) bool { return t.Type == kind && kind != inference.FunctionTool },
	) {
		r.ToolChoice.Names = append(r.ToolChoice.Names, inference.FunctionsOf(kind)...)
		return
	}

	if o.has("function") {
		o = o.object("function")
	}

	chosen := o.str("name")
	if chosen == "" {
		o.failf("name", "property 'name' is missing: it names a function of 'tools'")
	}

	var names []string
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}

	if !slices.Contains(names, chosen) {
		o.failf("name", "the function %q is not one of 'tools'%s", bounded(chosen, 64), input.DidYouMean(chosen, names))
	}
	r.ToolChoice.Names = append(r.ToolChoice.Names, chosen)
}
