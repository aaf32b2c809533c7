package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"presswork/cmd/presswork/command"
	"presswork/internal/local"
	"presswork/internal/local/runlog"
	"presswork/internal/terminal"
)

func newTelemetryCommand(p *command.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "telemetry",
		Short: "Show how fast this machine converts, from a log that never leaves it",
		Long: "Show how fast this machine converts. md2pdf records each run in a small local file: its duration, pages,\n" +
			"bytes and cache hits. The file contains no names and no text of documents, and it never leaves this\n" +
			"machine. PRESSWORK_TELEMETRY=off turns it off.",
		Args: command.Known,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newTelemetryReportCommand(p), newTelemetryVisualizeCommand(p), newTelemetryClearCommand(p))

	return cmd
}

// runLog returns the user's run log. It returns a usage error when telemetry is off.
func runLog(p *command.Program) (*runlog.Log, error) {
	dir, err := runlog.Folder(p.Getenv)
	if err != nil {
		return nil, command.Usage(err)
	}

	if dir == "" {
		why := "HOME is not set"
		if p.Getenv("PRESSWORK_TELEMETRY") == "off" {
			why = "PRESSWORK_TELEMETRY is off"
		}

		return nil, command.Usage(errors.New("the run log is off: " + why))
	}

	return runlog.Open(dir), nil
}

// telemetryRuns returns the recorded runs and the number of unreadable lines.
func telemetryRuns(p *command.Program) ([]runlog.Run, int, error) {
	d, err := runLog(p)
	if err != nil {
		return nil, 0, err
	}

	return d.Runs()
}

func newTelemetryReportCommand(p *command.Program) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Print median, 95th percentile and trend of each metric, and the cache's hit rate",
		Args:  command.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			runs, skipped, err := telemetryRuns(p)
			if err != nil {
				return err
			}

			report := runlog.NewReport(runs, skipped)
			if asJSON {
				return p.Encode(report)
			}

			return printTelemetry(p, report)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")

	return cmd
}

// printTelemetry prints a report as a table.
func printTelemetry(p *command.Program, r runlog.Report) error {
	if r.Skipped > 0 {
		fmt.Fprintf(p.Stderr, "%s skipped: damaged or written by a newer version\n", terminal.Count(r.Skipped, "line"))
	}

	if r.Runs == 0 {
		_, err := fmt.Fprintln(p.Stdout, "no runs yet; every md2pdf adds one")
		return err
	}
	fmt.Fprintf(p.Stdout, "%s, %s, %d failed, %s\n", terminal.Count(r.Runs, "run"),
		terminal.Count(r.Documents, "document"), r.Failures, runlog.Span(r.From, r.To, "2 Jan 2006"))
	fmt.Fprintf(p.Stdout, "hit rate of the analysis cache: %.0f %%\n\n", 100*r.HitRate)
	w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "METRIC\tRUNS\tP50\tP95\tTREND\tMEANING")

	metrics := runlog.Metrics()
	for i, s := range r.Metrics {
		m := metrics[i]

		p50, p95 := "-", "-"
		if s.Runs > 0 {
			p50, p95 = m.Format(s.P50), m.Format(s.P95)
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\n", s.Metric, s.Runs, p50, p95, terminal.Dash(runlog.TrendText(s)),
			m.Title)
	}

	return w.Flush()
}

func newTelemetryVisualizeCommand(p *command.Program) *cobra.Command {
	var name, output string
	cmd := &cobra.Command{
		Use:   "visualize",
		Short: "Draw a metric over the runs, in the terminal or as a picture",
		Example: "  presswork telemetry visualize --metric=total_ms\n" +
			"  presswork telemetry visualize --metric=hit_rate -o chart.svg",
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			metric, err := runlog.MetricOf(name)
			if err != nil {
				return command.Usage(fmt.Errorf("--metric: %w", err))
			}

			ext := strings.ToLower(filepath.Ext(output))
			if output != "" && ext != ".svg" && ext != ".png" && ext != ".html" {
				return command.Usage(fmt.Errorf("-o %s: the name must end in .svg, .png or .html", output))
			}

			runs, _, err := telemetryRuns(p)
			switch {
			case err != nil:
				return err
			case output == "":
				_, err := fmt.Fprint(
					p.Stdout,
					runlog.Terminal(metric, runs, terminal.Columns(p.Getenv, p.Stdout), p.Painter() != nil),
				)

				return err
			}

			return writeChart(cmd.Context(), p, metric, runs, output, ext)
		},
	}

	var names []string
	for _, m := range runlog.Metrics() {
		names = append(names, m.Name)
	}
	cmd.Flags().StringVarP(&name, "metric", "m", "total_ms", "`NAME`: "+strings.Join(names, ", "))
	cmd.Flags().StringVarP(&output, "output", "o", "", "`FILE`, .svg, .png or .html (default the terminal)")
	command.Complete(cmd, "metric", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	command.Complete(cmd, "output",
		cobra.FixedCompletions([]string{"svg", "png", "html"}, cobra.ShellCompDirectiveFilterFileExt))

	return cmd
}

// writeChart draws the metric as SVG, PNG or HTML. A PNG needs the browser.
func writeChart(
	ctx context.Context,
	p *command.Program,
	metric runlog.Metric,
	runs []runlog.Run,
	output, ext string,
) error {
	var b bytes.Buffer

	draw := runlog.WriteHTML
	if ext == ".svg" {
		draw = runlog.WriteSVG
	}

	if err := draw(&b, metric, runs); err != nil {
		return err
	}
	data := b.Bytes()

	if ext == ".png" {
		cfg, err := p.Config()
		if err != nil {
			return err
		}

		if data, err = local.Picture(ctx, cfg.ChromiumPath, b.String(), runlog.ChartWidth+96,
			runlog.ChartHeight+118); err != nil {
			return command.InFile(output, err)
		}
	}

	if err := local.WriteFile(ctx, output, data); err != nil {
		return errors.New(local.Message(err))
	}
	fmt.Fprintln(p.Stderr, terminal.Printable(output))

	return nil
}

func newTelemetryClearCommand(p *command.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "clear",
		Short: "Delete every recorded run",
		Args:  command.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			d, err := runLog(p)
			if err != nil {
				return err
			}

			return d.Clear()
		},
	}
}
