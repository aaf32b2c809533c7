package models

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"presswork/cmd/presswork/command"
	"presswork/internal/client"
	"presswork/internal/local"
	"presswork/internal/terminal"
)

// chatCommand holds the flags of `presswork chat`.
type chatCommand struct {
	*command.Program
	server command.ServerFlags
	client.ChatOptions
	images []string
	in     io.Reader
}

func newChatCommand(p *command.Program) *cobra.Command {
	c := &chatCommand{Program: p}
	cmd := &cobra.Command{
		Use:   "chat [PROMPT…]",
		Short: "Talk to a model through a running Presswork",
		Long: "Send a prompt to a server and print the answer as it arrives. Without a prompt, the command reads\n" +
			"standard input. On a terminal it starts a conversation; an empty line or the end of input ends it.",
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
	f.StringVar(&c.API, "api", client.ChatAPIs()[0], "wire `FORMAT` of the conversation: chat, responses, messages")
	f.StringVarP(&c.Model, "model", "m", "", "`NAME` of the model (default: the first that the server lists)")
	f.StringVar(&c.System, "system", "", "`TEXT` that tells the model how to behave")
	f.StringVar(&c.Effort, "effort", "", "`LEVEL` of reasoning, if the model supports it: none, low, medium, high")
	f.BoolVar(&c.Reasoning, "reasoning", false, "print the reasoning as well, on standard error")
	f.StringSliceVar(&c.Tools, "tools", nil,
		"let the model use the built-in tools in `LIST`: code, search; their calls are printed on standard error")
	f.StringArrayVar(&c.images, "image", nil,
		"send the picture in `FILE`, or at an address, with the first prompt; repeatable")
	c.server.Add(f)

	return cmd
}

// maxPrompt is the largest input read from a pipe, in bytes. No model accepts more.
const maxPrompt = 8 << 20

// run sends the prompt and prints the answer. Without a prompt on a terminal it starts a conversation.
func (c *chatCommand) run(ctx context.Context, prompt string) error {
	server, err := c.server.Open(c.Getenv)
	if err != nil {
		return err
	}

	if !slices.Contains(client.ChatAPIs(), c.API) {
		return command.Usage(fmt.Errorf("--api: %q is not a wire format; allowed: %s", c.API,
			strings.Join(client.ChatAPIs(), ", ")))
	}

	for _, name := range c.Tools {
		if !slices.Contains(client.ChatTools(), name) {
			return command.Usage(fmt.Errorf("--tools: %q is not a tool; allowed: %s", name,
				strings.Join(client.ChatTools(), ", ")))
		}
	}

	var pictures []client.Picture

	for _, name := range c.images {
		picture, err := client.ReadPicture(name)
		if err != nil {
			return err
		}
		pictures = append(pictures, picture)
	}

	if !terminal.Is(c.in) {
		if prompt, err = c.addInput(ctx, prompt); err != nil {
			return err
		}
	}
	// Remove escape sequences: an answer must not control the terminal.
	c.Out, c.Aside = terminal.Plain(c.Stdout), terminal.Plain(c.Stderr)

	chat, err := server.Chat(ctx, c.ChatOptions)
	switch {
	case err != nil:
		return err
	case prompt == "":
		return c.talk(ctx, chat, pictures)
	}

	return chat.Ask(ctx, prompt, pictures...)
}

// addInput appends standard input to the prompt.
func (c *chatCommand) addInput(ctx context.Context, prompt string) (string, error) {
	piped, err := io.ReadAll(io.LimitReader(unlessEnded{ctx, c.in}, maxPrompt+1))
	if err != nil {
		return "", err
	}

	if len(piped) > maxPrompt {
		return "", command.Usage(fmt.Errorf("standard input is larger than %d MB", maxPrompt>>20))
	}

	prompt = strings.TrimSpace(prompt + "\n\n" + string(piped))
	if prompt == "" {
		return "", command.Usage(errors.New("the prompt is missing: pass one as an argument or on standard input"))
	}

	return prompt, nil
}

// talk sends each line typed as a message of one conversation. The first message carries the pictures.
func (c *chatCommand) talk(ctx context.Context, chat *client.Chat, pictures []client.Picture) error {
	fmt.Fprintf(c.Stderr, "Talking to %s. An empty line ends it.\n", terminal.Printable(chat.Model()))
	lines := bufio.NewScanner(unlessEnded{ctx, c.in})
	lines.Buffer(nil, 1<<20)

	for {
		fmt.Fprint(c.Stderr, "\n› ")

		if !lines.Scan() || strings.TrimSpace(lines.Text()) == "" {
			return lines.Err()
		}

		if err := chat.Ask(ctx, lines.Text(), pictures...); err != nil {
			return err
		}
		pictures = nil
	}
}

// unlessEnded stops waiting for a reader when its context ends. Input that arrives after that is lost.
type unlessEnded struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader. It returns the context's error as soon as the context ends.
func (u unlessEnded) Read(b []byte) (int, error) {
	read, err := local.Waiting(u.ctx, func() ([]byte, error) {
		// This function may still run when Read has returned, so it must not write to b.
		own := make([]byte, len(b))
		n, err := u.r.Read(own)

		return own[:n], err
	})

	return copy(b, read), err
}
