package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"presswork/internal/chromium/printable"
	"presswork/internal/test/e2e"
)

// threePages returns a document of three pages with common elements. seed is part of its text.
func threePages(seed string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Quarterly report %s\n\n", seed)

	for i := range 8 {
		fmt.Fprintf(
			&b,
			"## Section %d\n\n%s\n\n- one\n- two\n- three\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"+
				"```go\nfunc main() { println(%d) }\n```\n\n",
			i,
			strings.Repeat(
				"The figures of the quarter are in, and they say what **everybody** hoped they would say. ",
				8,
			),
			i,
		)
	}

	return b.String()
}

// wallTime runs a command and returns how long it took.
func wallTime(b *testing.B, cmd *exec.Cmd) time.Duration {
	b.Helper()
	began := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(began)

	if err != nil {
		b.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}

	return took
}

// md2pdf returns the command `presswork md2pdf --quiet` with args.
func md2pdf(b *testing.B, args ...string) *exec.Cmd {
	return exec.Command(e2e.Binary(b), append([]string{"md2pdf", "--quiet"}, args...)...)
}

// BenchmarkMd2pdfAgainstOthers compares `presswork md2pdf` with other converters on three pages.
func BenchmarkMd2pdfAgainstOthers(b *testing.B) {
	dir := b.TempDir()
	peers := installedPeers(b)
	source := benchDocument(b, dir, threePages(""))
	ours := func() *exec.Cmd { return md2pdf(b, "-o", filepath.Join(dir, "ours.pdf"), source) }
	// md-to-pdf cannot download its own Chromium everywhere, so it gets the same one.
	mdToPDF := func() *exec.Cmd {
		return exec.Command(filepath.Join(peers, "npm/node_modules/.bin/md-to-pdf"), source, "--launch-options",
			`{"executablePath":"/usr/lib/chromium/chromium-headless-shell","args":["--no-sandbox"]}`)
	}

	for b.Loop() {
		compareTimes(b, "`md2pdf`, three pages, whole process", ours, []rival{
			{"md-to-pdf (npm)", "≤ 0.4 ×", mdToPDF},
			{"pandoc + WeasyPrint", "≤ 1 ×", pandocWith(peers, "weasyprint", source)},
			{"pandoc + Typst", "≤ 1 ×", pandocWith(peers, "typst", source)},
		})
	}
}

// BenchmarkLongMd2pdfAgainstTypst compares `presswork md2pdf` with pandoc and Typst on 30 pages.
func BenchmarkLongMd2pdfAgainstTypst(b *testing.B) {
	dir := b.TempDir()
	peers := installedPeers(b)
	source := benchDocument(b, dir, strings.Repeat(threePages(""), 8))
	ours := func() *exec.Cmd { return md2pdf(b, "-o", filepath.Join(dir, "ours.pdf"), source) }

	for b.Loop() {
		compareTimes(b, "`md2pdf`, 30 pages, whole process", ours, []rival{
			{"pandoc + Typst", "≤ 0.8 ×", pandocWith(peers, "typst", source)},
		})
	}
}

// rival is a converter that a benchmark compares with.
type rival struct {
	name, target string
	command      func() *exec.Cmd
}

// compareTimes runs our command and those of the rivals in alternating rounds. It reports our median time, relative to
// that of each rival.
func compareTimes(b *testing.B, subject string, ours func() *exec.Cmd, rivals []rival) {
	b.Helper()
	const rounds = 7

	var mine []time.Duration
	times := make([][]time.Duration, len(rivals))

	for round := range rounds + 1 { // the first one warms the caches
		took := wallTime(b, ours())
		if round > 0 {
			mine = append(mine, took)
		}

		for i, r := range rivals {
			took := wallTime(b, r.command())
			if round > 0 {
				times[i] = append(times[i], took)
			}
		}
	}

	for i, r := range rivals {
		median, other := quantile(mine, 0.5), quantile(times[i], 0.5)
		report(b, subject+", against "+r.name, fmt.Sprintf("%.2f × (%s against %s)", median.Seconds()/other.Seconds(),
			median.Round(time.Millisecond), other.Round(time.Millisecond)), r.target)
	}
}

