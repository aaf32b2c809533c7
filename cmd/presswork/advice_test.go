package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presswork/internal/analysis/finding"
	"presswork/internal/inference/inferencetest"
)

const meetingNotes = `# Meeting notes, 3 March

## Attendees

Ada, Grace, Alan

## Agenda

1. Budget of the spring
2. The new reading room

## Action items

- [ ] Ada asks for three offers and sends them around before Friday.
- [ ] Grace writes to the landlord about the roof, which still leaks.

We agreed that the reading room opens in May. The budget was discussed at length and adopted without a vote. Alan
will present the figures of the first quarter at the next meeting, which takes place on the first Monday of April.
The caretaker asked us to close the windows in the evening, and to hand in the keys of the old storage rooms.
`

func TestAnalyzePrintsTypeToneAndTheme(t *testing.T) {
	t.Parallel()
	env, dir := envWithHome(t, nil), writeFiles(t, map[string]string{"notes.md": meetingNotes})
	path := filepath.Join(dir, "notes.md")

	var a finding.Analysis
	got := runWithEnv(t, env, "analyze", path, "--json")
	got.decodeJSON(t, &a)
	got.checkQuiet(t)

	if a.Recommendation.Primary == "" || len(a.Recommendation.Alternatives) != 2 ||
		len(a.Recommendation.Reasons) == 0 ||
		a.DocumentType == "" {
		t.Errorf("got %+v; want a document type and a theme with reasons and two alternatives", a)
	}

	got = runWithEnv(t, env, "analyze", path, "--doc-type", "business", "--mood=Calm")
	if got.code != exitOK || !strings.Contains(got.stdout, "because") ||
		!strings.Contains(got.stdout, "requested mood: calm") ||
		strings.Contains(got.stdout, "\x1b") {
		t.Errorf("got %v; want the reasons and the mood without terminal codes", got)
	}

	stdout, _, err := runWithInput(t, meetingNotes, nil, "analyze", "-")
	if err != nil || !strings.HasPrefix(stdout, "standard input\n") {
		t.Errorf("got error %v and %q; want the analysis of standard input", err, stdout)
	}
}

func TestAnalyzeAcceptsEmptyAndBinaryInput(t *testing.T) {
	t.Parallel()

	dir := writeFiles(t, map[string]string{
		"empty":    "",
		"word":     "Hello",
		"code":     "```go\nfunc main() {}\n```",
		"table":    "| a | b |\n|---|---|\n| 1 | 2 |",
		"binary":   "\x00\x01\xff\xfe\x00PNG",
		"arabic":   strings.Repeat("مرحبا بالعالم ", 30),
		"emoji":    strings.Repeat("🎉", 200),
		"nots":     strings.Repeat("not ", 100_000) + "good",
		"terminal": "# \x1b]0;owned\x07 \x1b[31mred",
	})
	for _, name := range []string{"empty", "word", "code", "table", "binary", "arabic", "emoji", "nots", "terminal"} {
		t.Run(name, func(t *testing.T) {
			got := runCommand(t, "analyze", filepath.Join(dir, name))
			if got.code != exitOK || strings.Contains(got.stdout, "\x1b") || strings.Contains(got.stdout, "NaN") {
				t.Errorf("got %v; want exit status 0 without terminal codes or NaN", got)
			}
		})
	}
}

