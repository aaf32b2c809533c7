package main

import (
	"bytes"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presswork/internal/inference"
	"presswork/internal/inference/browse"
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
	// A picture of one pixel needs no library.
	picture := "import base64\nopen('a.png', 'wb').write(base64.b64decode('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='))\nNone"
	dir := writeFiles(t, map[string]string{
		"a.py":       "x = int(open('/data/n.txt').read())\nprint('read', x)",
		"b.py":       "x * 2",
		"c.py":       "1 / 0",
		"picture.py": picture,
		"n.txt":      "21",
	})

	path := func(name string) string { return filepath.Join(dir, name) }

	got := runCommand(t, "run-python", path("a.py"), path("b.py"), "--data", path("n.txt"))
	if want := "read 21\n42\n"; got.code != exitOK || got.stdout != want || got.stderr != "" {
		t.Errorf("got %v; want stdout %q", got, want)
	}

	got = runCommand(t, "run-python", path("c.py"), path("b.py"))
	got.check(t, exitFailed, "c.py: the code failed")

	if !strings.Contains(got.stdout, "ZeroDivisionError") {
		t.Errorf("stdout is %q, want the Python error", got.stdout)
	}

	var result inference.ToolResult
	runCommand(t, "run-python", "--json", path("picture.py"), "-o", path("out")).decodeJSON(t, &result)

	if len(result.Code) != 1 {
		t.Errorf("got %+v; want the result of one file", result)
	}

	b, err := os.ReadFile(path("out/picture-1.png"))
	if err != nil {
		t.Fatal(err)
	}

	if _, err := png.Decode(bytes.NewReader(b)); err != nil {
		t.Error(err)
	}
}

func TestRunPythonRejectsUnusableFiles(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"run-python"}, exitUsage, "name a Python file"},
		{[]string{"run-python", "x.py", "--data", "/no/such/file"}, exitUsage, "--data"},
	} {
		runCommand(t, c.args...).check(t, c.code, c.want)
	}
	var stdout, stderr bytes.Buffer

	off := func(name string) string { return map[string]string{"TOOL_PYTHON": "off"}[name] }

	code := run(t.Context(), []string{"run-python", "-"}, off, &stdout, &stderr)
	if code != exitFailed || !strings.Contains(stderr.String(), "TOOL_PYTHON is off") {
		t.Errorf("%d: %s", code, stderr.String())
	}
	needsSandbox(t)

	for _, python := range []string{"no-such-python", "/etc/passwd"} {
		got := runWithEnv(t, map[string]string{"TOOL_PYTHON": python}, "run-python", "tools_test.go")
		got.check(t, exitFailed, "TOOL_PYTHON: ")
	}

	got := runCommand(t, "run-python", "/no/such.py")
	got.check(t, exitFailed, "no such file")
}

func TestFetchAndSearchRejectInvalidFlags(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		env        map[string]string
		args       []string
		code       int
		wantStderr string
	}{
		{nil, []string{"fetch"}, exitUsage, "name one address"},
		{nil, []string{"fetch", "https://a.example", "--loc", "-1"}, exitUsage, "--loc"},
		{nil, []string{"fetch", "http://127.0.0.1:1/", "--scripts=false"}, exitFailed, "127.0.0.1 is not allowed"},
		{nil, []string{"fetch", "file:///etc/passwd", "--text", "--scripts=false"}, exitUsage, "http"},
		{nil, []string{"fetch", "nope", "--scripts=false"}, exitUsage, "\"nope\" is not a valid URL"},
		{nil, []string{"fetch", "http://a.example", "--allow-private", "a b"}, exitUsage, "--allow-private"},
		{nil, []string{"search"}, exitUsage, "the query is missing"},
		{nil, []string{"search", "x"}, exitUsage, "SEARXNG_URL or SEARCH_URL"},
		{map[string]string{"SEARXNG_URL": "localhost"}, []string{"search", "x"}, exitUsage, "SEARXNG_URL"},
		{map[string]string{"SEARXNG_URL": "http://a", "SEARCH_URL": "http://b"}, []string{"search", "x"}, exitUsage, "set one of them"},
		{map[string]string{"SEARXNG_URL": "http://127.0.0.1:1"}, []string{"search", "x", "--top", "21"}, exitUsage, "--top is 21"},
		{map[string]string{"SEARXNG_URL": "http://127.0.0.1:1"}, []string{"search", "x"}, exitFailed, "the search engine does not answer"},
	} {
		t.Run(c.wantStderr, func(t *testing.T) {
			got := runWithEnv(t, c.env, c.args...)
			got.check(t, c.code, c.wantStderr)
			got.checkNoOutput(t)
		})
	}
}

