// Package models has the commands that use models and the tools of models. models, search, fetch and run-python work
// on this machine with models.yaml and the settings. chat and transcribe talk to a running server through package
// client. mcp offers the tools of Presswork to AI clients over standard input and output.
package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"presswork/cmd/presswork/command"
	"presswork/internal/app"
	"presswork/internal/terminal"
)

// Commands returns the commands.
func Commands(p *command.Program) []*cobra.Command {
	return []*cobra.Command{
		newModelsCommand(p),
		newChatCommand(p),
		newTranscribeCommand(p),
		newSearchCommand(p),
		newFetchCommand(p),
		newRunPythonCommand(p),
		newMCPCommand(p),
	}
}

func newModelsCommand(p *command.Program) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "models",
		Short: "List the models that completions can use",
		Long: "List the models of INFERENCE_CONFIG (models.yaml). Without that file, list the models that an Ollama or\n" +
			"llama-server on this machine offers.",
		Args: command.Known,
		RunE: func(cmd *cobra.Command, _ []string) error { return listModels(cmd.Context(), p, asJSON) },
	}
	cmd.PersistentFlags().BoolVar(&asJSON, "json", false, "print JSON")
	check := &cobra.Command{
		Use:   "check [MODEL…]",
		Short: "Ask every upstream which models it serves",
		RunE:  func(cmd *cobra.Command, args []string) error { return checkModels(cmd.Context(), p, args, asJSON) },
	}
	explain := &cobra.Command{
		Use:   "explain MODEL",
		Short: "Show the upstreams of a model and its limits",
		Args:  oneModel,
		RunE:  func(cmd *cobra.Command, args []string) error { return explainModel(cmd.Context(), p, args[0], asJSON) },
	}
	pull := &cobra.Command{
		Use:     "pull MODEL",
		Short:   "Download a model with the Ollama on this machine",
		Example: "  presswork models pull gemma3:1b",
		Args:    oneModel,
		RunE:    func(cmd *cobra.Command, args []string) error { return pullModel(cmd.Context(), p, args[0]) },
	}
	cmd.AddCommand(check, explain, pull)

	return cmd
}

// oneModel requires exactly one argument, the name of a model.
func oneModel(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return command.Usage(fmt.Errorf("name one model: %s NAME; `presswork models` lists them", cmd.CommandPath()))
	}

	return nil
}

// noModels explains how to install a model.
const noModels = "no models were found: start Ollama on this machine (`presswork models pull gemma3:1b` downloads a\n" +
	"small model), or write a models.yaml:\n\n" +
	"  models:\n    - id: my-model\n      upstreams: [{base_url: http://127.0.0.1:8080/v1}]\n"

// listModels prints the models of models.yaml, or of the engines on this machine.
func listModels(ctx context.Context, p *command.Program, asJSON bool) error {
	cfg, err := p.Config()
	if err != nil {
		return err
	}

	c, err := app.Models(ctx, cfg)
	if err != nil {
		return err
	}

	if asJSON {
		_, err := fmt.Fprintf(p.Stdout, "%s\n", app.ModelsJSON(c))
		return err
	}

	if len(c.Models()) == 0 {
		fmt.Fprint(p.Stderr, noModels)
		return nil
	}

	return p.Table("MODEL\tALIASES\tCAN\tCONTEXT\tUPSTREAMS", func(w io.Writer) {
		for _, m := range c.Models() {
			var upstreams []string
			for _, u := range m.Upstreams {
				upstreams = append(upstreams, u.Name)
			}
			fmt.Fprintf(
				w,
				"%s\t%s\t%s\t%s\t%s\n",
				m.ID,
				terminal.Dash(strings.Join(m.Aliases, ", ")),
				strings.Join(m.Capabilities, ", "),
				terminal.Dash(tokens(m.ContextWindow)),
				strings.Join(upstreams, ", "),
			)
		}
	})
}

// tokens formats a limit. It returns "" for 0, which means that the limit is unknown or absent.
func tokens(n int) string {
	if n == 0 {
		return ""
	}

	return fmt.Sprint(n)
}

