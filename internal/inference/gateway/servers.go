package gateway

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"presswork/internal/inference"
)

// maxFunctions bounds the functions of a request, those of servers included.
const maxFunctions = 128

// remoteTool is a tool of an MCP server that the model may call.
type remoteTool struct {
	inference.ServerTool
	label    string
	session  inference.ServerSession
	approval bool // the user must approve its calls
}

// openServers lists the tools of the request's MCP servers at the same time and adds them to r as functions. Then it
// runs the calls that the user has approved.
func (d *rounds) openServers(ctx context.Context, r *inference.Request) error {
	servers, err := d.resolveServers()
	if err != nil || len(servers) == 0 {
		return err
	}
	lists, errs := make([][]inference.ServerTool, len(servers)), make([]error, len(servers))

	// Servers may take seconds. Meanwhile another completion may use the slot of this one.
	d.c.g.opts.Idle(ctx, func() {
		var group sync.WaitGroup
		for i := range servers {
			group.Go(func() { lists[i], errs[i] = d.servers[i].List(ctx) })
		}
		group.Wait()
	})

	for i, s := range servers {
		if errs[i] != nil {
			return d.failListing(ctx, s, errs[i])
		}

		if err := d.addTools(r, s, d.servers[i], lists[i]); err != nil {
			return err
		}
	}

	if err := d.expandChoice(&r.ToolChoice); err != nil {
		return err
	}

	r.Messages = slices.Clone(r.Messages)
	d.escapeHistory(r.Messages)

	return d.runApproved(ctx, r)
}

// escapeHistory escapes the marks of chat templates in earlier results of servers, which clients send back unescaped.
func (d *rounds) escapeHistory(messages []inference.Message) {
	called := map[string]string{} // functions by the ids of calls

	for i := range messages {
		m := &messages[i]
		for _, call := range m.ToolCalls {
			called[call.ID] = call.Name
		}

		if _, ok := d.remote[called[m.ToolCallID]]; ok && m.Role == inference.ToolRole {
			m.Parts = []inference.Part{{Text: escapeMarks(m.Text())}}
		}
	}
}

// resolveServers opens a session for each server of the request, in its order.
func (d *rounds) resolveServers() ([]*inference.ToolServer, error) {
	var servers []*inference.ToolServer

	for _, t := range d.c.request.Tools {
		if t.Type != inference.MCPTool {
			continue
		}

		if d.c.g.opts.Servers == nil {
			return nil, inference.Errorf(http.StatusBadRequest, inference.ToolUnavailable,
				"MCP servers are not available here").WithParam("tools")
		}

		s, err := d.c.g.opts.Catalogue().Server(t.Server)
		if err != nil {
			return nil, err
		}
		servers, d.servers = append(servers, s), append(d.servers, d.c.g.opts.Servers.Open(s))

		if s.Description != "" {
			d.hints = append(d.hints, serverHint(s))
		}
	}

	return servers, nil
}

// failListing returns err. A stream that shows listings gets the failed one first.
func (d *rounds) failListing(ctx context.Context, s *inference.ToolServer, err error) error {
	if !d.c.request.Approvals || !d.c.request.Stream || ctx.Err() != nil {
		return err
	}
	d.listings = append(d.listings, inference.Listing{Server: s.Label, Failure: inference.AsError(err).Message})

	if failed := d.c.emit(&inference.Chunk{}); failed != nil {
		return failed
	}

	return err
}

// addTools adds the tools of a server to r as functions with unique names. Names and descriptions come
// from a foreign server, so marks of chat templates in them are escaped. If the caller cannot answer requests for
// approval, tools that need it are left out.
func (d *rounds) addTools(
	r *inference.Request,
	s *inference.ToolServer,
	session inference.ServerSession,
	list []inference.ServerTool,
) error {
	// A client that sent a listing back has it already.
	if s.Listed == nil {
		d.listings = append(d.listings, inference.Listing{Server: s.Label, Tools: list})
	}

	for _, t := range list {
		approval := s.NeedsApproval(t)
		if approval && !d.c.request.Approvals {
			continue
		}

		name := inference.ServerFunction(s.Label, t.Name)
		if slices.ContainsFunc(r.Tools, func(o inference.Tool) bool { return o.Name == name }) {
			name = inference.HashedFunction(s.Label, t.Name)
		}
		d.remote[name] = remoteTool{ServerTool: t, label: s.Label, session: session, approval: approval}
		d.functions = append(d.functions, name)
		r.Tools = append(r.Tools, inference.Tool{
			Type: inference.FunctionTool, Name: name, Description: escapeMarks(t.Description),
			Parameters: escapeSchema(t.Schema),
		})
	}

	if len(r.Tools) > maxFunctions {
		return inference.Invalidf("tools", "the request has %d tools with those of its MCP servers; at most %d are "+
			"allowed: limit them with 'allowed_tools'", len(r.Tools), maxFunctions)
	}

	return nil
}