func TestInvalidThemeFlagsAreUsageErrors(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{"a.md": meetingNotes, "cache.json": `{"backend_type":"sqlit"}`})

	file := filepath.Join(dir, "a.md")
	for name, c := range map[string]struct {
		env        map[string]string
		args       []string
		wantStderr string
	}{
		"mood":                {nil, []string{"md2pdf", file, "--mood", "calmm"}, `did you mean "calm"?`},
		"type":                {nil, []string{"analyze", file, "--doc-type", "rezume"}, `did you mean "resume"?`},
		"two themes":          {nil, []string{"md2pdf", file, "--ai-theme", "--theme", "nord"}, "cannot be combined"},
		"mood and theme":      {nil, []string{"md2pdf", file, "--mood=dark", "--theme", "nord"}, "leave one out"},
		"two files":           {nil, []string{"analyze", file, file}, "name one Markdown file"},
		"cache backend":       {map[string]string{"PRESSWORK_CACHE_BACKEND": "redis"}, []string{"md2pdf", file}, "allowed: memory, file, sqlite"},
		"cache json":          {map[string]string{"PRESSWORK_CACHE_CONFIG": filepath.Join(dir, "cache.json")}, []string{"cache", "stats"}, `did you mean "sqlite"?`},
		"cache flag":          {nil, []string{"cache", "stats", "--cache-ttl", "1h"}, "a number of seconds"},
		"no folder":           {nil, []string{"cache", "stats", "--cache-backend", "file"}, "set HOME or PRESSWORK_CACHE_PATH"},
		"telemetry":           {map[string]string{"PRESSWORK_TELEMETRY": "maybe"}, []string{"md2pdf", file}, "allowed: on, off"},
		"metric":              {map[string]string{"HOME": dir}, []string{"telemetry", "visualize", "--metric=hitrate"}, `did you mean "hit_rate"?`},
		"chart":               {map[string]string{"HOME": dir}, []string{"telemetry", "visualize", "-o", "x.gif"}, "must end in .svg, .png or .html"},
		"no telemetry":        {map[string]string{"PRESSWORK_TELEMETRY": "off"}, []string{"telemetry", "report"}, "the run log is off: PRESSWORK_TELEMETRY is off"},
		"no home":             {nil, []string{"telemetry", "report"}, "the run log is off: HOME is not set"},
		"sub-command":         {nil, []string{"cache", "cleer"}, "did you mean \"clear\"?; `presswork cache --help` lists them"},
		"an argument":         {nil, []string{"cache", "stats", "all"}, `presswork cache stats takes only flags; unexpected argument "all"`},
		"a lone value":        {nil, []string{"md2pdf", file, "--toc", "2"}, `"2" is not a file; write the optional value of a flag after an equals sign: --toc=2`},
		"no folder of images": {nil, []string{"md2pdf", "--html", file, "--allow", filepath.Join(dir, "none")}, "presswork: --allow " + filepath.Join(dir, "none") + ": no such file"},
		"no server":           {nil, []string{"chat", "--server", "localhost:8000", "hi"}, "write http://HOST:PORT"},
		"no model":            {nil, []string{"models", "explain", "m"}, "presswork: The model"},
	} {
		t.Run(name, func(t *testing.T) {
			runWithEnv(t, c.env, c.args...).check(t, exitUsage, c.wantStderr)
		})
	}
}

func TestMD2PDFChoosesAThemeAndPrintsTheReasons(t *testing.T) {
	t.Parallel()
	env := envWithHome(t, nil)
	dir := writeFiles(t, map[string]string{
		"a.md": meetingNotes,
		"b.md": "---\ntheme: auto\n---\n" + meetingNotes,
		"c.md": "---\ntheme: dracula\n---\n" + meetingNotes,
	})
	path := func(name string) string { return filepath.Join(dir, name) }

	got := runWithEnv(t, env, "md2pdf", "--html", path("a.md"), path("b.md"), path("c.md"), "--ai-theme", "-o",
		path("out"))
	if got.code != exitOK || strings.Count(got.stderr, " sure; also ") != 3 ||
		strings.Contains(got.stderr, "(dracula,") {
		t.Errorf("got %v; want three choices with reasons, none of them dracula", got)
	}
	// Without the flag, only documents with "theme: auto" are analysed.
	got = runWithEnv(t, env, "md2pdf", "--html", path("b.md"), path("c.md"), "--json", "-o", path("out"))
	lines := got.decodeLines(t)

	if got.code != exitOK || len(lines) != 2 || lines[0].Analysis == nil ||
		lines[0].Theme != lines[0].Analysis.Recommendation.Primary ||
		lines[1].Analysis != nil ||
		lines[1].Theme != "dracula" {
		t.Errorf("got %v; want an analysis of b.md only, and c.md in dracula", got)
	}

	got = runWithEnv(t, env, "md2pdf", "--html", path("a.md"), "--mood=elegant", "-q", "-o", path("e.html"))
	if got.code != exitOK || got.stderr != "" || !strings.Contains(readFile(t, path("e.html")), "Cormorant") {
		t.Errorf("got %v; want a page in the font of the theme silk", got)
	}
}

