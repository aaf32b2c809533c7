package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"presswork"
	"presswork/internal/terminal"
	"presswork/tasks"
)

// topCommand is one run of `presswork top`.
type topCommand struct {
	*program
	server, key string
	interval    time.Duration
	asJSON      bool
}

func newTopCommand(p *program) *cobra.Command {
	c := &topCommand{program: p}
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Show the queues, workers and jobs of a running Presswork",
		Long: "Show the queues, workers and newest jobs of a running server, and again every few seconds until Ctrl-C.\n" +
			"Where the output is no terminal, and with --json, they are printed once. The page /admin of the server\n" +
			"shows more.",
		Example: "  presswork top --server http://10.0.0.5:8000\n  presswork top --json | jq '.queues[] | select(.waiting > 0)'",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context()) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&c.server, "server", "http://127.0.0.1:8000", "`ADDRESS` of the server")
	f.StringVar(&c.key, "key", "", "an admin's API `KEY` (default PRESSWORK_API_KEY)")
	f.DurationVar(&c.interval, "interval", 2*time.Second, "`TIME` between two looks, at least 500ms")
	f.BoolVar(&c.asJSON, "json", false, "print one look as JSON")

	return cmd
}

// look is what the server says of itself, and the form of --json.
type look struct {
	At    time.Time `json:"at"`
	Open  int64     `json:"open"`
	Dead  int64     `json:"dead"`
	Queue []struct {
		Name              string  `json:"name"`
		Waiting           int64   `json:"waiting"`
		Running           int64   `json:"running"`
		Retrying          int64   `json:"retrying"`
		Paused            bool    `json:"paused"`
		OldestSeconds     float64 `json:"oldest_seconds"`
		OldestOpenSeconds float64 `json:"oldest_open_seconds"`
		DoneToday         int64   `json:"done_today"`
		FailedToday       int64   `json:"failed_today"`
	} `json:"queues"`
	Workers []tasks.Worker `json:"workers"`
	Jobs    []topJob       `json:"jobs"`
}

type topJob struct {
	presswork.Job
	Key      string   `json:"key"`
	Filename string   `json:"filename"`
	Workers  []string `json:"workers"`
}

// topJobs is how many jobs are shown.
const topJobs = 15

func (c *topCommand) run(ctx context.Context) error {
	if c.key == "" {
		c.key = c.getenv("PRESSWORK_API_KEY")
	}

	if _, err := serverAddress(c.server); err != nil {
		return usageError{fmt.Errorf("--server: %w", err)}
	}

	if c.interval < 500*time.Millisecond {
		return usageError{fmt.Errorf("--interval is %s; allowed: 500ms or more", c.interval)}
	}

	now, err := c.look(ctx)
	switch {
	case err != nil:
		return err
	case c.asJSON:
		return c.encode(now)
	case !c.live(c.stdout):
		return now.write(c.stdout)
	}

	return c.follow(ctx, now)
}

// follow redraws the terminal until ctx ends, on a screen of its own, so that what
// was there before is there again after.
func (c *topCommand) follow(ctx context.Context, now look) error {
	fmt.Fprint(c.stdout, "\x1b[?1049h\x1b[?25l")
	defer fmt.Fprint(c.stdout, "\x1b[?25h\x1b[?1049l")

	tick := time.NewTicker(c.interval)
	defer tick.Stop()

	trouble := ""
	for {
		if err := c.draw(now, trouble); err != nil {
			return err
		}

		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}

		next, err := c.look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			trouble = err.Error()
		default:
			now, trouble = next, ""
		}
	}
}

// draw writes what fits on the screen.
func (c *topCommand) draw(now look, trouble string) error {
	var text strings.Builder
	if err := now.write(&text); err != nil {
		return err
	}

	lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
	if trouble != "" {
		lines = append([]string{trouble + " (what follows is old)"}, lines...)
	}
	width, height := terminal.Columns(c.getenv, c.stdout), terminal.Rows(c.stdout)
	var screen strings.Builder
	screen.WriteString("\x1b[H")

	for i, line := range lines[:min(len(lines), height-1)] {
		if i > 0 {
			screen.WriteString("\n")
		}
		runes := []rune(line)
		screen.WriteString(string(runes[:min(len(runes), width)]) + "\x1b[K")
	}
	screen.WriteString("\x1b[J")
	_, err := io.WriteString(c.stdout, screen.String())

	return err
}

// look asks the server.
func (c *topCommand) look(ctx context.Context) (now look, err error) {
	var jobs struct {
		Data []topJob `json:"data"`
	}

	if err := c.get(ctx, "/admin/api/fleet", &now); err != nil {
		return now, err
	}

	if err := c.get(ctx, fmt.Sprintf("/admin/api/jobs?limit=%d", topJobs), &jobs); err != nil {
		return now, err
	}
	now.Jobs = jobs.Data
	// Addresses of artifacts carry tokens, which have no place in a report.
	for _, j := range now.Jobs {
		if j.Artifact != nil {
			j.Artifact.URL, _, _ = strings.Cut(j.Artifact.URL, "?")
		}
	}

	return now, nil
}