// checkModels asks the upstreams of the named models, or of all. It returns an error if one of them does not serve
// its model.
func checkModels(ctx context.Context, p *command.Program, names []string, asJSON bool) error {
	cfg, err := p.Config()
	if err != nil {
		return err
	}

	found, err := app.CheckModels(ctx, cfg, names)
	if err != nil {
		return err
	}

	if len(found) == 0 && !asJSON {
		fmt.Fprint(p.Stderr, noModels)
		return nil
	}
	failed := 0

	for _, s := range found {
		// OK means that the server answers; it may still not have the model.
		if !s.OK || !s.Served {
			failed++
		}
	}

	if asJSON {
		err = json.NewEncoder(p.Stdout).Encode(found)
	} else {
		err = p.Table("MODEL\tUPSTREAM\tADDRESS\tSTATE\tTIME", func(w io.Writer) {
			for _, s := range found {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", s.Model, s.Upstream, s.BaseURL, app.UpstreamState(s),
					s.Latency.Round(time.Millisecond))
			}
		})
	}

	if err == nil && failed > 0 {
		err = fmt.Errorf("%d of %d upstreams do not serve their model", failed, len(found))
	}

	return err
}

// explainModel prints the settings of a model, and the share of its requests that each upstream gets.
func explainModel(ctx context.Context, p *command.Program, name string, asJSON bool) error {
	cfg, err := p.Config()
	if err != nil {
		return err
	}

	m, upstreams, err := app.ExplainModel(ctx, cfg, name)
	if err != nil {
		return err
	}

	if asJSON {
		return json.NewEncoder(p.Stdout).Encode(upstreams)
	}
	fmt.Fprintf(p.Stdout, "%s: %s; context %s tokens, longest answer %s\n", m.ID, strings.Join(m.Capabilities, ", "),
		terminal.Dash(tokens(m.ContextWindow)), terminal.Dash(tokens(m.MaxCompletionTokens)))
	fmt.Fprintf(p.Stdout, "reasoning parser %q; time-out %s for the first token, %s for each later one\n\n",
		m.Reasoning.Parser, m.Routing.FirstTokenTimeout, m.Routing.IdleTimeout)

	return p.Table("PRIORITY\tSHARE\tUPSTREAM\tKIND\tADDRESS\tUPSTREAM MODEL\tCONCURRENCY", func(w io.Writer) {
		for _, s := range upstreams {
			fmt.Fprintf(w, "%d\t%.0f %%\t%s\t%s\t%s\t%s\t%s\n", s.Priority, 100*s.Share, s.Upstream, s.Kind, s.BaseURL,
				s.Name, terminal.Dash(tokens(s.MaxConcurrency)))
		}
	})
}

// pullModel downloads a model and shows the progress.
func pullModel(ctx context.Context, p *command.Program, name string) error {
	draw := pullProgress(p)
	err := app.PullModel(ctx, name, draw)

	if p.Live(p.Stderr) {
		fmt.Fprintln(p.Stderr)
	}

	if err == nil {
		fmt.Fprintf(p.Stderr, "%s is installed; completions can use it now\n", name)
		return nil
	}

	if _, missing := exec.LookPath("ollama"); missing != nil {
		return errors.Join(err, errors.New("ollama is not installed here; see https://ollama.com/download"))
	}

	return err
}

// pullProgress draws a bar on a terminal. Elsewhere it prints one line per step.
func pullProgress(p *command.Program) func(status string, done, total int64) {
	last := ""

	return func(status string, done, total int64) {
		if p.Live(p.Stderr) {
			fmt.Fprintf(p.Stderr, "\r\x1b[K%s", pullLine(status, done, total))
			return
		}

		if status != last {
			fmt.Fprintln(p.Stderr, terminal.Printable(status))
		}
		last = status
	}
}

// pullLine formats a step and its bar. The server reports the byte counts.
func pullLine(status string, done, total int64) string {
	line := terminal.Printable(status)
	if total <= 0 {
		return line
	}
	share := float64(done) / float64(total)

	return fmt.Sprintf("%s %s %5.1f of %.1f MB", line, terminal.Bar(share), float64(done)/1e6, float64(total)/1e6)
}
