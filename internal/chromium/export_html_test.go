package chromium_test

import (
	"net/http"
	"strings"
	"testing"

	"presswork/internal/chromium"
	"presswork/internal/export"
	"presswork/internal/fault"
	"presswork/internal/guard"
)

func TestHTMLIsThePageAfterItsScripts(t *testing.T) {
	t.Parallel()
	site := pages{
		"/":      "<div id=root></div><script>setTimeout(()=>{root.textContent='made by '+'scripts'},100)</script>",
		"/moves": "<script>location='/'</script>",
		"/lies":  "<p>true</p><script>Object.defineProperty(Element.prototype,'outerHTML',{get:()=>'a lie'})</script>",
		"/large": "<script>document.write('x'.repeat(9<<20))</script>",
	}
	port := serve(t, site)
	e := startExporter(t, chromium.ExporterOptions{},
		guard.Options{Allow: "site.test:" + port, Lookup: resolveToLoopback})

	o := export.VisitOptions{WaitUntil: "networkidle2", Timeout: new(int(export.MaxTimeout.Milliseconds()))}

	for path, want := range map[string]string{"/": "made by scripts", "/moves": "made by scripts", "/lies": "<p>true</p>"} {
		t.Run(path, func(t *testing.T) {
			out, err := e.HTML(t.Context(), chromium.Visit{URL: "http://site.test:" + port + path}, o)
			if err != nil || !strings.Contains(string(out.Data), want) || string(out.Data) == "a lie" ||
				!strings.HasPrefix(out.ContentType, "text/html") {
				t.Errorf("%v, %.200s; want HTML with %q", err, out.Data, want)
			}

			if path == "/moves" && out.URL != "http://site.test:"+port+"/" {
				t.Errorf("URL %s, want that of the last page", out.URL)
			}
		})
	}

	out, err := e.HTML(t.Context(), chromium.Visit{URL: "http://site.test:" + port + "/large"}, o)
	if err != nil || len(out.Data) != 4<<20 {
		t.Errorf("large page: %v, %d bytes; want the first 4 MiB", err, len(out.Data))
	}
}

// Two Exporters with different policies share a browser. The narrow one must not reach an address that only the other
// allows, whatever the order of their pages.
func TestEachExporterKeepsItsPolicy(t *testing.T) {
	t.Parallel()
	inside := pages{"/": "inside", "/data": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Write([]byte("secret"))
	}}
	insidePort := serve(t, inside)
	site := pages{
		"/": "<p>page</p><script>fetch('http://inside.test:" + insidePort + "/data').then(r=>r.text()).then(t=>document.body.append(t)).catch(()=>document.body.append('refused'))</script>",
	}
	port := serve(t, site)
	wide := startExporter(t, chromium.ExporterOptions{},
		guard.Options{Allow: "site.test:" + port + ",inside.test:" + insidePort, Lookup: resolveToLoopback})

	rule, err := guard.New(guard.Options{Allow: "site.test:" + port, Lookup: resolveToLoopback})
	if err != nil {
		t.Fatal(err)
	}
	narrow := wide.Under(rule, guard.ProxyOptions{})
	o := export.VisitOptions{WaitUntil: "networkidle0"}

	for range 3 { // several rounds, because the browser creates the context of the next page ahead
		for want, e := range map[string]*chromium.Exporter{"secret": wide, "refused": narrow} {
			out, err := e.HTML(t.Context(), chromium.Visit{URL: "http://site.test:" + port + "/"}, o)
			if _, body, _ := strings.Cut(string(out.Data), "</script>"); err != nil || !strings.HasPrefix(body, want) {
				t.Errorf("got %s, %v; want %s", body, err, want)
			}
		}

		_, err := narrow.HTML(t.Context(), chromium.Visit{URL: "http://inside.test:" + insidePort + "/"}, o)
		if fault.CodeOf(err) != fault.AddressNotAllowed {
			t.Errorf("forbidden page: error %v, want address_not_allowed", err)
		}
	}
}
