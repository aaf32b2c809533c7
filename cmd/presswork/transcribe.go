package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"presswork"
	"presswork/internal/inference"
	"presswork/internal/inference/audio"
	"presswork/internal/input"
	"presswork/internal/local"
)

// transcribeCommand is one run of `presswork transcribe`.
type transcribeCommand struct {
	*program
	server, key, model, language, prompt, format, output string
	translate                                            bool

	base string
	// address is server without a password.
	address string
	client  *http.Client
}

func newTranscribeCommand(p *program) *cobra.Command {
	c := &transcribeCommand{program: p, client: &http.Client{}}
	cmd := &cobra.Command{
		Use:   "transcribe FILE",
		Short: "Write down what a recording says, through a running Presswork",
		Long: "Send a recording to a server and print the transcript. On a terminal a bar shows how much of a long one is done.\n" +
			"An interruption cancels the work.",
		Example: "  presswork transcribe meeting.m4a --format srt -o meeting.srt\n" +
			"  presswork transcribe --translate --language de interview.mp3",
		Args: exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args[0]) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&c.format, "format", audio.Text, "`FORMAT` of the transcript: "+strings.Join(audio.ResponseFormats(), ", "))
	f.StringVarP(&c.output, "output", "o", "", "`FILE` to write to (default: standard output)")
	f.StringVarP(&c.model, "model", "m", "", "`NAME` of the model (default: the first that transcribes)")
	f.StringVar(&c.language, "language", "", "`CODE` of what is spoken, such as en (default: the model finds out)")
	f.StringVar(&c.prompt, "prompt", "", "`TEXT` that came before, or how names are spelled")
	f.BoolVar(&c.translate, "translate", false, "write the text in English")
	f.StringVar(&c.server, "server", "http://127.0.0.1:8000", "`ADDRESS` of the server")
	f.StringVar(&c.key, "key", "", "API `KEY` (default PRESSWORK_API_KEY)")
	completeValues(cmd, map[string][]string{"format": audio.ResponseFormats()})
	return cmd
}

func (c *transcribeCommand) run(ctx context.Context, path string) error {
	if c.key == "" {
		c.key = c.getenv("PRESSWORK_API_KEY")
	}
	u, err := serverAddress(c.server)
	if err != nil {
		return usageError{fmt.Errorf("--server: %w", err)}
	}
	if !slices.Contains(audio.ResponseFormats(), c.format) {
		return usageError{fmt.Errorf("--format: %q is not a format%s; allowed: %s", c.format,
			input.DidYouMean(c.format, audio.ResponseFormats()), strings.Join(audio.ResponseFormats(), ", "))}
	}
	c.address = u.Redacted()
	c.base = strings.TrimSuffix(strings.TrimRight(c.server, "/"), "/v1")
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := errors.Join(noFolder(path), c.takesOutput()); err != nil {
		return err
	}
	if c.model == "" {
		if c.model, err = c.firstModel(ctx); err != nil {
			return err
		}
	}
	job, err := c.submit(ctx, file)
	if err != nil {
		return err
	}
	if job, err = c.follow(ctx, job); err != nil {
		return err
	}
	return c.deliver(ctx, job)
}

// firstModel is the first that the server lists for transcriptions.
func (c *transcribeCommand) firstModel(ctx context.Context) (string, error) {
	var list struct {
		Data []struct {
			ID           string   `json:"id"`
			Capabilities []string `json:"capabilities"`
		} `json:"data"`
	}
	if err := c.ask(ctx, http.MethodGet, "/v1/models", "", nil, &list); err != nil {
		return "", err
	}
	for _, m := range list.Data {
		if slices.Contains(m.Capabilities, inference.CanTranscribe) {
			return m.ID, nil
		}
	}
	return "", fmt.Errorf("%s: no model has the capability %s; docs/inference.md says how to name one", c.address, inference.CanTranscribe)
}

// submit sends the recording, without holding it in memory. Once all of it is sent its
// job may run: who interrupts waits a moment for its id, so that it can be cancelled.
func (c *transcribeCommand) submit(ctx context.Context, file *os.File) (presswork.Job, error) {
	asking, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	sent := make(chan struct{})
	defer context.AfterFunc(ctx, func() {
		select {
		case <-sent:
			time.AfterFunc(cancelTimeout, stop)
		default:
			stop()
		}
	})()
	body, into := io.Pipe()
	form := multipart.NewWriter(into)
	go func() {
		fields := [][2]string{{"model", c.model}, {"response_format", c.format}, {"language", c.language}, {"prompt", c.prompt}}
		var err error
		for _, f := range fields {
			if f[1] != "" && err == nil {
				err = form.WriteField(f[0], f[1])
			}
		}
		var part io.Writer
		if err == nil {
			part, err = form.CreateFormFile("file", filepath.Base(file.Name()))
		}
		if err == nil {
			_, err = io.Copy(part, file)
		}
		if err = errors.Join(err, form.Close()); err == nil {
			close(sent)
		}
		into.CloseWithError(err)
	}()
	defer body.Close()
	path := "/v1/audio/transcriptions"
	if c.translate {
		path = "/v1/audio/translations"
	}
	var job presswork.Job
	err := c.ask(asking, http.MethodPost, path, form.FormDataContentType(), body, &job)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return job, err
}

