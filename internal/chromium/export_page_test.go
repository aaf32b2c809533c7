package chromium_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg"
	_ "image/png"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"presswork/internal/chromium"
	"presswork/internal/export"
	"presswork/internal/fault"
	"presswork/internal/guard"
	"presswork/internal/test/sitetest"
)

func TestSiteIsExportedAsItsUserSeesIt(t *testing.T) {
	t.Parallel()
	site := sitetest.Serve(t)
	e := startExporter(t, chromium.ExporterOptions{}, guard.Options{Allow: site.Host})
	o := export.PDFOptions{
		VisitOptions: export.VisitOptions{
			Cookies:           []export.Cookie{{Name: sitetest.Cookie, Value: "Ada"}},
			WaitForExpression: "window.reportReady",
		},
		Format:  "A4",
		Margin:  export.Margin{Top: "15mm", Right: "12mm", Bottom: "15mm", Left: "12mm"},
		Outline: new(true),
	}

	out, err := e.PDF(t.Context(), chromium.Visit{URL: site.URL}, o)
	if err != nil {
		t.Fatal(err)
	}

	got := text(t, out.Data)
	for _, want := range []string{"Meridian", "Signed in as Ada", "Quarterly report", "€ 4.2 m", "Region 40", "Picture 12", "No.1 ", "No.7", "No.12"} {
		if !strings.Contains(got, want) {
			t.Errorf("the text of the PDF lacks %q", want)
		}
	}

	for _, hidden := range []string{"Overview", "We use cookies", "Loading", "sign in", "needs JavaScript"} {
		if strings.Contains(got, hidden) {
			t.Errorf("the text of the PDF contains %q, want it hidden", hidden)
		}
	}

	if n := strings.Count(got, "Signed in as"); n != 1 {
		t.Errorf("the sticky header occurs %d times, want once", n)
	}

	if out.Title != "Quarterly report" || out.URL != site.URL+"/report/2026-q3" {
		t.Errorf("title %q and URL %q, want those of the report", out.Title, out.URL)
	}

	if fonts := runTool(t, out.Data, "pdffonts", "-"); !strings.Contains(fonts, "ComicNeue-Bold") {
		t.Errorf("fonts %s, want the web font ComicNeue-Bold", fonts)
	}

	if size := info(t, out.Data, "Page size"); !strings.Contains(size, "A4") {
		t.Errorf("page size %s, want A4", size)
	}

	for n := 1; n <= 12; n++ {
		if path := fmt.Sprintf("/images/%d.svg", n); n != 2 && site.Requests(path) != 1 {
			t.Errorf("%s was requested %d times, want once", path, site.Requests(path))
		}
	}

	if dir := os.Getenv("PRESSWORK_LOOK"); dir != "" {
		os.WriteFile(filepath.Join(dir, "site.pdf"), out.Data, 0o644)
	}

	// The next visit has no cookie and is not signed in.
	o.Cookies = nil
	if got := text(t, mustExport(t, e, site.URL, o).Data); !strings.HasPrefix(got, "Please sign in") {
		t.Errorf("text without the cookie %q, want the sign-in page", got)
	}

	shot, err := e.Screenshot(t.Context(), chromium.Visit{URL: site.URL}, export.ScreenshotOptions{
		FullPage: new(true),
		VisitOptions: export.VisitOptions{
			Cookies:           []export.Cookie{{Name: sitetest.Cookie, Value: "Ada"}},
			WaitForExpression: "reportReady;",
			Viewport:          &export.Viewport{Width: 1200, Height: 800},
		},
	})
	if err != nil {
		t.Fatal(err)
	}

	if c := imageConfig(t, shot.Data); c.Width != 1200 || c.Height < 2000 {
		t.Errorf("picture of %d × %d, want 1200 × 2000 or more", c.Width, c.Height)
	}
	// The fixed bar at the lower edge of the window must occur once, at the end.
	across, end := pixel(t, shot.Data, 5, 790), pixel(t, shot.Data, 5, -5)
	if across != (color.NRGBA{255, 255, 255, 255}) || end.R > 80 {
		t.Errorf(
			"fixed bar: colour %v at the edge of the window, want white; %v at the end of the page, want dark",
			across,
			end,
		)
	}

	o.Cookies, o.MediaType = []export.Cookie{{Name: sitetest.Cookie, Value: "Ada"}}, "screen"

	got = text(t, mustExport(t, e, site.URL, o).Data)
	if strings.Count(got, "We use cookies") != 1 || strings.Count(got, "Signed in as") != 1 {
		t.Errorf("media type screen: text %q, want the banner and the header once", got)
	}

	if dir := os.Getenv("PRESSWORK_LOOK"); dir != "" {
		os.WriteFile(filepath.Join(dir, "site.png"), shot.Data, 0o644)
	}
}