// expandChoice replaces the names of servers in a choice by those of their functions.
func (d *rounds) expandChoice(choice *inference.ToolChoice) error {
	var names []string

	for _, name := range choice.Names {
		label, tool, isServer := strings.Cut(strings.TrimPrefix(name, "mcp:"), ":")
		if !isServer {
			names = append(names, name)
			continue
		}
		before := len(names)

		for _, function := range d.functions {
			if t, ok := d.remote[function]; ok && t.label == label && (tool == "" || t.Name == tool) {
				names = append(names, function)
			}
		}

		if len(names) == before {
			return inference.Invalidf("tool_choice", "the MCP server %q has no tool %q that the model may call",
				label, tool)
		}
	}

	// A server stands for all of its tools. Engines force one function at most, so several become "required".
	if choice.Names = names; len(names) > 1 && choice.Mode == inference.ChooseNamed {
		choice.Mode = inference.ChooseRequired
	}

	return nil
}

// serverHint describes a server to the model, in the words of the caller or the operator.
func serverHint(s *inference.ToolServer) string {
	return fmt.Sprintf("The tools whose names begin with %s__ are those of: %s.", s.Label,
		strings.TrimSuffix(s.Description, "."))
}

// addListings adds the listings that were not emitted yet to a chunk. A nil d does nothing.
func (d *rounds) addListings(c *inference.Chunk) {
	if d != nil && d.c.request.Approvals {
		c.Listings, d.listings = d.listings, nil
	}
}

// runApproved runs the calls that the user has approved and adds their results to the messages of r.
func (d *rounds) runApproved(ctx context.Context, r *inference.Request) error {
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Approved == nil {
			continue
		}
		output := "It was not called: its server does not have this tool any more."
		isTool := func(name string) bool {
			return d.remote[name].label == m.Approved.Server && d.remote[name].Name == m.Approved.Tool
		}

		// The user approved a name. The server may have removed the tool since then.
		if at := slices.IndexFunc(d.functions, isTool); at >= 0 {
			var err error

			d.c.g.opts.Idle(ctx, func() { output, err = d.callServer(ctx, d.remote[d.functions[at]], *m.Approved) })

			if err != nil {
				return err
			}
		}
		m.Parts, m.Approved = []inference.Part{{Text: output}}, nil
	}

	if d.callsUsed() {
		r.ToolChoice = inference.ToolChoice{Mode: inference.ChooseNone}
	}

	if len(d.images) > 0 {
		r.Messages, d.images = append(r.Messages, inference.Message{Role: inference.User, Parts: d.images}), nil
	}

	return nil
}

// needsApproval reports whether the user must approve a call of an answer. It emits a request for each such call; the
// other calls are dropped, because the model makes them again after the approval.
func (d *rounds) needsApproval(n *normaliser) bool {
	var requests []inference.ServerCall

	for _, k := range n.calls.list {
		if t := d.remote[k.name]; t.approval {
			arguments, ok := builtinArguments(k.name, k.arguments.String())
			if !ok {
				return false // the model reads that the arguments are malformed
			}
			requests = append(requests, inference.ServerCall{
				ID: "mcpr_" + rand.Text(), Server: t.label, Tool: t.Name, Arguments: arguments,
			})
		}
	}
	d.approvals = requests

	return len(requests) > 0
}

// callServer runs a call on a server and emits it. It returns the output for the model. All calls of an answer share
// timeLeft: when it is used up, the model gets no further call. An error ends the completion.
func (d *rounds) callServer(ctx context.Context, t remoteTool, call inference.ServerCall) (string, error) {
	if d.callsUsed() {
		return d.refuseCall(), nil
	}

	limited, cancel := context.WithTimeoutCause(ctx, d.timeLeft, errToolTime)
	defer cancel()

	result, err := t.session.Call(limited, call.Tool, call.Arguments)
	d.timeLeft -= result.Took

	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		d.noMoreCalls = true
		result = failedTool("The call was ended: the tools of an answer have %s together.",
			d.c.model.Routing.ToolTimeout)
		result.Broken = true
	}
	d.addImages(&result)

	return d.emitCall(inference.ExecutedTool{
		// The id of an approval is empty for a call that needed none.
		Server: call.Server, Approval: call.ID,
		BuiltinCall: inference.BuiltinCall{Name: call.Tool, Arguments: call.Arguments},
		ToolResult:  result,
	})
}

// addImages keeps the images of a result for the next message of the user, because results of tools are texts. A model
// without vision reads only that there are images.
func (d *rounds) addImages(r *inference.ToolResult) {
	for _, uri := range r.Images {
		fits := d.pictures+len(uri) <= maxPictures

		if fits && d.c.model.Can(inference.CanVision) {
			d.pictures += len(uri)
			d.images = append(d.images, inference.Part{Image: &inference.Image{URL: uri}})
		}
	}
	r.Images = nil // the model has them
}
