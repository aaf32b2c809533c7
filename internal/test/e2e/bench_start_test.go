package e2e_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"presswork/internal/test/e2e"
)

// BenchmarkStart measures commands that need no browser. Other programs change the CPU time less than the whole time.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	source := benchDocument(b, dir, threePages(""))
	binary := e2e.Binary(b)

	for b.Loop() {
		reportProcess(b, "`presswork version`, whole process", "≤ 15 ms", func() *exec.Cmd {
			return exec.Command(binary, "version")
		})
		reportProcess(b, "`md2pdf --html`, three pages, whole process", "≤ 40 ms, 60 ms of CPU", func() *exec.Cmd {
			return md2pdf(b, "--html", "-o", filepath.Join(dir, "ours.html"), source)
		})
	}
}

// reportProcess reports the median time and the median CPU time of a command.
func reportProcess(b *testing.B, what, target string, command func() *exec.Cmd) {
	b.Helper()
	const rounds = 30

	var elapsed, cpu []time.Duration

	for round := range rounds + 1 { // the first one warms the caches
		cmd := command()
		took := wallTime(b, cmd)

		if round > 0 {
			elapsed = append(elapsed, took)
			cpu = append(cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		}
	}
	report(b, what, fmt.Sprintf("p50 %s, %s of CPU", quantile(elapsed, 0.5).Round(100*time.Microsecond),
		quantile(cpu, 0.5).Round(100*time.Microsecond)), target)
}
