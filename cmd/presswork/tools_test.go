package main

import (
	"bytes"
	"encoding/json"
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
			"tools_test.go"); got.code != exitFailed || !strings.Contains(got.stderr, "TOOL_PYTHON: ") {
			t.Errorf("%s: %+v", python, got)
		}
	}

	if got := ask(t, "run-python", "/no/such.py"); got.code != exitFailed ||
		!strings.Contains(got.stderr, "no such file") {
		t.Errorf("%+v", got)
	}
}

func TestFetchAndSearchRejectInvalidFlags(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		env  map[string]string
		args []string
		code int
		says string
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
		t.Run(c.says, func(t *testing.T) {
			if got := askIn(
				t,
				c.env,
				c.args...); got.code != c.code || !strings.Contains(got.stderr, c.says) || got.stdout != "" {
				t.Errorf("%v: %+v; want %q", c.args, got, c.says)
			}
		})
	}
}

// webSite serves a static page, a page made by scripts, a PDF and a search engine.
func webSite(t *testing.T, pdf []byte) (host string) {
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

	dir := folder(t, map[string]string{"a.md": "# A document\n\nWith words in a PDF.\n"})
	if got := ask(t, "md2pdf", filepath.Join(dir, "a.md"), "-q"); got.code != exitOK {
		t.Fatalf("%+v", got)
	}

	pdf, err := os.ReadFile(filepath.Join(dir, "a.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	host := webSite(t, pdf)

	env := map[string]string{"OUTBOUND_ALLOW_PRIVATE": host, "SEARXNG_URL": "http://" + host}

	for path, want := range map[string]string{
		"/": "L0: Plain 【0†words†127.0.0.1】.\n=== End", "/app": "L0: made by scripts\n=== End", "/doc.pdf": "With words in a PDF.",
	} {
		t.Run(path, func(t *testing.T) {
			got := askIn(t, env, "fetch", "http://"+host+path)
			if got.code != exitOK || !strings.HasPrefix(got.stdout, "=== Text from the web") ||
				!strings.Contains(got.stdout, want) {
				t.Errorf("%s: %+v", path, got)
			}
		})
	}

	if got := askIn(t, env, "fetch", "http://"+host+"/",
		"--text"); got.code != exitOK || got.stdout != "Plain 【0†words†127.0.0.1】.\n" || got.stderr != "" {
		t.Errorf("--text: %+v", got)
	}

	var page browse.Page
	if got := askIn(t, env, "fetch", "http://"+host+"/",
		"--json"); json.Unmarshal([]byte(got.stdout), &page) != nil || page.Title != "Home" ||
		page.Links[0] != "http://"+host+"/app" {
		t.Errorf("--json: %+v", got)
	}

	if got := askIn(t, env, "search", "red", "&", "blue"); got.code != exitOK ||
		!strings.Contains(got.stdout, "L0: * 【0†Home†127.0.0.1】\nL1: about red & blue\n") {
		t.Errorf("search: %+v", got)
	}

	var results []inference.SearchResult
	if got := askIn(t, env, "search", "red",
		"--json"); json.Unmarshal([]byte(got.stdout), &results) != nil || len(results) != 1 ||
		results[0].Content != "about red" {
		t.Errorf("search --json: %+v", got)
	}
}
