package main

import (
	"bytes"
	"encoding/json"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presswork/internal/inference"
	"presswork/internal/inference/sandbox"
)

func needsSandbox(t *testing.T) {
	t.Helper()

	if testing.Short() {
		t.Skip("needs bubblewrap and Python; `make test` runs this test")
	}

	if _, err := sandbox.Open(t.Context(), sandbox.Options{}); err != nil {
		t.Fatal(err)
	}
}

func TestRunPythonRunsFilesAsOneSession(t *testing.T) {
	t.Parallel()
	needsSandbox(t)
	// A picture of one pixel, so that no library is needed.
	picture := "import base64\nopen('a.png', 'wb').write(base64.b64decode('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='))\nNone"
	dir := folder(t, map[string]string{
		"a.py":       "x = int(open('/data/n.txt').read())\nprint('read', x)",
		"b.py":       "x * 2",
		"c.py":       "1 / 0",
		"picture.py": picture,
		"n.txt":      "21",
	})

	in := func(name string) string { return filepath.Join(dir, name) }
	if got := ask(t, "run-python", in("a.py"), in("b.py"), "--data",
		in("n.txt")); got.code != exitOK || got.stdout != "read 21\n42\n" || got.stderr != "" {
		t.Errorf("%+v", got)
	}

	got := ask(t, "run-python", in("c.py"), in("b.py"))
	if got.code != exitFailed || !strings.Contains(got.stdout, "ZeroDivisionError") ||
		!strings.Contains(got.stderr, "c.py: the code failed") {
		t.Errorf("%+v", got)
	}
	got = ask(t, "run-python", "--json", in("picture.py"), "-o", in("out"))

	var result inference.ToolResult
	if err := json.Unmarshal([]byte(got.stdout), &result); err != nil || got.code != exitOK || len(result.Code) != 1 {
		t.Errorf("%v: %+v", err, got)
	}

	b, err := os.ReadFile(in("out/picture-1.png"))
	if err != nil {
		t.Fatal(err)
	}

	if _, err := png.Decode(bytes.NewReader(b)); err != nil {
		t.Error(err)
	}
}

func TestRunPythonRefusesWhatItCannotRun(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"run-python"}, exitUsage, "name a file of Python"},
		{[]string{"run-python", "x.py", "--data", "/no/such/file"}, exitUsage, "--data"},
	} {
		if got := ask(t, c.args...); got.code != c.code || !strings.Contains(got.stderr, c.want) {
			t.Errorf("%v: %+v", c.args, got)
		}
	}
	var stdout, stderr bytes.Buffer

	off := func(name string) string { return map[string]string{"TOOL_PYTHON": "off"}[name] }
	if code := run(t.Context(), []string{"run-python", "-"}, off, &stdout, &stderr); code != exitFailed ||
		!strings.Contains(stderr.String(), "TOOL_PYTHON is off") {
		t.Errorf("%d: %s", code, stderr.String())
	}
	needsSandbox(t)

	for _, python := range []string{"no-such-python", "/etc/passwd"} {
		if got := askIn(t, map[string]string{"TOOL_PYTHON": python}, "run-python",
			"runpython_test.go"); got.code != exitFailed || !strings.Contains(got.stderr, "TOOL_PYTHON: ") {
			t.Errorf("%s: %+v", python, got)
		}
	}

	if got := ask(t, "run-python", "/no/such.py"); got.code != exitFailed ||
		!strings.Contains(got.stderr, "no such file") {
		t.Errorf("%+v", got)
	}
}
