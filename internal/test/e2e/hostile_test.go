package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/test/e2e"
	"presswork/internal/test/public"
)

// countConnections listens on a port of loopback, with IPv4 and if possible with IPv6. connections counts the connections
// so far.
func countConnections(t *testing.T) (port int, connections *atomic.Int64) {
	t.Helper()
	connections = new(atomic.Int64)

	first, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port = first.Addr().(*net.TCPAddr).Port

	listeners := []net.Listener{first}
	if second, err := net.Listen("tcp6", fmt.Sprintf("[::1]:%d", port)); err == nil {
		listeners = append(listeners, second)
	}

	for _, l := range listeners {
		t.Cleanup(func() { l.Close() })

		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				connections.Add(1)
				conn.Close()
			}
		}()
	}

	return port, connections
}

func TestHostileMarkdownReachesNoServerOrFile(t *testing.T) {
	t.Parallel()
	port, connections := countConnections(t)
	at := fmt.Sprintf("http://127.0.0.1:%d", port)
	// withAddress replaces AT by the address of the listener.
	withAddress := func(vector string) string { return strings.ReplaceAll(vector, "AT", at) }
	_, c := e2e.Serve(t, nil)

	vectors := []string{
		`<script>fetch("AT/script")</script>`,
		`<script src="AT/script.js"></script>`,
		`<iframe src="AT/frame"></iframe><iframe src="file:///etc/passwd"></iframe>`,
		`![x](AT/image.png) <img src="AT/img2.png" onerror="fetch('AT/e')">`,
		`<meta http-equiv="refresh" content="0;url=AT/refresh">`,
		`<style>body{background:url(AT/css)} @import "AT/import.css";</style>`,
		`<p style="background:url(AT/inline)">x</p>`,
		`<svg><script>fetch("AT/svg")</script><image href="AT/svgimg"/><use href="AT/use#a"/></svg>`,
		`<link rel="stylesheet" href="AT/link.css"><link rel="prefetch" href="AT/prefetch"><link rel=preconnect href="AT">`,
		`<object data="AT/object"></object><embed src="AT/embed">`,
		`<video src="AT/video" poster="AT/poster"></video><audio src="AT/audio"></audio>`,
		`<form action="AT/form"><input type=image src="AT/input"></form>`,
		`<base href="AT/"><a ping="AT/ping" href="AT/a">link</a>`,
		`![bad](http://x/%zz) <img src="http://x/%zz">`,
		`![meta](http://169.254.169.254/latest/meta-data/)`,
		`![file](file:///etc/passwd) [file](file:///etc/passwd)`,
		fmt.Sprintf("![decimal](http://2130706433:%d/x.png) ![octal](http://0177.0.0.1:%d/x.png)", port, port),
		fmt.Sprintf("![mapped](http://[::ffff:127.0.0.1]:%d/x.png)", port),
		`[js](javascript:fetch('AT/js')) <a href="jav&#x09;ascript:alert(1)">x</a>`,
		`<img srcset="AT/srcset 2x"><picture><source srcset="AT/source"></picture>`,
		`<table background="AT/table"><tr><td background="AT/td">x</td></tr></table>`,
	}

	hostileCSS := "body{background:url(AT/opt)} @import url(AT/i); @font-face{font-family:x;src:url(AT/f)} p{font-family:x}"
	for _, css := range []string{"", hostileCSS} {
		for _, v := range vectors {
			t.Run(fmt.Sprintf("%.20s", v), func(t *testing.T) {
				job := c.Wait(c.Submit(e2e.Submission{
					Content: "# Safe\n\nbefore\n\n" + withAddress(v) + "\n\nafter\n",
					Options: presswork.Options{
						CSS:        withAddress(css),
						HeaderText: new(withAddress(v)),
						Title:      withAddress(v),
					},
				}).JobID)
				if job.Status != presswork.Completed {
					t.Errorf("%s: status %s, %+v; want completed", v, job.Status, job.Error)
					return
				}

				text := e2e.PDFText(t, c.Download(job))
				if !strings.Contains(text, "before") || !strings.Contains(text, "after") {
					t.Errorf("%s: text %q, want before and after in it", v, text)
				}

				if strings.Contains(text, "root:") {
					t.Errorf("%s: text %q, want it without /etc/passwd", v, text)
				}
			})
		}
	}

	if n := connections.Load(); n != 0 {
		t.Errorf("%d connections to the listener, want none", n)
	}
}

