package client

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"presswork/internal/terminal"
	"presswork/tasks"
)

// Write prints the queues, the workers and the jobs as tables. Errors: those of w.
func (f Fleet) Write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "presswork  %s  %d open, %s, %s\n\n", f.At.Local().Format(time.DateTime), f.Open,
		terminal.Count(int(f.Dead), "dead letter"), terminal.Count(len(f.Workers), "worker"))
	fmt.Fprintln(t, "QUEUE\tWAITING\tRUNNING\tRETRYING\tOLDEST\tOLDEST OPEN\tTODAY\tFAILED")

	for _, q := range f.Queues {
		name := q.Name
		if q.Paused {
			name += " (paused)"
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%s\t%s\t%d\t%d\n", terminal.Printable(name), q.Waiting, q.Running, q.Retrying,
			seconds(q.OldestSeconds), seconds(q.OldestOpenSeconds), q.DoneToday, q.FailedToday)
	}
	fmt.Fprintln(t, "\nWORKER\tUP\tRUNNING\tSLOTS\tMEMORY\tBROWSER\tPRINTS\tAT")

	for _, worker := range f.Workers {
		writeWorker(t, worker, f.At)
	}
	fmt.Fprintln(t, "\nJOB\tSTATUS\tPROGRESS\tAGE\tTOOK\tPAGES\tKEY\tWORKER\tNAME")

	for _, job := range f.Jobs {
		writeJob(t, job, f.At)
	}

	return t.Flush()
}

// writeWorker writes the row of a worker. Its memory and prints are those of the browser for documents.
func writeWorker(t io.Writer, worker tasks.Worker, now time.Time) {
	running := 0
	for _, n := range worker.Running {
		running += n
	}
	browser, prints, at := "-", "-", "-"

	for _, b := range worker.Browsers {
		if b.Use == "documents" && !b.Since.IsZero() {
			browser = fmt.Sprintf("%s, %d MiB", age(now.Sub(b.Since)), b.MemoryBytes>>20)
			prints = fmt.Sprint(b.Prints)
		}
	}

	if len(worker.Runs) > 0 {
		at = worker.Runs[0].ID + " " + age(now.Sub(worker.Runs[0].Since))
	}
	fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d MiB\t%s\t%s\t%s\n", terminal.Printable(worker.Name),
		age(now.Sub(worker.Started)), running, worker.Slots, worker.MemoryBytes>>20, browser, prints,
		terminal.Printable(at))
}

// writeJob writes the row of a job. A running job's duration lasts until now.
func writeJob(t io.Writer, job Job, now time.Time) {
	end, pages, worker, name := now, "-", "-", job.Filename
	if job.FinishedAt != nil {
		end = *job.FinishedAt
	}

	if job.Artifact != nil {
		pages = fmt.Sprint(job.Artifact.Pages)
	}

	if len(job.Workers) > 0 {
		worker = job.Workers[len(job.Workers)-1]
	}

	if job.Error != nil {
		name += " " + string(job.Error.Code)
	}
	fmt.Fprintf(t, "%s\t%s\t%d %%\t%s\t%s\t%s\t%s\t%s\t%s\n", job.ID, job.Status, job.Progress,
		age(now.Sub(job.CreatedAt)), age(end.Sub(job.CreatedAt)), pages, terminal.Printable(terminal.Dash(job.Key)),
		terminal.Printable(worker), terminal.Printable(strings.TrimSpace(name)))
}

// seconds returns a time in seconds as an age, "-" for 0.
func seconds(n float64) string {
	if n == 0 {
		return "-"
	}

	return age(time.Duration(n * float64(time.Second)))
}

// age returns a time in its largest unit, such as "12 min".
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
