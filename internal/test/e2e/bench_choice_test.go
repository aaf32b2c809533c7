package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkThemeChoice measures how much longer a run with --ai-theme takes than one with a named theme, without a
// cached answer and with one.
func BenchmarkThemeChoice(b *testing.B) {
	const rounds = 15
	dir := b.TempDir()

	source := benchDocument(b, dir, threePages(""))
	// run measures a conversion with the cache in a subfolder. Another subfolder is another, empty cache.
	run := func(cache string, flags ...string) time.Duration {
		cmd := md2pdf(b, append(flags, "-o", filepath.Join(dir, "out.pdf"), source)...)
		return wallTime(b, inCache(cmd, filepath.Join(dir, cache)))
	}
	for b.Loop() {
		run("warm", "--ai-theme")
		var cold, warm []time.Duration

		for i := range rounds {
			// --ai-theme chooses corporate, so the page is the same.
			plain := run("none", "--theme", "corporate")
			cold = append(cold, run(fmt.Sprint("cold", i), "--ai-theme")-plain)
			warm = append(warm, run("warm", "--ai-theme")-plain)
		}
		report(b, "`md2pdf --ai-theme`, three pages, whole process, more than with a theme named",
			fmt.Sprint(quantile(cold, 0.5).Round(time.Millisecond)), "≤ 30 ms")
		report(b, "the same with the answer in the cache",
			fmt.Sprint(quantile(warm, 0.5).Round(time.Millisecond)), "stated")
	}
}

// inCache sets the directory of the cache of cmd and returns cmd.
func inCache(cmd *exec.Cmd, dir string) *exec.Cmd {
	cmd.Env = append(os.Environ(), "PRESSWORK_CACHE_PATH="+dir, "PRESSWORK_TELEMETRY=off")
	return cmd
}