// startWebSite serves a static page, a page made by scripts, a PDF and a search engine.
func startWebSite(t *testing.T, pdf []byte) (host string) {
	t.Helper()
	pages := map[string]string{
		"/":    "<title>Home</title><p>Plain <a href=/app>words</a>.",
		"/app": "<title>App</title><div id=r></div><script>r.textContent='made by '+'scripts'</script>",
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/search":
			fmt.Fprintf(w, `{"results":[{"url":"http://%s/","title":"Home","content":"about %s"}]}`, r.Host,
				r.URL.Query().Get("q"))
		case "/doc.pdf":
			w.Write(pdf)
		default:
			if pages[r.URL.Path] == "" {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, pages[r.URL.Path])
		}
	}))
	t.Cleanup(server.Close)

	return server.Listener.Addr().String()
}

func TestFetchAndSearchPrintTheToolResults(t *testing.T) {
	t.Parallel()
	needsChromium(t)

	dir := writeFiles(t, map[string]string{"a.md": "# A document\n\nWith words in a PDF.\n"})
	runCommand(t, "md2pdf", filepath.Join(dir, "a.md"), "-q").checkOK(t)

	pdf, err := os.ReadFile(filepath.Join(dir, "a.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	host := startWebSite(t, pdf)

	env := map[string]string{"OUTBOUND_ALLOW_PRIVATE": host, "SEARXNG_URL": "http://" + host}

	for path, want := range map[string]string{
		"/":        "L0: Plain 【0†words†127.0.0.1】.\n=== End",
		"/app":     "L0: made by scripts\n=== End",
		"/doc.pdf": "With words in a PDF.",
	} {
		t.Run(path, func(t *testing.T) {
			got := runWithEnv(t, env, "fetch", "http://"+host+path)
			if got.code != exitOK || !strings.HasPrefix(got.stdout, "=== Text from the web") ||
				!strings.Contains(got.stdout, want) {
				t.Errorf("got %v; want the header of web text and %q", got, want)
			}
		})
	}

	got := runWithEnv(t, env, "fetch", "http://"+host+"/", "--text")
	if got.code != exitOK || got.stdout != "Plain 【0†words†127.0.0.1】.\n" || got.stderr != "" {
		t.Errorf("--text: got %v; want the text alone", got)
	}

	var page browse.Page
	got = runWithEnv(t, env, "fetch", "http://"+host+"/", "--json")
	got.decodeJSON(t, &page)

	if page.Title != "Home" || page.Links[0] != "http://"+host+"/app" {
		t.Errorf("--json: got %+v; want the title Home and a link to /app", page)
	}

	got = runWithEnv(t, env, "search", "red", "&", "blue")
	got.checkPrints(t, "L0: * 【0†Home†127.0.0.1】\nL1: about red & blue\n")

	var results []inference.SearchResult
	got = runWithEnv(t, env, "search", "red", "--json")
	got.decodeJSON(t, &results)

	if len(results) != 1 || results[0].Content != "about red" {
		t.Errorf("search --json: got %+v; want one result about red", results)
	}
}
