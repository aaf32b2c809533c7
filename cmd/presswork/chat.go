package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"presswork"
	"presswork/internal/inference"
	"presswork/internal/inference/openai"
)

// chatCommand is one run of `presswork chat`.
type chatCommand struct {
	*program
	server, key, model, system string
	effort                     string
	reasoning                  bool
	in                         io.Reader

	engine inference.Engine
}

func newChatCommand(p *program) *cobra.Command {
	c := &chatCommand{program: p}
	cmd := &cobra.Command{
		Use:   "chat [PROMPT…]",
		Short: "Talk to a model through a running Presswork",
		Long: "Send a prompt to a server and print the answer as it comes. Without a prompt it is read from standard input;\n" +
			"on a terminal a conversation begins, which an empty line or end of input ends.",
		Example: "  presswork chat 'Say hi in three languages'\n" +
			"  git diff | presswork chat --model gemma3 --system 'Write a commit message'",
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
	f.StringVar(&c.server, "server", "http://127.0.0.1:8000", "`ADDRESS` of the server")
	f.StringVar(&c.key, "key", "", "API `KEY` (default PRESSWORK_API_KEY)")
	return cmd
}

func (c *chatCommand) run(ctx context.Context, prompt string) error {
	if c.key == "" {
		c.key = c.getenv("PRESSWORK_API_KEY")
	}
	if err := c.open(); err != nil {
		return err
	}
	if c.model == "" {
		models, err := c.engine.Models(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", c.server, serverSaid(err))
		}
		if len(models) == 0 {
			return errors.New("the server has no models; `presswork models` says how to get one")
		}
		c.model = models[0]
		if err := c.open(); err != nil {
			return err
		}
	}
	if prompt == "" && fromTerminal(c.in) {
		return c.talk(ctx)
	}
	if prompt == "" || !fromTerminal(c.in) {
		piped, err := io.ReadAll(io.LimitReader(c.in, 8<<20))
		if err != nil {
			return err
		}
		prompt = strings.TrimSpace(prompt + "\n\n" + string(piped))
	}
	if prompt == "" {
		return usageError{errors.New("there is no prompt: give one as an argument or on standard input")}
	}
	_, err := c.ask(ctx, append(c.opening(), inference.Message{Role: inference.User, Parts: []inference.Part{{Text: prompt}}}))
	return err
}

// open makes the client of the model.
func (c *chatCommand) open() (err error) {
	c.engine, err = openai.New(inference.Upstream{
		Name: "presswork", Kind: inference.Plain, BaseURL: strings.TrimRight(c.server, "/") + "/v1", APIKey: c.key, Model: c.model,
	})
	if err != nil {
		return usageError{fmt.Errorf("--server: %w", err)}
	}
	return nil
}

// fromTerminal reports whether a person types the input.
func fromTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && isTerminal(f)
}

func (c *chatCommand) opening() []inference.Message {
	if c.system == "" {
		return nil
	}
	return []inference.Message{{Role: inference.System, Parts: []inference.Part{{Text: c.system}}}}
}

// talk is a conversation.
func (c *chatCommand) talk(ctx context.Context) error {
	fmt.Fprintf(c.stderr, "Talking to %s. An empty line ends it.\n", c.model)
	messages := c.opening()
	lines := bufio.NewScanner(c.in)
	lines.Buffer(nil, 1<<20)
	for {
		fmt.Fprint(c.stderr, "\n› ")
		if !lines.Scan() || strings.TrimSpace(lines.Text()) == "" {
			return lines.Err()
		}
		messages = append(messages, inference.Message{Role: inference.User, Parts: []inference.Part{{Text: lines.Text()}}})
		answer, err := c.ask(ctx, messages)
		if err != nil {
			return err
		}
		messages = append(messages, inference.Message{Role: inference.Assistant, Parts: []inference.Part{{Text: answer}}})
	}
}

// ask prints an answer as it comes, and returns it.
func (c *chatCommand) ask(ctx context.Context, messages []inference.Message) (string, error) {
	request := &inference.Request{
		Model: c.model, Messages: messages, Stream: true, IncludeUsage: true, ServiceTier: "auto", ReasoningEffort: c.effort,
		ReasoningFormat: inference.Hidden, IncludeReasoning: true, Admitted: true,
	}
	if c.reasoning {
		request.ReasoningFormat = inference.Parsed
	}
	var answer strings.Builder
	// What a model says is not to be trusted with the terminal.
	out, aside := plainText{c.stdout}, plainText{c.stderr}
	model := &inference.Model{ID: c.model, Capabilities: inference.Capabilities()}
	err := c.engine.Complete(ctx, request, model, func(d *inference.Delta) error {
		if c.reasoning && d.Reasoning != "" {
			if _, err := io.WriteString(aside, d.Reasoning); err != nil {
				return err
			}
		}
		answer.WriteString(d.Content)
		_, err := io.WriteString(out, d.Content)
		return err
	})
	if answer.Len() > 0 && !strings.HasSuffix(answer.String(), "\n") {
		fmt.Fprintln(c.stdout)
	}
	return answer.String(), serverSaid(err)
}

// serverSaid shortens a failure of the server to what it said.
func serverSaid(err error) error {
	if err == nil || presswork.CodeOf(err) == presswork.Internal {
		return err
	}
	return errors.New(inference.AsError(err).Message)
}

// plainText drops control characters other than tabs and line breaks.
type plainText struct{ w io.Writer }

// Write implements io.Writer.
func (p plainText) Write(b []byte) (int, error) {
	kept := strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, string(b))
	_, err := io.WriteString(p.w, kept)
	return len(b), err
}