func TestInvalidRequestsAreRejected(t *testing.T) {
	t.Parallel()
	themes := t.TempDir()
	public.File(t, themes+"/broken.css", "this is { not css")
	_, c := e2e.Serve(t, map[string]string{"API_KEY": "hush", "THEMES_DIR": themes})
	toJSON := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}

		return string(b)
	}

	content := func(s string) string { return toJSON(map[string]string{"content": s}) }
	for name, tc := range map[string]struct {
		body   string
		status int
		code   fault.Code
	}{
		"empty":          {content(""), 400, fault.ContentEmpty},
		"blank":          {content(" \n\t\n"), 400, fault.ContentEmpty},
		"no content":     {`{}`, 400, fault.ContentEmpty},
		"NUL":            {content("a\x00b"), 400, ""},
		"11 MB":          {content(strings.Repeat("word ", 11<<20/5)), 413, fault.ContentTooLarge},
		"nesting":        {content(strings.Repeat(">", 10_000) + " x"), 422, fault.ContentTooComplex},
		"delimiters":     {content(strings.Repeat("*a_ ", 50_000)), 422, fault.ContentTooComplex},
		"front matter":   {content("---\ntitle: [\n---\nx"), 400, fault.FrontMatterInvalid},
		"theme":          {toJSON(map[string]string{"content": "x", "theme": "nrod"}), 400, fault.ThemeNotFound},
		"theme path":     {toJSON(map[string]string{"content": "x", "theme": "../../etc/passwd"}), 400, fault.ThemeNotFound},
		"broken theme":   {toJSON(map[string]string{"content": "x", "theme": "broken"}), 400, fault.ThemeNotFound},
		"unknown field":  {`{"contnet":"x"}`, 400, fault.UnknownField},
		"unknown option": {`{"content":"x","options":{"papersize":"A4"}}`, 400, fault.UnknownField},
		"option":         {`{"content":"x","options":{"page_size":"A99"}}`, 400, fault.InvalidOption},
		"option type":    {`{"content":"x","options":{"landscape":"yes"}}`, 400, fault.InvalidType},
		"type":           {`{"content":7}`, 400, fault.InvalidType},
		"json":           {`{"content":`, 400, fault.InvalidJSON},
		"webhook":        {toJSON(map[string]string{"content": "x", "webhook_url": "http://127.0.0.1/x"}), 403, fault.AddressNotAllowed},
		"webhook form":   {toJSON(map[string]string{"content": "x", "webhook_url": "gopher://x"}), 400, fault.WebhookInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			status, _, got := c.Do("POST", "/api/conversion", "application/json", []byte(tc.body))
			checkError(t, name, status, got, tc.status, tc.code)
		})
	}
	status, _, got := c.Do("POST", "/api/conversion", "text/markdown", []byte("caf\xe9"))
	checkError(t, "not UTF-8", status, got, 400, fault.ContentNotUTF8)
	status, _, got = c.Do("POST", "/api/conversion", "text/markdown", []byte("\x1f\x8b"), "Content-Encoding", "gzip")
	checkError(t, "compressed", status, got, 415, fault.UnsupportedMediaType)
	status, _, got = c.Do("POST", "/api/conversion", "text/markdown", []byte("---\nlayout: post\npage_size: [\n---\nx"))
	checkError(t, "value of front matter", status, got, 400, fault.FrontMatterInvalid)

	if !strings.Contains(string(got), "line 3") {
		t.Errorf("front matter with an invalid value: %s, want line 3 in it", got)
	}

	for _, name := range []string{"../../etc/passwd", "/etc/passwd", "a/../../b.png", "C:\\x.png", "a\x00.png"} {
		t.Run(name, func(t *testing.T) {
			contentType, body := withAsset(t, name)

			status, _, got := c.Do("POST", "/api/conversion", contentType, body)
			if status != http.StatusBadRequest {
				t.Errorf("asset %q: status %d, %s; want 400", name, status, got)
			}
		})
	}
	c.Completed(c.Submit(e2e.Submission{Content: "# After the rejected ones"}).JobID)
	stranger := e2e.NewClient(t, strings.TrimPrefix(c.Base, "http://"), "") // has no key
	status, _, got = stranger.Do("POST", "/api/conversion", "application/json", []byte(content("x")))
	checkError(t, "no key", status, got, 401, fault.InvalidAPIKey)
	stranger.Key = "wrong"
	status, _, got = stranger.Do("GET", "/api/conversion", "", nil)
	checkError(t, "wrong key", status, got, 401, fault.InvalidAPIKey)
}