func TestEachRunIsRecordedUnlessTelemetryIsOff(t *testing.T) {
	t.Parallel()
	env := envWithHome(t, nil)
	dir := writeFiles(t, map[string]string{"secret-name.md": meetingNotes, "bad.md": ""})
	runLog := filepath.Join(env["HOME"], ".local", "state", "presswork", "telemetry.jsonl")
	convert := func() outcome {
		return runWithEnv(t, env, "md2pdf", "--html", "--ai-theme", filepath.Join(dir, "secret-name.md"),
			filepath.Join(dir, "bad.md"), "-o", filepath.Join(dir, "out"))
	}
	env["PRESSWORK_TELEMETRY"] = "off"
	convert()

	if _, err := os.Stat(runLog); err == nil {
		t.Error("a run was recorded although telemetry is off")
	}
	delete(env, "PRESSWORK_TELEMETRY")
	convert()
	convert()

	text := readFile(t, runLog)
	if strings.Contains(text, "secret") || strings.Contains(text, "reading") || strings.Count(text, "\n") != 2 {
		t.Errorf("the run log is %q; want two lines without file names and text", text)
	}
	got := runWithEnv(t, env, "telemetry", "report", "--json")

	var report struct {
		Runs, Documents, Failures int
		HitRate                   float64 `json:"hit_rate"`
	}
	got.decodeJSON(t, &report)

	if report.Runs != 2 || report.Documents != 4 || report.Failures != 2 || report.HitRate <= 0 {
		t.Errorf("got %+v; want 2 runs, 4 documents, 2 failures and a hit rate above 0", report)
	}

	runWithEnv(t, env, "telemetry", "report").checkPrints(t, "2 runs, 4 documents, 2 failed", "total_ms")

	runWithEnv(t, env, "telemetry", "visualize",
		"--metric=bytes").checkPrints(t, "Bytes written per run (bytes), 2 runs")

	chart := filepath.Join(dir, "chart.svg")
	runWithEnv(t, env, "telemetry", "visualize", "-o", chart).checkOK(t)

	if svg := readFile(t, chart); !strings.HasPrefix(svg, "<svg ") {
		t.Errorf("the chart starts with %.20q, want <svg", svg)
	}

	runWithEnv(t, env, "telemetry", "clear").checkOK(t)

	runWithEnv(t, env, "telemetry", "report").checkPrints(t, "no runs yet")
}

func TestAChartThatCannotBeDrawnNamesTheReason(t *testing.T) {
	t.Parallel()
	needsChromium(t)

	bin := writeBrowserScripts(t, map[string]string{"wrong": "exit 3"})
	for browser, code := range map[string]int{"wrong": exitFailed, "missing": exitNoBrowser} {
		t.Run(browser, func(t *testing.T) {
			env := envWithHome(t, map[string]string{"CHROMIUM_PATH": filepath.Join(bin, browser)})
			out := filepath.Join(t.TempDir(), "c.png")

			got := runWithEnv(t, env, "telemetry", "visualize", "-o", out)
			if got.code != code || !strings.HasPrefix(got.stderr, "presswork: "+out+": ") ||
				strings.Contains(got.stderr, "browser_unavailable") {
				t.Errorf("got %v; want exit status %d and a message that names the file but no error code", got, code)
			}
		})
	}
}

func TestAnalysisModelReceivesTheDocument(t *testing.T) {
	t.Parallel()
	upstream, base := inferencetest.Start(t)
	env := envWithHome(t, map[string]string{"PRESSWORK_API_KEY": "sk-reader"})
	path := filepath.Join(writeFiles(t, map[string]string{"notes.md": meetingNotes}), "notes.md")
	analyze := func(model, url string, more ...string) outcome {
		args := append([]string{"analyze", path, "--analysis-model", model, "--analysis-url", url}, more...)

		return runWithEnv(t, env, args...)
	}

	var a finding.Analysis
	got := analyze("reading", base, "--json")
	got.decodeJSON(t, &a)
	got.checkQuiet(t)

	if a.DocumentType != "newsletter" || a.EmotionalTone != "festive" || len(a.Keywords) != 1 ||
		a.Keywords[0].Term != "harvest supper" {
		t.Errorf("got %+v; want the answer of the model", a)
	}

	requests := upstream.Requests()
	if len(requests) != 1 || requests[0].Header.Get("Authorization") != "Bearer sk-reader" ||
		!strings.Contains(string(requests[0].Raw), "reading room") {
		t.Errorf("got requests %+v; want one with the key and the text", requests)
	}

	again := analyze("reading", base, "--json")
	if n := len(upstream.Requests()); again.stdout != got.stdout || n != 1 {
		t.Errorf("got %v after %d requests; want the cached answer of the first request", again, n)
	}

	// An answer without an end: the built-in analyser takes over.
	const endless = "tokens:60000@0"
	fallback := analyze(endless, base)
	fallback.check(t, exitOK, "its answer does not end")
	fallback.checkPrints(t, "meeting_notes")

	got = analyze(endless, strings.Replace(base, "http://", "http://reader:hush@", 1))
	if !strings.Contains(got.stderr, "reader:xxxxx@") || strings.Contains(got.stderr, "hush") {
		t.Errorf("got %v; want the address without its password", got)
	}

	for _, args := range [][]string{
		{"--analysis-url", base},
		{"--analysis-model=m", "--analysis-url=ftp://example.org"},
		{"--analysis-model=m", "--analysis-url=localhost:8000"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			got := runWithEnv(t, env, append([]string{"analyze", path}, args...)...)
			got.check(t, exitUsage, "--analysis-url")
		})
	}
}