// topTimeout bounds one question, maxLook its answer in bytes.
const (
	topTimeout = 10 * time.Second
	maxLook    = 16 << 20
)

func (c *topCommand) get(ctx context.Context, path string, into any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, topTimeout,
		fmt.Errorf("the server did not answer within %s", topTimeout))
	defer cancel()

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(c.server, "/")+path, nil)
	if err != nil {
		return usageError{fmt.Errorf("--server: %w", err)}
	}

	if c.key != "" {
		req.Header.Set("X-API-Key", c.key)
	}

	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("no server answers at %s: %w", req.URL.Redacted(), errors.Unwrap(err))
	}
	defer res.Body.Close()

	body, err := io.ReadAll(io.LimitReader(res.Body, maxLook))
	if err != nil {
		return err
	}

	if res.StatusCode != http.StatusOK {
		var refusal struct {
			Error struct{ Message string }
		}
		if json.Unmarshal(body, &refusal) != nil || refusal.Error.Message == "" {
			refusal.Error.Message = res.Status
		}

		return fmt.Errorf("%s: %s (an admin's key goes in --key or PRESSWORK_API_KEY)", req.URL.Redacted(),
			terminal.Printable(refusal.Error.Message))
	}

	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s does not answer as Presswork does: %w", req.URL.Redacted(), err)
	}

	return nil
}

// write prints the look as tables.
func (l look) write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "presswork  %s  %d open, %s, %s\n\n", l.At.Local().Format(time.DateTime), l.Open,
		terminal.Count(int(l.Dead), "dead letter"), terminal.Count(len(l.Workers), "worker"))
	fmt.Fprintln(t, "QUEUE\tWAITING\tRUNNING\tRETRYING\tOLDEST\tOLDEST OPEN\tTODAY\tFAILED")

	for _, q := range l.Queue {
		name := q.Name
		if q.Paused {
			name += " (paused)"
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%s\t%s\t%d\t%d\n", terminal.Printable(name), q.Waiting, q.Running, q.Retrying,
			orDash(q.OldestSeconds), orDash(q.OldestOpenSeconds), q.DoneToday, q.FailedToday)
	}
	fmt.Fprintln(t, "\nWORKER\tUP\tRUNNING\tSLOTS\tMEMORY\tBROWSER\tPRINTS\tAT")

	for _, wk := range l.Workers {
		running := 0
		for _, n := range wk.Running {
			running += n
		}
		browser, prints, at := "-", "-", "-"

		for _, b := range wk.Browsers {
			if b.Use == "documents" && !b.Since.IsZero() {
				browser, prints = fmt.Sprintf("%s, %d MiB", age(l.At.Sub(b.Since)), b.MemoryBytes>>20), fmt.Sprint(
					b.Prints,
				)
			}
		}

		if len(wk.Runs) > 0 {
			at = wk.Runs[0].ID + " " + age(l.At.Sub(wk.Runs[0].Since))
		}
		fmt.Fprintf(
			t,
			"%s\t%s\t%d\t%d\t%d MiB\t%s\t%s\t%s\n",
			terminal.Printable(wk.Name),
			age(l.At.Sub(wk.Started)),
			running,
			wk.Slots,
			wk.MemoryBytes>>20,
			browser,
			prints,
			terminal.Printable(at),
		)
	}
	fmt.Fprintln(t, "\nJOB\tSTATUS\tPROGRESS\tAGE\tTOOK\tPAGES\tKEY\tWORKER\tNAME")

	for _, j := range l.Jobs {
		end, pages, worker, name := l.At, "-", "-", j.Filename
		if j.FinishedAt != nil {
			end = *j.FinishedAt
		}

		if j.Artifact != nil {
			pages = fmt.Sprint(j.Artifact.Pages)
		}

		if len(j.Workers) > 0 {
			worker = j.Workers[len(j.Workers)-1]
		}

		if j.Error != nil {
			name += " " + string(j.Error.Code)
		}
		fmt.Fprintf(
			t,
			"%s\t%s\t%d %%\t%s\t%s\t%s\t%s\t%s\t%s\n",
			j.ID,
			j.Status,
			j.Progress,
			age(
				l.At.Sub(j.CreatedAt),
			),
			age(end.Sub(j.CreatedAt)),
			pages,
			terminal.Printable(terminal.Dash(j.Key)),
			terminal.Printable(worker),
			terminal.Printable(strings.TrimSpace(name)),
		)
	}

	return t.Flush()
}

func orDash(seconds float64) string {
	if seconds == 0 {
		return "-"
	}

	return age(time.Duration(seconds * float64(time.Second)))
}

// age is a time as it is shown in tables.
func age(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}

	return fmt.Sprintf("%d d", int(d.Hours()/24))
}