// installedPeers returns the folder of the converters to compare with. Without them, the benchmark is skipped.
func installedPeers(b *testing.B) string {
	b.Helper()

	peers := os.Getenv("PRESSWORK_PEERS")
	if _, err := os.Stat(filepath.Join(peers, ".done")); peers == "" || err != nil {
		b.Skip("the converters to compare with are not installed; `make bench` installs them where npm and Python are")
	}

	return peers
}

// pandocWith returns pandoc's command for source with a PDF engine.
func pandocWith(peers, engine, source string) func() *exec.Cmd {
	return func() *exec.Cmd {
		cmd := exec.Command(filepath.Join(peers, "python/pypandoc/files/pandoc"), source, "--standalone",
			"--metadata", "title=Report", "--pdf-engine", filepath.Join(peers, engine),
			"-o", filepath.Join(filepath.Dir(source), engine+".pdf"))
		cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(peers, "python"))

		return cmd
	}
}

// benchDocument writes a document into dir and returns its path.
func benchDocument(b *testing.B, dir, text string) string {
	b.Helper()

	source := filepath.Join(dir, "report.md")
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}

	return source
}

// BenchmarkMd2pdfBatch compares `presswork md2pdf` of 50 files with the raw browser.
func BenchmarkMd2pdfBatch(b *testing.B) {
	const files, rounds = 50, 5
	raw := startRaw(b)
	dir := b.TempDir()
	var sources []string
	var pages []printable.Page

	for i := range files {
		text := threePages(fmt.Sprint(i))

		source := filepath.Join(dir, fmt.Sprintf("%02d.md", i))
		if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
		sources, pages = append(sources, source), append(pages, compose(b, text))
	}

	ours := func() float64 {
		args := append([]string{"-o", filepath.Join(dir, "out") + "/"}, sources...)
		return files / wallTime(b, md2pdf(b, args...)).Seconds()
	}
	for b.Loop() {
		report(b,
			"`md2pdf` of 50 files, whole process with the browser's start, against the raw browser already running",
			compareSpeeds(rounds, func() float64 { return raw.block(b, pages) }, ours), "≥ 0.7 ×")
	}
}

// BenchmarkPrintOptions measures the cost of tags, a table of contents and PDF/A on a document of about 40 pages. Each
// print is a new process.
func BenchmarkPrintOptions(b *testing.B) {
	const rounds = 5
	dir := b.TempDir()
	source := benchDocument(b, dir, longDocument("cost", 45))
	measure := func(flags ...string) (time.Duration, int64) {
		out := filepath.Join(dir, "out.pdf")
		took := wallTime(b, md2pdf(b, append(flags, "-o", out, source)...))

		info, err := os.Stat(out)
		if err != nil {
			b.Fatal(err)
		}

		return took, info.Size()
	}
	variants := []struct {
		name   string
		flags  []string
		target string
	}{
		{"without tags and outline", []string{"--tagged=false"}, "stated"},
		{"with a table of contents (two passes)", []string{"--toc"}, "≤ 1.7 ×"},
		{"as PDF/A-2b", []string{"--pdf-a"}, "stated"},
	}

	for b.Loop() {
		measure()
		plain := []time.Duration{}
		others := make([][]time.Duration, len(variants))
		sizes := make([]int64, len(variants))
		var size int64

		for range rounds {
			var took time.Duration
			took, size = measure()

			plain = append(plain, took)
			for i, v := range variants {
				took, sizes[i] = measure(v.flags...)
				others[i] = append(others[i], took)
			}
		}

		for i, v := range variants {
			base, other := quantile(plain, 0.5), quantile(others[i], 0.5)
			report(b, "45 sections, whole process, "+v.name+", against tagged with outline",
				fmt.Sprintf("%.2f × the time (%s against %s), %.2f × the size", other.Seconds()/base.Seconds(),
					other.Round(time.Millisecond), base.Round(time.Millisecond),
					float64(sizes[i])/float64(size)), v.target)
		}
	}
}
