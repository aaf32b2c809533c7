package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"presswork/internal/app"
	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/input"
	"presswork/internal/local"
	"presswork/internal/terminal"
)

// chatCommand is one run of `presswork chat`.
type chatCommand struct {
	*program
	server, key, model, system string
	effort                     string
	reasoning                  bool
	tools, images              []string
	in                         io.Reader

	engine inference.Engine
	// address is server without a password.
	address string
}

func newChatCommand(p *program) *cobra.Command {
	c := &chatCommand{program: p}
	cmd := &cobra.Command{
		Use:   "chat [PROMPT…]",
		Short: "Talk to a model through a running Presswork",
		Long: "Send a prompt to a server and print the answer as it comes. Without a prompt it is read from standard input;\n" +
			"on a terminal a conversation begins, which an empty line or end of input ends.",
		Example: "  presswork chat 'Say hi in three languages'\n" +
			"  git diff | presswork chat --model gemma3 --system 'Write a commit message'\n" +
			"  presswork chat --tools code,search --image chart.png 'Is this still true?'",
		RunE: func(cmd *cobra.Command, args []string) error {
			c.in = cmd.InOrStdin()
			return c.run(cmd.Context(), strings.Join(args, " "))
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&c.model, "model", "m", "", "`NAME` of the model (default: the first that the server lists)")
	f.StringVar(&c.system, "system", "", "`TEXT` that tells the model how to behave")
	f.StringVar(&c.effort, "effort", "", "`LEVEL` of reasoning, as the model allows: none, low, medium, high")
	f.BoolVar(&c.reasoning, "reasoning", false, "print the reasoning as well, on standard error")
	f.StringSliceVar(&c.tools, "tools", nil,
		"let the model use the built-in tools in `LIST`: code, search; what they do is printed on standard error")
	f.StringArrayVar(&c.images, "image", nil,
		"show the model the picture in `FILE`, or at an address, with the first prompt; may be repeated")
	f.StringVar(&c.server, "server", "http://127.0.0.1:8000", "`ADDRESS` of the server")
	f.StringVar(&c.key, "key", "", "API `KEY` (default PRESSWORK_API_KEY)")

	return cmd
}

// maxPrompt is how much is read from a pipe, in bytes: more than any model takes.
const maxPrompt = 8 << 20

func (c *chatCommand) run(ctx context.Context, prompt string) error {
	if c.key == "" {
		c.key = c.getenv("PRESSWORK_API_KEY")
	}

	if err := c.open(); err != nil {
		return err
	}

	for _, name := range c.tools {
		if builtinTools[name] == "" {
			return usageError{fmt.Errorf("--tools: %q is not a tool; allowed: code, search", name)}
		}
	}

	pictures, err := c.pictures()
	if err != nil {
		return err
	}

	if !fromTerminal(c.in) {
		piped, err := io.ReadAll(io.LimitReader(unlessEnded{ctx, c.in}, maxPrompt+1))
		if err != nil {
			return err
		}

		if len(piped) > maxPrompt {
			return usageError{fmt.Errorf("standard input is larger than %d MB", maxPrompt>>20)}
		}

		prompt = strings.TrimSpace(prompt + "\n\n" + string(piped))
		if prompt == "" {
			return usageError{errors.New("there is no prompt: give one as an argument or on standard input")}
		}
	}

	if err := c.chooseModel(ctx); err != nil {
		return err
	}

	if prompt == "" {
		return c.talk(ctx, pictures)
	}
	_, err = c.ask(
		ctx,
		append(c.opening(),
			inference.Message{Role: inference.User, Parts: append([]inference.Part{{Text: prompt}}, pictures...)}),
	)

	return err
}

// builtinTools are the tools by the names of --tools.
var builtinTools = map[string]string{"code": inference.CodeInterpreter, "search": inference.BrowserSearch}

// pictures reads those of --image.
func (c *chatCommand) pictures() (parts []inference.Part, err error) {
	for _, name := range c.images {
		at := name
		if !strings.HasPrefix(name, "http://") && !strings.HasPrefix(name, "https://") {
			data, err := input.ReadFile(name, maxPicture)
			if err != nil {
				return nil, fmt.Errorf("--image %s: %w", name, err)
			}

			if err := inference.CheckImage(data); err != nil {
				return nil, usageError{fmt.Errorf("--image %s: %s", name, err.Message)}
			}
			at = "data:" + http.DetectContentType(data) + ";base64," + base64.StdEncoding.EncodeToString(data)
		}
		parts = append(parts, inference.Part{Image: &inference.Image{URL: at}})
	}

	return parts, nil
}

// maxPicture is the largest picture that is sent, in bytes.
const maxPicture = 20 << 20

// chooseModel takes the first model that the server lists, unless one is named.
func (c *chatCommand) chooseModel(ctx context.Context) error {
	if c.model != "" {
		return nil
	}

	models, err := c.engine.Models(ctx)
	if err != nil {
		return c.serverSaid(err)
	}

	if len(models) == 0 {
		return errors.New("the server has no models; `presswork models` says how to get one")
	}
	c.model = models[0]

	return c.open()
}

// open makes the client of the model.
func (c *chatCommand) open() error {
	u, err := serverAddress(c.server)
	if err == nil {
		c.address = u.Redacted()
		base := strings.TrimSuffix(strings.TrimRight(c.server, "/"), "/v1") + "/v1"
		c.engine, err = app.ServerEngine(base, c.key, c.model)
	}

	if err != nil {
		return usageError{fmt.Errorf("--server: %w", err)}
	}

	return nil
}

// fromTerminal reports whether a person types the input.
func fromTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && terminal.Is(f)
}

