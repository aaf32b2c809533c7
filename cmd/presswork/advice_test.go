package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presswork/internal/analysis/finding"
	"presswork/internal/inference/inferencetest"
)

func home(t *testing.T, more map[string]string) map[string]string {
	t.Helper()
	env := map[string]string{"HOME": t.TempDir()}
	maps.Copy(env, more)

	return env
}

const minutes = `# Meeting notes, 3 March

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
	env, dir := home(t, nil), folder(t, map[string]string{"notes.md": minutes})
	path := filepath.Join(dir, "notes.md")
	got := askIn(t, env, "analyze", path, "--json")

	var a finding.Analysis
	if err := json.Unmarshal([]byte(got.stdout), &a); err != nil || got.code != 0 || got.stderr != "" {
		t.Fatalf("%v: %+v", err, got)
	}

	if a.Recommendation.Primary == "" || len(a.Recommendation.Alternatives) != 2 ||
		len(a.Recommendation.Reasons) == 0 || a.DocumentType == "" {
		t.Errorf("%+v", a)
	}

	got = askIn(t, env, "analyze", path, "--doc-type", "business", "--mood=Calm")
	if got.code != 0 || !strings.Contains(got.stdout, "because") ||
		!strings.Contains(got.stdout, "requested mood: calm") || strings.Contains(got.stdout, "\x1b") {
		t.Errorf("%+v", got)
	}
	var stdout bytes.Buffer
	root := newRootCommand(&program{getenv: func(string) string { return "" }, stdout: &stdout, stderr: &stdout})
	root.SetArgs([]string{"analyze", "-"})
	root.SetIn(strings.NewReader(minutes))

	if err := root.ExecuteContext(t.Context()); err != nil || !strings.HasPrefix(stdout.String(), "standard input\n") {
		t.Errorf("%v, %s", err, stdout.String())
	}
}

func TestAnalyzeAcceptsEmptyAndBinaryInput(t *testing.T) {
	t.Parallel()

	dir := folder(t, map[string]string{
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
			got := ask(t, "analyze", filepath.Join(dir, name))
			if got.code != 0 || strings.Contains(got.stdout, "\x1b") || strings.Contains(got.stdout, "NaN") {
				t.Errorf("%s: %+v", name, got)
			}
		})
	}
}

func TestInvalidThemeFlagsAreUsageErrors(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"a.md": minutes, "cache.json": `{"backend_type":"sqlit"}`})

	file := filepath.Join(dir, "a.md")
	for name, c := range map[string]struct {
		env  map[string]string
		args []string
		says string
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
			if got := askIn(t, c.env, c.args...); got.code != exitUsage || !strings.Contains(got.stderr, c.says) {
				t.Errorf("%s: %+v, want %q", name, got, c.says)
			}
		})
	}
}

func TestMD2PDFChoosesAThemeAndPrintsTheReasons(t *testing.T) {
	t.Parallel()
	env := home(t, nil)
	dir := folder(
		t,
		map[string]string{
			"a.md": minutes,
			"b.md": "---\ntheme: auto\n---\n" + minutes,
			"c.md": "---\ntheme: dracula\n---\n" + minutes,
		},
	)
	in := func(name string) string { return filepath.Join(dir, name) }

	got := askIn(t, env, "md2pdf", "--html", in("a.md"), in("b.md"), in("c.md"), "--ai-theme", "-o", in("out"))
	if got.code != 0 || strings.Count(got.stderr, " sure; also ") != 3 || strings.Contains(got.stderr, "(dracula,") {
		t.Errorf("%+v", got)
	}
	// A document of front matter only. The JSON has an analysis only if the theme was chosen by one.
	got = askIn(t, env, "md2pdf", "--html", in("b.md"), in("c.md"), "--json", "-o", in("out"))
	var lines []line

	for dec := json.NewDecoder(strings.NewReader(got.stdout)); dec.More(); {
		var l line
		if err := dec.Decode(&l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}

	if got.code != 0 || len(lines) != 2 || lines[0].Analysis == nil ||
		lines[0].Theme != lines[0].Analysis.Recommendation.Primary || lines[1].Analysis != nil ||
		lines[1].Theme != "dracula" {
		t.Errorf("%+v", got)
	}

	got = askIn(t, env, "md2pdf", "--html", in("a.md"), "--mood=elegant", "-q", "-o", in("e.html"))
	if got.code != 0 || got.stderr != "" || !strings.Contains(content(t, in("e.html")), "Cormorant") {
		t.Errorf("an elegant page is not in silk: %+v", got)
	}
}

func TestEachRunIsRecordedUnlessTelemetryIsOff(t *testing.T) {
	t.Parallel()
	env := home(t, nil)
	dir := folder(t, map[string]string{"secret-name.md": minutes, "bad.md": ""})
	runLog := filepath.Join(env["HOME"], ".local", "state", "presswork", "telemetry.jsonl")
	convert := func() outcome {
		return askIn(t, env, "md2pdf", "--html", "--ai-theme", filepath.Join(dir, "secret-name.md"),
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

	text := content(t, runLog)
	if strings.Contains(text, "secret") || strings.Contains(text, "reading") || strings.Count(text, "\n") != 2 {
		t.Errorf("the run log holds %s", text)
	}
	got := askIn(t, env, "telemetry", "report", "--json")

	var report struct {
		Runs, Documents, Failures int
		HitRate                   float64 `json:"hit_rate"`
	}
	if err := json.Unmarshal([]byte(got.stdout),
		&report); err != nil || report.Runs != 2 || report.Documents != 4 || report.Failures != 2 ||
		report.HitRate <= 0 {
		t.Errorf("%v: %+v", err, got)
	}

	if got := askIn(t, env, "telemetry", "report"); !strings.Contains(got.stdout, "2 runs, 4 documents, 2 failed") ||
		!strings.Contains(got.stdout, "total_ms") {
		t.Errorf("%+v", got)
	}

	if got := askIn(t, env, "telemetry", "visualize", "--metric=bytes"); got.code != 0 ||
		!strings.Contains(got.stdout, "Bytes written per run (bytes), 2 runs") {
		t.Errorf("%+v", got)
	}

	chart := filepath.Join(dir, "chart.svg")
	if got := askIn(t, env, "telemetry", "visualize", "-o", chart); got.code != 0 ||
		!strings.HasPrefix(content(t, chart), "<svg ") {
		t.Errorf("%+v", got)
	}

	if got := askIn(t, env, "telemetry", "clear"); got.code != 0 {
		t.Errorf("%+v", got)
	}

	if got := askIn(t, env, "telemetry", "report"); !strings.Contains(got.stdout, "no runs yet") {
		t.Errorf("%+v", got)
	}
}

func TestAChartThatCannotBeDrawnNamesTheReason(t *testing.T) {
	t.Parallel()
	needsChromium(t)

	bin := programs(t, map[string]string{"wrong": "exit 3"})
	for browser, code := range map[string]int{filepath.Join(bin, "wrong"): exitFailed, filepath.Join(bin, "none"): exitNoBrowser} {
		out := filepath.Join(t.TempDir(), "c.png")

		got := askIn(t, home(t, map[string]string{"CHROMIUM_PATH": browser}), "telemetry", "visualize", "-o", out)
		if got.code != code || !strings.HasPrefix(got.stderr, "presswork: "+out+": ") ||
			strings.Contains(got.stderr, "browser_unavailable") {
			t.Errorf("%s: %+v", browser, got)
		}
	}
}

func TestAnalysisModelReceivesTheDocument(t *testing.T) {
	t.Parallel()
	upstream, base := inferencetest.Start(t)
	env := home(t, map[string]string{"PRESSWORK_API_KEY": "sk-reader"})
	path := filepath.Join(folder(t, map[string]string{"notes.md": minutes}), "notes.md")
	got := askIn(t, env, "analyze", path, "--json", "--analysis-model=reading", "--analysis-url", base)

	var a finding.Analysis
	if err := json.Unmarshal([]byte(got.stdout), &a); err != nil || got.code != 0 || got.stderr != "" {
		t.Fatalf("%v: %+v", err, got)
	}

	if a.DocumentType != "newsletter" || a.EmotionalTone != "festive" || len(a.Keywords) != 1 ||
		a.Keywords[0].Term != "harvest supper" {
		t.Errorf("%+v", a)
	}

	asked := upstream.Requests()
	if len(asked) != 1 || asked[0].Header.Get("Authorization") != "Bearer sk-reader" ||
		!strings.Contains(string(asked[0].Raw), "reading room") {
		t.Errorf("requests %+v", asked)
	}

	if again := askIn(t, env, "analyze", path, "--json", "--analysis-model=reading", "--analysis-url",
		base); again.stdout != got.stdout || len(upstream.Requests()) != 1 {
		t.Errorf("the model was asked %d times for one document", len(upstream.Requests()))
	}

	fallback := askIn(t, env, "analyze", path, "--analysis-model=tokens:60000@0", "--analysis-url", base)
	if fallback.code != 0 || !strings.Contains(fallback.stdout, "meeting_notes") ||
		!strings.Contains(fallback.stderr, "its answer does not end") {
		t.Errorf("an endless answer: %+v", fallback)
	}

	secret := strings.Replace(base, "http://", "http://reader:hush@", 1)
	if got := askIn(t, env, "analyze", path, "--analysis-model=tokens:60000@0", "--analysis-url",
		secret); !strings.Contains(got.stderr, "reader:xxxxx@") || strings.Contains(got.stderr, "hush") {
		t.Errorf("the message contains the password: %+v", got)
	}

	for _, args := range [][]string{{"--analysis-url", base}, {"--analysis-model=m", "--analysis-url=ftp://example.org"}, {"--analysis-model=m", "--analysis-url=localhost:8000"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			if got := askIn(
				t,
				env,
				append([]string{"analyze", path}, args...)...); got.code != 2 ||
				!strings.Contains(got.stderr, "--analysis-url") {
				t.Errorf("%q: %+v", args, got)
			}
		})
	}
}
