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

func TestHTMLContainsChangesByScripts(t *testing.T) {
	t.Parallel()
	site := pages{
		"/":      "<div id=root></div><script>setTimeout(()=>{root.textContent='made by '+'scripts'},100)</script>",
		"/moves": "<script>location='/'</script>",
		"/lies":  "<p>true</p><script>Object.defineProperty(Element.prototype,'outerHTML',{get:()=>'a lie'})</script>",
		"/large": "<script>document.write('x'.repeat(9<<20))</script>",
	}
	port := serve(t, site)
	e := exporter(t, chromium.ExporterOptions{}, guard.Options{Allow: "site.test:" + port, Lookup: byName})

	o := export.VisitOptions{WaitUntil: "networkidle2", Timeout: new(int(export.MaxTimeout.Milliseconds()))}

	for path, want := range map[string]string{"/": "made by scripts", "/moves": "made by scripts", "/lies": "<p>true</p>"} {
		t.Run(path, func(t *testing.T) {
			out, err := e.HTML(t.Context(), chromium.Visit{URL: "http://site.test:" + port + path}, o)
			if err != nil || !strings.Contains(string(out.Data), want) || string(out.Data) == "a lie" ||
				!strings.HasPrefix(out.ContentType, "text/html") {
				t.Errorf("%s: %v, %.200s", path, err, out.Data)
			}

			if path == "/moves" && out.URL != "http://site.test:"+port+"/" {
				t.Errorf("the final URL is %s", out.URL)
			}
		})
	}

	out, err := e.HTML(t.Context(), chromium.Visit{URL: "http://site.test:" + port + "/large"}, o)
	if err != nil || len(out.Data) != 4<<20 {
		t.Errorf("%v, %d bytes", err, len(out.Data))
	}
}

// Two Exporters with different policies share a browser. Neither may reach what only the other allows, in any
// order of their pages.
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
	wide := exporter(t, chromium.ExporterOptions{},
		guard.Options{Allow: "site.test:" + port + ",inside.test:" + insidePort, Lookup: byName})

	rule, err := guard.New(guard.Options{Allow: "site.test:" + port, Lookup: byName})
	if err != nil {
		t.Fatal(err)
	}
	narrow := wide.Under(rule, guard.ProxyOptions{})
	o := export.VisitOptions{WaitUntil: "networkidle0"}

	for range 3 { // each takes what was made ahead by the other, were it not of another proxy
		for want, e := range map[string]*chromium.Exporter{"secret": wide, "refused": narrow} {
			out, err := e.HTML(t.Context(), chromium.Visit{URL: "http://site.test:" + port + "/"}, o)
			if _, body, _ := strings.Cut(string(out.Data), "</script>"); err != nil || !strings.HasPrefix(body, want) {
				t.Errorf("%v; not %s: %s", err, want, body)
			}
		}

		_, err := narrow.HTML(t.Context(), chromium.Visit{URL: "http://inside.test:" + insidePort + "/"}, o)
		if fault.CodeOf(err) != fault.AddressNotAllowed {
			t.Errorf("inside: %v", err)
		}
	}
}