// checkError checks the status and the code of an error response. Code "" is any code.
func checkError(t *testing.T, name string, status int, body []byte, wantStatus int, want fault.Code) {
	t.Helper()

	var e struct{ Error fault.Error }
	if err := json.Unmarshal(body, &e); err != nil {
		t.Errorf("%s: status %d with %.200s, want an error as JSON", name, status, body)
		return
	}

	if status != wantStatus || (want != "" && e.Error.Code != want) || e.Error.Message == "" {
		t.Errorf("%s: got %d %q %q, want %d %q", name, status, e.Error.Code, e.Error.Message, wantStatus, want)
	}
}

// withAsset returns a form with a document and a file that has the given name.
func withAsset(t *testing.T, name string) (string, []byte) {
	t.Helper()
	var b bytes.Buffer

	w := multipart.NewWriter(&b)
	if err := w.WriteField("content", "![x](x.png)"); err != nil {
		t.Fatal(err)
	}
	header := textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="file"; filename="` + name + `"`},
		"Content-Type":        {"image/png"},
	}

	part, err := w.CreatePart(header)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(part, "not a png")

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	return w.FormDataContentType(), b.Bytes()
}

// Chromium takes minutes for these documents. They must complete or fail within RENDER_TIMEOUT, and the next document
// must complete.
func TestOversizedDocumentsDoNotBlockTheNext(t *testing.T) {
	t.Parallel()
	_, c := e2e.Serve(t, map[string]string{"RENDER_TIMEOUT": "20s", "WORKERS": "2"})
	var table strings.Builder
	table.WriteString("| a | b |\n|---|---|\n")

	for i := range 100_000 {
		fmt.Fprintf(&table, "| %d | %d |\n", i, i*i)
	}

	for name, content := range map[string]string{
		"a 5 MB line":         strings.Repeat("x", 5<<20),
		"a 100 000-row table": table.String(),
	} {
		t.Run(name, func(t *testing.T) {
			body, err := json.Marshal(e2e.Submission{Content: content})
			if err != nil {
				t.Fatal(err)
			}

			status, _, got := c.Do("POST", "/api/conversion", "application/json", body)
			if status == http.StatusUnprocessableEntity {
				return // the server rejects the document without a job
			}

			job := c.Wait(c.Accept(status, nil, got).JobID)
			t.Logf("%s %v", job.Status, job.Error)

			allowed := []fault.Code{fault.RenderTimeout, fault.RenderFailed, fault.ContentTooComplex}
			if job.Status == presswork.Failed && (job.Error == nil || !slices.Contains(allowed, job.Error.Code)) {
				t.Errorf("the job failed with %+v, want one of %v", job.Error, allowed)
			}
		})
	}
	c.Completed(c.Submit(e2e.Submission{Content: "# After the large ones"}).JobID)
}