// follow waits for the end of the job; an interruption cancels it.
func (c *transcribeCommand) follow(ctx context.Context, job presswork.Job) (presswork.Job, error) {
	shown := c.live(c.stderr)
	id := job.ID
	for !job.Status.Terminal() {
		if shown {
			fmt.Fprintf(c.stderr, "\r\x1b[K%s %3d %%", bar(float64(job.Progress)/100), job.Progress)
		}
		tag := ""
		if job.Seq > 0 {
			tag = fmt.Sprintf(`"%s-%d"`, id, job.Seq)
		}
		now, err := c.await(ctx, id, tag)
		if ctx.Err() != nil {
			c.cancel(id)
			return job, context.Cause(ctx)
		}
		if err != nil {
			return job, err
		}
		job = now
	}
	if shown {
		fmt.Fprint(c.stderr, "\r\x1b[K")
	}
	switch {
	case job.Status == presswork.Completed:
		for _, w := range job.Warnings {
			fmt.Fprintf(plainText{c.stderr}, "presswork: %s\n", w.Message)
		}
		return job, nil
	case job.Error != nil:
		return job, fmt.Errorf("%s: %s", c.address, job.Error.Message)
	}
	return job, fmt.Errorf("%s: the job was cancelled", c.address)
}

// await returns the job at its next event.
func (c *transcribeCommand) await(ctx context.Context, id, tag string) (job presswork.Job, err error) {
	for {
		req, err := c.request(ctx, http.MethodGet, "/api/conversion/"+id+"?wait=30s", nil)
		if err != nil {
			return job, err
		}
		if tag != "" {
			req.Header.Set("If-None-Match", tag)
		}
		res, err := c.client.Do(req)
		if err != nil {
			return job, c.unreachable(err)
		}
		if res.StatusCode != http.StatusNotModified {
			defer res.Body.Close()
			return job, c.read(res, &job)
		}
		res.Body.Close()
	}
}

// cancelTimeout bounds the cancellation of a job whose caller was interrupted, and
// before that the wait for its id.
const cancelTimeout = 3 * time.Second

func (c *transcribeCommand) cancel(id string) {
	ctx, stop := context.WithTimeout(context.Background(), cancelTimeout)
	defer stop()
	// The server finishes what it does not hear of, and deletes it in time.
	_ = c.ask(ctx, http.MethodDelete, "/api/conversion/"+id, "", nil, nil)
}

// deliver prints the transcript, or writes it into a file as a whole.
func (c *transcribeCommand) deliver(ctx context.Context, job presswork.Job) error {
	req, err := c.request(ctx, http.MethodGet, "/api/artifacts/"+job.ID+"/download", nil)
	if err != nil {
		return err
	}
	res, err := c.client.Do(req)
	if err != nil {
		return c.unreachable(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return c.refused(res)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return c.unreachable(err)
	}
	if c.output == "" {
		_, err := plainText{c.stdout}.Write(text)
		return err
	}
	if err := local.WriteFile(ctx, c.output, text); err != nil {
		return errors.New(local.Message(err))
	}
	return nil
}

// takesOutput says before the work, which may take an hour, that there is no place
// for its result.
func (c *transcribeCommand) takesOutput() error {
	if c.output == "" {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(c.output)); err != nil || !info.IsDir() {
		return fmt.Errorf("-o %s: there is no folder %s", c.output, filepath.Dir(c.output))
	}
	if info, err := os.Stat(c.output); err == nil && info.IsDir() {
		return fmt.Errorf("-o %s: it is a folder; name a file in it", c.output)
	}
	return nil
}

func noFolder(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s: it is a folder; name a recording in it", path)
	}
	return nil
}

func (c *transcribeCommand) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err == nil && c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	return req, err
}

// ask sends a request and decodes the answer, unless into is nil.
func (c *transcribeCommand) ask(ctx context.Context, method, path, contentType string, body io.Reader, into any) error {
	req, err := c.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
		req.Header.Set("Prefer", "respond-async")
	}
	res, err := c.client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return c.unreachable(err)
	}
	defer res.Body.Close()
	return c.read(res, into)
}

// maxAnswer is how much is read of an answer other than the transcript, in bytes.
const maxAnswer = 8 << 20

func (c *transcribeCommand) read(res *http.Response, into any) error {
	if res.StatusCode >= http.StatusBadRequest {
		return c.refused(res)
	}
	if into == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(into); err != nil {
		return fmt.Errorf("%s is no Presswork: its answer cannot be read", c.address)
	}
	return nil
}

// refused is the message of an error body.
func (c *transcribeCommand) refused(res *http.Response) error {
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	var body struct {
		Error struct{ Message string }
	}
	if err != nil || json.Unmarshal(b, &body) != nil || body.Error.Message == "" {
		return fmt.Errorf("%s answered %d", c.address, res.StatusCode)
	}
	return fmt.Errorf("%s: %s", c.address, body.Error.Message)
}

func (c *transcribeCommand) unreachable(err error) error {
	return fmt.Errorf("%s does not answer: %w (`presswork serve` starts one on this machine)", c.address, unwrapURL(err))
}

// unwrapURL drops the address from an error of a request: it may hold a password.
func unwrapURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}
