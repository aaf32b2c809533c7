// Package state has the commands that show what Presswork finds and keeps on this machine: programs and fonts, the
// cache, and the run log.
package state

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"presswork/cmd/presswork/command"
	"presswork/internal/cache"
	"presswork/internal/local"
	"presswork/internal/local/runlog"
	"presswork/internal/terminal"
)

// Commands returns the commands.
func Commands(p *command.Program) []*cobra.Command {
	return []*cobra.Command{
		newInfoCommand(p),
		newCacheCommand(p),
		newTelemetryCommand(p),
	}
}

// info is the JSON output of `presswork info`.
type info struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	local.Machine
	Paths []pathInfo `json:"paths"`
	// Cache describes the cache of md2pdf and analyze.
	Cache cacheInfo `json:"cache"`
	// Telemetry is the folder of md2pdf's run log, or "" when telemetry is off.
	Telemetry string `json:"telemetry"`
}

// cacheInfo describes the cache of analyses and theme choices.
type cacheInfo struct {
	Backend string `json:"backend"`
	// Path is empty for a cache in memory.
	Path string `json:"path"`
}

// pathInfo is a folder and the setting that changes it.
type pathInfo struct {
	Setting string `json:"setting"`
	Path    string `json:"path"`
}

func newInfoCommand(p *command.Program) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "info",
		Short: "Show versions, browser, fonts, Redis and folders of this machine, and how to fix problems",
		Args:  command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := p.Config()
			if err != nil {
				return err
			}

			machine, err := local.Inspect(cmd.Context(), cfg.ChromiumPath)
			if err != nil {
				return command.Interrupted{}
			}
			i := info{
				Version:  p.Version,
				Go:       runtime.Version(),
				Platform: runtime.GOOS + "/" + runtime.GOARCH,
				Machine:  machine,
			}

			for _, path := range []pathInfo{
				{"THEMES_DIR", cfg.ThemesDir},
				{"DATA_DIR", cfg.DataDir},
				{"CACHE_DIR", cfg.CacheDir},
				{"PDF_OUTPUT_DIR", cfg.PDFOutputDir},
			} {
				if abs, err := filepath.Abs(path.Path); err == nil {
					path.Path = abs
				}
				i.Paths = append(i.Paths, path)
			}
			inspectLocalState(cmd.Context(), p, &i)

			if asJSON {
				return p.Encode(i)
			}

			return printInfo(p, i)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")

	return cmd
}

// inspectLocalState checks the cache and the run log, which only the command line uses. It opens the cache for that.
func inspectLocalState(ctx context.Context, p *command.Program, i *info) {
	problem := func(err error, fix string) {
		if err != nil {
			i.Problems = append(i.Problems, local.Problem{What: local.Message(err), Fix: fix})
		}
	}
	const correct = "correct the setting, or unset it"
	cfg, _, err := new(command.CacheFlags).Load(p.Getenv)
	problem(err, correct)

	if err == nil {
		i.Cache.Backend = cfg.Backend
		if cfg.Backend != cache.BackendMemory {
			i.Cache.Path = cfg.Path
		}

		opened, err := cache.Open(ctx, cfg, cache.Options{})
		if err == nil {
			err = opened.Close()
		}
		problem(err,
			"`presswork cache config` shows where it is set; without it each run uses its own cache in memory")
	}
	i.Telemetry, err = runlog.Folder(p.Getenv)
	problem(err, correct)
}

// summary returns sentences that say what works on this machine, what does not, and how to fix it.
func (i info) summary() string {
	var works, not []string
	add := func(can bool, what, why string) {
		if can {
			works = append(works, what)
		} else {
			not = append(not, what+why)
		}
	}
	add(i.Chromium.Version != "", "print documents and export pages",
		" (no working Chromium was found; HTML output works without it)")
	add(i.Redis.Version != "", "run `presswork serve` by itself", " (without redis-server it needs REDIS_URL)")

	var b strings.Builder
	if len(works) > 0 {
		fmt.Fprintf(&b, "This machine can %s.", strings.Join(works, ", and "))
	}

	if len(not) > 0 {
		fmt.Fprintf(&b, " It cannot %s.", strings.Join(not, ", nor "))
	}

	if i.Chromium.Version != "" && i.Sandbox {
		b.WriteString(" Documents are printed inside Chromium's sandbox")

		if i.NetworkIsolated {
			b.WriteString(", without network access")
		}
		b.WriteString(".")
	}

	switch n := len(i.Problems); n {
	case 0:
		b.WriteString(" No problems were found.")
	case 1:
		b.WriteString(" 1 problem to fix:")
	default:
		fmt.Fprintf(&b, " %d problems to fix:", n)
	}

	for _, problem := range i.Problems {
		fmt.Fprintf(&b, "\n- %s: %s", problem.What, problem.Fix)
	}

	return strings.TrimSpace(b.String())
}

// printInfo prints the summary, then a table of all details.
func printInfo(p *command.Program, i info) error {
	for line := range strings.SplitSeq(i.summary(), "\n") {
		fmt.Fprintln(p.Stdout, terminal.Printable(line))
	}
	fmt.Fprintln(p.Stdout)
	w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%s\t%s\n", name, terminal.Printable(fmt.Sprintf(format, args...)))
	}
	row("presswork", "%s (%s %s)", i.Version, i.Go, i.Platform)
	row("chromium", "%s", found(i.Chromium))

	if i.Chromium.Version != "" {
		sandbox := "on"
		if !i.Sandbox {
			sandbox = "off: " + i.SandboxReason
		}
		row("sandbox", "%s", sandbox)

		network := "the browser has none"
		if !i.NetworkIsolated {
			network = "the browser can reach it: this system has no user namespaces"
		}
		row("network", "%s", network)
	}
	row("redis-server", "%s", found(i.Redis))

	for _, kind := range []string{"sans", "serif", "mono", "display", "math", "symbols"} {
		var names []string

		for _, f := range i.Fonts {
			if f.Kind == kind {
				names = append(names, f.Name)
			}
		}

		if len(names) > 0 {
			row(kind+" fonts", "%s", strings.Join(names, ", "))
		}
	}

	for _, s := range i.Scripts {
		font := s.Font
		if font == "" {
			font = "no font"
		}
		row("script", "%s: %s", s.Name, font)
	}

	for _, path := range i.Paths {
		row(path.Setting, "%s", path.Path)
	}
	row("cache", "%s", terminal.Dash(strings.TrimSpace(i.Cache.Backend+" "+i.Cache.Path)))
	row("telemetry", "%s", cmp.Or(i.Telemetry, "off"))

	return w.Flush()
}

// found returns a program's version and path for the table.
func found(p local.Program) string {
	switch {
	case p.Path == "":
		return "not found"
	case p.Version == "":
		return p.Path
	}

	return p.Version + " at " + p.Path
}