// imageConfig returns the size and the colour model of a picture.
func imageConfig(t *testing.T, data []byte) image.Config {
	t.Helper()

	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}

	return c
}

// echo answers with the path, token, cookie and agent of the request.
func echo(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Access-Control-Allow-Headers", "*")
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "[%s token=%s cookie=%s agent=%s]", r.URL.Path, r.Header.Get("X-Token"),
		r.Header.Get("Cookie"), r.UserAgent())
}

func TestHeadersAndCookiesAreSentToTheOriginOnly(t *testing.T) {
	t.Parallel()
	otherPort := serve(t, http.HandlerFunc(echo))
	redirect := func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.RawQuery, http.StatusFound) }
	show := "const show=(name,url)=>fetch(url).then(r=>r.text()).then(t=>{const p=document.createElement('p');p.textContent=name+t;document.body.append(p)});"
	site := pages{"/echo": echo, "/bounce": redirect, "/sub": echo}
	port := serve(t, site)
	other, deep := "http://site.test:"+otherPort, "http://other.test:"+port
	site["/"] = "<p>page</p><iframe src='" + other + "/frame'></iframe><iframe src='" + deep + "/sub'></iframe><script>" + show +
		"window.all=Promise.all([show('own','/echo'),show('port','" + other + "/port'),show('bounced','/bounce?" + other + "/bounced'),show('name','" + other + "/name')," +
		"new Promise(d=>{const w=new Worker(URL.createObjectURL(new Blob([`fetch('http://site.test:" + port + "/echo').then(r=>r.text()).then(postMessage)`])));w.onmessage=e=>{document.body.append('worker'+e.data);d()}})]).then(()=>true)</script>"
	e := startExporter(t, chromium.ExporterOptions{}, guard.Options{
		Allow:  "site.test:" + port + ",site.test:" + otherPort + ",other.test:" + port,
		Lookup: resolveToLoopback,
	})
	o := export.PDFOptions{VisitOptions: export.VisitOptions{
		ExtraHTTPHeaders: map[string]string{"X-Token": "secret"}, UserAgent: "Tester/1",
		Cookies:           []export.Cookie{{Name: "id", Value: "7", Domain: "site.test", HTTPOnly: new(true)}},
		WaitForExpression: "window.all",
	}}

	got := text(t, mustExport(t, e, "http://site.test:"+port+"/", o).Data)
	for _, want := range []string{
		"own[/echo token=secret cookie=id=7 agent=Tester/1]", "port[/port token= cookie= agent=Tester/1]", "bounced[/bounced token= cookie= agent=Tester/1]",
		"name[/name token= cookie= ", "[/frame token= cookie= agent=Tester/1]", "[/sub token= cookie= agent=Tester/1]", "worker[/echo token=secret cookie=id=7 agent=Tester/1]",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("text %q, want %q in it", got, want)
		}
	}
	o.WaitForExpression = ""

	out := mustExport(t, e, "http://site.test:"+port+"/bounce?"+other+"/elsewhere", o)
	if got := text(t, out.Data); !strings.Contains(got, "[/elsewhere token= cookie= ") {
		t.Errorf("after a redirect to another origin: text %q, want no token and no cookie", got)
	}
}

func TestVisitsShareNoState(t *testing.T) {
	t.Parallel()
	port := serve(t, pages{
		"/set": `<p>page</p><script>document.cookie="a=b";localStorage.x=1;sessionStorage.x=1;caches.open("x").then(c=>c.put("/y",new Response("z")));indexedDB.open("x").onsuccess=()=>{};window.done=1</script>`,
		"/get": `<p>page</p><script>(async()=>{window.found=[document.cookie,localStorage.length,sessionStorage.length,(await caches.keys()).length,(await indexedDB.databases()).length,name].join();document.body.append(found)})()</script>`,
	})
	base := "http://127.0.0.1:" + port
	e := startExporter(t, chromium.ExporterOptions{}, guard.Options{Allow: "127.0.0.1:" + port})
	mustExport(t, e, base+"/set",
		export.PDFOptions{VisitOptions: export.VisitOptions{WaitForExpression: "window.done"}})

	got := text(
		t,
		mustExport(t, e, base+"/get",
			export.PDFOptions{VisitOptions: export.VisitOptions{WaitForExpression: "window.found"}}).Data,
	)
	if got != "page ,0,0,0,0," {
		t.Errorf("state of the earlier visit: %q, want none", got)
	}
}

