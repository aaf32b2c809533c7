package models

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"presswork/cmd/presswork/command"
	"presswork/internal/client"
	"presswork/internal/input"
	"presswork/internal/local"
	"presswork/internal/terminal"
)

// transcribeCommand holds the flags of `presswork transcribe`.
type transcribeCommand struct {
	*command.Program
	server command.ServerFlags
	client.TranscribeOptions
	output string
}

func newTranscribeCommand(p *command.Program) *cobra.Command {
	c := &transcribeCommand{Program: p}
	cmd := &cobra.Command{
		Use:   "transcribe FILE",
		Short: "Transcribe a recording through a running Presswork",
		Long: "Send a recording to a server and print the transcript. On a terminal a bar shows the progress.\n" +
			"Ctrl-C cancels the job.",
		Example: "  presswork transcribe meeting.m4a --format srt -o meeting.srt\n" +
			"  presswork transcribe --translate --language de interview.mp3",
		Args: command.Exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args[0]) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&c.Format, "format", client.DefaultTranscript,
		"`FORMAT` of the transcript: "+strings.Join(client.TranscriptFormats(), ", "))
	f.StringVarP(&c.output, "output", "o", "", "`FILE` to write to (default: standard output)")
	f.StringVarP(&c.Model, "model", "m", "", "`NAME` of the model (default: the first that transcribes)")
	f.StringVar(&c.Language, "language", "", "`CODE` of the spoken language, such as en (default: auto-detect)")
	f.StringVar(&c.Prompt, "prompt", "", "`TEXT` that was spoken before the recording, or names as they are spelled")
	f.BoolVar(&c.Translate, "translate", false, "translate the text to English")
	c.server.Add(f)
	command.CompleteValues(cmd, map[string][]string{"format": client.TranscriptFormats()})

	return cmd
}

// run sends the recording at path and writes the transcript.
func (c *transcribeCommand) run(ctx context.Context, path string) error {
	server, err := c.server.Open(c.Getenv)
	if err != nil {
		return err
	}

	if !slices.Contains(client.TranscriptFormats(), c.Format) {
		return command.Usage(fmt.Errorf("--format: %q is not a format%s; allowed: %s", c.Format,
			input.DidYouMean(c.Format, client.TranscriptFormats()), strings.Join(client.TranscriptFormats(), ", ")))
	}

	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()

	// Before the upload, which may take long.
	if err := errors.Join(checkRecording(path), c.checkOutput()); err != nil {
		return err
	}

	c.Progress = c.bar()
	text, warnings, err := server.Transcribe(ctx, c.TranscribeOptions, file)

	for _, w := range warnings {
		fmt.Fprintf(terminal.Plain(c.Stderr), "presswork: %s\n", w.Message)
	}

	switch {
	case err != nil:
		return err
	case c.output == "":
		_, err := terminal.Plain(c.Stdout).Write(text)
		return err
	}

	if err := local.WriteFile(ctx, c.output, text); err != nil {
		return errors.New(local.Message(err))
	}

	return nil
}

// bar returns a function that draws a progress bar and removes it at the end. It returns nil if standard error is
// not a terminal.
func (c *transcribeCommand) bar() func(percent int, ended bool) {
	if !c.Live(c.Stderr) {
		return nil
	}

	return func(percent int, ended bool) {
		fmt.Fprint(c.Stderr, "\r\x1b[K")

		if !ended {
			fmt.Fprintf(c.Stderr, "%s %3d %%", terminal.Bar(float64(percent)/100), percent)
		}
	}
}

// checkOutput checks that the output can be written, before work that may take an hour.
func (c *transcribeCommand) checkOutput() error {
	if c.output == "" {
		return nil
	}

	if info, err := os.Stat(filepath.Dir(c.output)); err != nil || !info.IsDir() {
		return fmt.Errorf("-o %s: the folder %s does not exist", c.output, filepath.Dir(c.output))
	}

	if info, err := os.Stat(c.output); err == nil && info.IsDir() {
		return fmt.Errorf("-o %s: it is a folder; name a file in it", c.output)
	}

	return nil
}

// checkRecording returns an error if the path is a folder.
func checkRecording(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s: it is a folder; name a recording in it", path)
	}

	return nil
}
