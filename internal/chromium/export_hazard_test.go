package chromium_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"presswork/internal/chromium"
	"presswork/internal/fault"
	"presswork/internal/guard"
)

// hazard is a page that tries to exhaust the time or memory of the machine.
type hazard struct {
	page any // HTML or a handler
	// code is the expected error code: "" for none, "*" for any.
	code fault.Code
	says string // text in the error message
}

// hazards returns the pages by name. A page with code "" must be exported with a text that begins with "page".
func hazards() map[string]hazard {
	// endless sends a page of the type in its address without an end.
	endless := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))

		block := []byte(strings.Repeat("<p>more ", 8<<10))
		for {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}
	silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	redirectAgain := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Path+"?"+r.URL.RawQuery+"x", http.StatusFound)
	}
	script := func(s string) string { return "<p>page</p><script>" + s + "</script>" }

	return map[string]hazard{
		"endless":    {endless, fault.PageError, "MiB"},
		"never":      {silent, fault.PageTimeout, ""},
		"redirects":  {redirectAgain, fault.PageError, "redirects more than 20 times"},
		"reloads":    {script("location.reload()"), fault.PageError, "navigates more than 20 times"},
		"hops":       {script("location='?'+Math.random()"), fault.PageError, "navigates more than 20 times"},
		"refreshes":  {"<meta http-equiv=refresh content=0>", fault.PageError, "navigates more than 20 times"},
		"alerts":     {script("for(;;)alert(1)"), fault.PageError, "dialogs"},
		"loops":      {script("for(;;);"), fault.PageTimeout, ""},
		"loops late": {script("onload=()=>setTimeout(()=>{for(;;);})"), fault.PageTimeout, ""},
		"unloads": {
			script(
				"onbeforeunload=e=>{e.preventDefault();return 'no'};onunload=()=>{for(;;);};onpagehide=()=>{for(;;);}",
			),
			"",
			"",
		},
		"microtasks": {script("(async()=>{for(;;)await 0})()"), fault.PageTimeout, ""},
		"fonts": {
			"<p>page</p><style>@font-face{font-family:x;src:url(/never)}p{font-family:x}</style>",
			fault.PageTimeout,
			"",
		},
		"prints": {script("for(let i=0;i<50;i++)print();setInterval(print,1)"), "", ""},
		"asks":   {script("confirm(1);prompt(2);alert(3)"), "", ""},
		"opens":  {script("for(let i=0;i<50;i++)open('/ok')"), "", ""},
		"grows":  {script("setInterval(()=>document.body.append('x'.repeat(100)),1)"), "", ""},
		"scrolls": {
			script(
				"onscroll=()=>{for(let i=0;i<99;i++){const p=document.createElement('p');p.textContent=i;document.body.append(p)}};onscroll()",
			),
			"",
			"",
		},
		"workers": {
			script("for(let i=0;i<110;i++)new Worker(URL.createObjectURL(new Blob([''])))"),
			fault.PageError,
			"workers",
		},
		"hoards": {script("const a=[];for(;;)a.push(new Uint8Array(1<<24).fill(1))"), fault.PageError, "memory"},
		"heaps":  {script("let a=[1];for(;;)a=a.concat(a,a.map(String))"), "*", ""},
		"frames": {
			script("for(let i=0;i<400;i++)document.body.append(document.createElement('iframe'))"),
			fault.PageError,
			"frames",
		},
		"requests": {script("for(let i=0;i<20000;i++)fetch('/ok?'+i)"), fault.PageError, "requests"},
		"logs":     {script("for(let i=0;i<5000;i++)console.log('x'.repeat(1000))"), "", ""},
		"history":  {script("for(let i=0;i<5000;i++)try{history.pushState({},'','?'+i)}catch{}"), "", ""},
		"nested":   {strings.Repeat("<div>", 20000) + "<p>page", "*", ""},
		"download": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Disposition", "attachment")
			w.Write([]byte("x"))
		}, fault.PageError, "download"},
		"nothing": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, fault.PageError, "nothing"},
		"hangup": {func(w http.ResponseWriter, _ *http.Request) {
			c, _, _ := http.NewResponseController(w).Hijack()
			c.Close()
		}, fault.PageUnreachable, "does not answer"},
		"broken": {
			script(
				"document.querySelector=null;Array.prototype.filter=null;Promise=null;JSON=null;performance.now=()=>NaN",
			),
			"",
			"",
		},
		"writes": {script("onload=()=>{document.open();document.write('<p>page')}"), "*", ""},
		"not found": {
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) },
			fault.PageError,
			"status 404",
		},
		"unauthorised": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", "Basic")
			w.WriteHeader(401)
		}, fault.PageError, "status 401"},
		"forbidden": {
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) },
			fault.PageError,
			"status 403",
		},
		"bad gateway": {
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) },
			fault.PageError,
			"status 502",
		},
	}
}

func TestHazardousPagesHarmNoOtherExport(t *testing.T) {
	t.Parallel()
	site := pages{"/ok": "<p>next", "/never": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }}
	hazards := hazards()
	var e *chromium.Exporter
	var base string
	// This server answers only after another export. Meanwhile the tab shows its blank page.
	hazards["answers late"] = hazard{func(w http.ResponseWriter, _ *http.Request) {
		if _, err := e.PDF(t.Context(), chromium.Visit{URL: base + "/ok"}, withTimeout(60_000)); err != nil {
			t.Errorf("export while a page is late: %v", err)
		}
		w.Write([]byte("page"))
	}, "", ""}
	for name, h := range hazards {
		site["/"+name] = h.page
	}
	port := serve(t, site)
	base = "http://127.0.0.1:" + port
	e = startExporter(t, chromium.ExporterOptions{
		Browser: chromium.Options{Tabs: 3, MaxMemory: 700 << 20},
		Limits:  guard.ProxyOptions{MaxBytes: 4 << 20, MaxRequests: 500},
	}, guard.Options{Allow: "127.0.0.1:" + port})

	var jobs []job
	for name, h := range hazards {
		jobs = append(jobs, job{name, func(t *testing.T) { checkHazard(t, e, base, name, h) }})
	}
	runThree(t, jobs)

	if s := e.Stats(); s.Crashes != 0 {
		t.Errorf("stats %+v, want no crash", s)
	}
}

// checkHazard exports a hazardous page, then a harmless one.
func checkHazard(t *testing.T, e *chromium.Exporter, base, name string, h hazard) {
	limit := 60 * time.Second
	if h.code == fault.PageTimeout {
		limit = time.Second
	}

	out, err := e.PDF(t.Context(), chromium.Visit{URL: base + "/" + strings.ReplaceAll(name, " ", "%20")},
		withTimeout(int(limit.Milliseconds())))
	switch {
	case h.code == "*":
	case fault.CodeOf(err) != h.code, err != nil && !strings.Contains(err.Error(), h.says):
		t.Errorf("%s: error %v, want %q with %q", name, err, h.code, h.says)
	case err == nil && !strings.HasPrefix(text(t, out.Data), "page"):
		t.Errorf("%s: text %.100q, want page", name, text(t, out.Data))
	}

	out, err = e.PDF(t.Context(), chromium.Visit{URL: base + "/ok"}, withTimeout(60_000))
	if err != nil || text(t, out.Data) != "next" {
		t.Errorf("the next export after %s: %v, want its text", name, err)
	}
}