func TestPagesHaveNoServiceWorkers(t *testing.T) {
	t.Parallel()
	port := serve(t, pages{
		"/": `<p>page</p><iframe src="/inside"></iframe><script>
			const blank=document.createElement("iframe");document.body.append(blank)
			const finds=n=>typeof n.serviceWorker
			onload=()=>document.body.append(finds(navigator),finds(blank.contentWindow.navigator),finds(frames[0].navigator))</script>`,
		"/inside": "<p>inside",
	})

	e := startExporter(t, chromium.ExporterOptions{}, guard.Options{Allow: "127.0.0.1:" + port})

	got := text(t, mustExport(t, e, "http://127.0.0.1:"+port, export.PDFOptions{}).Data)
	if !strings.Contains(got, "undefinedundefinedundefined") {
		t.Errorf("text %q, want navigator.serviceWorker undefined in all three frames", got)
	}
}

// closedAddress returns an address that refuses connections. The test binds its port, so no other program can use it.
func closedAddress(t *testing.T) string {
	t.Helper()

	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })

	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}

	bound, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}

	return fmt.Sprintf("127.0.0.1:%d", bound.(*syscall.SockaddrInet4).Port)
}

func TestUnreachableAndFailingPagesAreExplained(t *testing.T) {
	t.Parallel()
	secure := httptest.NewUnstartedServer(http.HandlerFunc(echo))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)

	secure.StartTLS()
	defer secure.Close()
	port := serve(t, pages{
		"/attached": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Disposition", "attachment") },
		"/leads":    "<p>page</p><script>location=location.search.slice(1)</script>",
		"/cut": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "500")
			fmt.Fprint(w, "<p>page")
		},
		"/offers": "<p>page</p><script>location='/attached'</script>",
		"/":       "<p>page</p><img src='http://gone.test/'><script>missing()</script>",
		"/fine":   "<p>page</p><img src=/404><script>try{missing()}catch{}</script>",
	})
	lookup := func(ctx context.Context, host string) ([]netip.Addr, error) {
		if host == "gone.test" {
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		}

		return resolveToLoopback(ctx, host)
	}
	closed := closedAddress(t)
	e := startExporter(t, chromium.ExporterOptions{}, guard.Options{Allow: "true", Lookup: lookup})

	for url, says := range map[string]string{
		"http://gone.test/": "does not exist", "https://gone.test/": "does not exist",
		"http://" + closed: "refuses the connection", "https://" + closed: "refuses the connection",
		secure.URL: "certificate", strings.Replace(secure.URL, "https", "http", 1): "does not answer", "https://127.0.0.1:" + port: "TLS",
		"http://127.0.0.1:" + port + "/cut": "CONTENT_LENGTH_MISMATCH",
	} {
		t.Run(url, func(t *testing.T) {
			for _, way := range []string{"", "http://127.0.0.1:" + port + "/leads?"} {
				_, err := e.PDF(t.Context(), chromium.Visit{URL: way + url}, export.PDFOptions{})
				if fault.CodeOf(err) != fault.PageUnreachable || !strings.Contains(fault.AsError(err).Message, says) {
					t.Errorf("%s%s: error %v, want page_unreachable with %q", way, url, err, says)
				}
			}
		})
	}

	for name, tc := range map[string]struct {
		path, says string
		o          export.VisitOptions
	}{
		"all fine":      {"/fine", "", export.VisitOptions{FailOnResourceLoadingFailed: new(true), FailOnConsoleExceptions: new(true)}},
		"resource":      {"/", "gone.test", export.VisitOptions{FailOnResourceLoadingFailed: new(true)}},
		"exception":     {"/", "missing is not defined", export.VisitOptions{FailOnConsoleExceptions: new(true)}},
		"download":      {"/offers", "", export.VisitOptions{WaitForTimeout: 100}},
		"no option":     {"/", "", export.VisitOptions{}},
		"404":           {"/nothing", "status 404", export.VisitOptions{}},
		"to 404":        {"/leads?/nothing", "status 404", export.VisitOptions{}},
		"from 404":      {"/leads?/fine", "", export.VisitOptions{}},
		"404 allowed":   {"/nothing", "", export.VisitOptions{FailOnHTTPStatusCodes: []export.StatusRange{}}},
		"200 forbidden": {"/fine", "status 200", export.VisitOptions{FailOnHTTPStatusCodes: []export.StatusRange{{From: 200, To: 204}}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := e.PDF(t.Context(), chromium.Visit{URL: "http://127.0.0.1:" + port + tc.path},
				export.PDFOptions{VisitOptions: tc.o})
			switch {
			case tc.says == "" && err != nil,
				tc.says != "" && (fault.CodeOf(err) != fault.PageError || !strings.Contains(err.Error(), tc.says)):
				t.Errorf("error %v, want page_error with %q, or none for an empty text", err, tc.says)
			}
		})
	}
}