func (c *chatCommand) opening() []inference.Message {
	if c.system == "" {
		return nil
	}

	return []inference.Message{{Role: inference.System, Parts: []inference.Part{{Text: c.system}}}}
}

// talk is a conversation; pictures go with its first prompt.
func (c *chatCommand) talk(ctx context.Context, pictures []inference.Part) error {
	fmt.Fprintf(c.stderr, "Talking to %s. An empty line ends it.\n", c.model)
	messages := c.opening()
	lines := bufio.NewScanner(unlessEnded{ctx, c.in})
	lines.Buffer(nil, 1<<20)

	for {
		fmt.Fprint(c.stderr, "\n› ")

		if !lines.Scan() || strings.TrimSpace(lines.Text()) == "" {
			return lines.Err()
		}
		messages = append(messages,
			inference.Message{Role: inference.User, Parts: append([]inference.Part{{Text: lines.Text()}}, pictures...)})
		pictures = nil

		answer, err := c.ask(ctx, messages)
		if err != nil {
			return err
		}
		messages = append(messages,
			inference.Message{Role: inference.Assistant, Parts: []inference.Part{{Text: answer}}})
	}
}

// ask prints an answer as it comes, and returns it.
func (c *chatCommand) ask(ctx context.Context, messages []inference.Message) (string, error) {
	request := &inference.Request{
		Model:            c.model,
		Messages:         messages,
		Stream:           true,
		IncludeUsage:     true,
		ServiceTier:      "auto",
		ReasoningEffort:  c.effort,
		ReasoningFormat:  inference.Hidden,
		IncludeReasoning: true,
		Admitted:         true,
	}
	if c.reasoning {
		request.ReasoningFormat = inference.Parsed
	}

	for _, name := range c.tools {
		request.Tools = append(request.Tools, inference.Tool{Type: builtinTools[name]})
	}
	var answer strings.Builder
	// A model's answer is not to be trusted with the terminal.
	out, aside := terminal.Plain(c.stdout), terminal.Plain(c.stderr)
	model := &inference.Model{ID: c.model, Capabilities: inference.Capabilities()}

	err := c.engine.Complete(ctx, request, model, func(d *inference.Delta) error {
		if c.reasoning && d.Reasoning != "" {
			if _, err := io.WriteString(aside, d.Reasoning); err != nil {
				return err
			}
		}

		if err := printExecuted(aside, d.Extra); err != nil {
			return err
		}
		answer.WriteString(d.Content)
		_, err := io.WriteString(out, d.Content)

		return err
	})
	if answer.Len() > 0 && !strings.HasSuffix(answer.String(), "\n") {
		fmt.Fprintln(c.stdout)
	}

	return answer.String(), c.serverSaid(err)
}

// printExecuted prints the calls of built-in tools that the server has run.
func printExecuted(w io.Writer, extra json.RawMessage) error {
	var fields struct {
		Executed []struct {
			Name, Arguments, Output string
		} `json:"executed_tools"`
	}
	if len(extra) == 0 || json.Unmarshal(extra, &fields) != nil {
		return nil
	}

	for _, e := range fields.Executed {
		asked := e.Arguments

		var code struct{ Code string }
		if json.Unmarshal([]byte(e.Arguments), &code) == nil && code.Code != "" {
			asked = code.Code
		}

		if _, err := fmt.Fprintf(w, "\n[%s] %s\n%s\n", e.Name, asked, strings.TrimRight(e.Output, "\n")); err != nil {
			return err
		}
	}

	return nil
}

// serverSaid shortens a failure of the server to its message, and names which
// server that is.
func (c *chatCommand) serverSaid(err error) error {
	switch fault.CodeOf(err) {
	case "":
		return nil
	case fault.Internal:
		return err // an interruption, or one of this machine
	case inference.UpstreamUnavailable:
		return fmt.Errorf("%s: %s (`presswork serve` starts one on this machine)", c.address,
			inference.AsError(err).Message)
	}

	return fmt.Errorf("%s: %s", c.address, inference.AsError(err).Message)
}

// unlessEnded reads until its context ends, for a reader that may never return anything. A
// read that is left behind keeps what it got.
type unlessEnded struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (u unlessEnded) Read(b []byte) (int, error) {
	read, err := local.Waiting(u.ctx, func() ([]byte, error) {
		own := make([]byte, len(b))
		n, err := u.r.Read(own)

		return own[:n], err
	})

	return copy(b, read), err
}
