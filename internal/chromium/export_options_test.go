package chromium_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"net/http"
	"strings"
	"testing"
	"time"

	"presswork/internal/chromium"
	"presswork/internal/export"
	"presswork/internal/fault"
	"presswork/internal/guard"
)

func TestExportsWaitForTheStateOfTheirOptions(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	port := serve(t, pages{
		"/held": func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-release:
			case <-r.Context().Done():
			}
			fmt.Fprint(w, "slow")
		},
		"/release": func(http.ResponseWriter, *http.Request) { close(release) },
		"/later":   `<p>page</p><script>setTimeout(()=>{document.body.innerHTML+="<i id=late>late</i>";window.ready=Promise.resolve(1)},300)</script>`,
		"/fetches": `<p>page</p><script>onload=()=>{fetch("/held").then(r=>r.text()).then(t=>document.body.append(t));setTimeout(()=>fetch("/release"),300)}</script>`,
		"/hangs":   `<p>page</p><script>fetch("/never")</script>`,
		"/never":   func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"/framed":  `<p>page</p><iframe src="/never"></iframe>`, // its load event never happens
		"/moves":   `<p>first</p><script>setTimeout(()=>location="/later",50)</script>`,
		"/strict": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Security-Policy", "default-src 'none'")
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<p>page")
		},
	})
	base := "http://site.test:" + port
	e := startExporter(t, chromium.ExporterOptions{Browser: chromium.Options{Tabs: 3}},
		guard.Options{Allow: "site.test:" + port, Lookup: resolveToLoopback})

	var jobs []job

	for name, tc := range map[string]struct {
		path string
		o    export.VisitOptions
		want string
	}{
		"load":         {"/hangs", export.VisitOptions{}, "page"},
		"selector":     {"/later", export.VisitOptions{WaitForSelector: "#late"}, "page late"},
		"expression":   {"/later", export.VisitOptions{WaitForExpression: "ready; "}, "page late"},
		"networkidle0": {"/fetches", export.VisitOptions{WaitUntil: "networkidle0"}, "page slow"},
		"networkidle2": {"/hangs", export.VisitOptions{WaitUntil: "networkidle2"}, "page"},
		"navigation":   {"/moves", export.VisitOptions{WaitForSelector: "#late"}, "page late"},
		"policy":       {"/strict", export.VisitOptions{WaitForExpression: "1+1"}, "page"},
		"dom":          {"/framed", export.VisitOptions{WaitUntil: "domcontentloaded"}, "page"},
	} {
		jobs = append(jobs, job{name, func(t *testing.T) {
			out := mustExport(t, e, base+tc.path, export.PDFOptions{VisitOptions: tc.o})
			if got := text(t, out.Data); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		}})
	}
	jobs = append(jobs, job{"time", func(t *testing.T) {
		began := time.Now()

		out := mustExport(t, e, base+"/later",
			export.PDFOptions{VisitOptions: export.VisitOptions{WaitForTimeout: 1500}})
		if took := time.Since(began); took < 1500*time.Millisecond || !strings.HasPrefix(text(t, out.Data), "page") {
			t.Errorf("text %q after %s, want page after at least 1.5 s", text(t, out.Data), took)
		}
	}})

	quick, loaded := new(1000), new(3000) // ms; loaded is long enough to load the page
	for name, tc := range map[string]struct {
		o    export.VisitOptions
		code fault.Code
		says string
	}{
		"selector":           {export.VisitOptions{WaitForSelector: "#never", Timeout: loaded}, fault.PageTimeout, "waitForSelector"},
		"expression":         {export.VisitOptions{WaitForExpression: "nowhere.to", Timeout: loaded}, fault.PageTimeout, "nowhere is not defined"},
		"idle":               {export.VisitOptions{WaitUntil: "networkidle0", Timeout: quick}, fault.PageTimeout, ""},
		"endless promise":    {export.VisitOptions{WaitForExpression: "new Promise(()=>{})", Timeout: quick}, fault.PageTimeout, ""},
		"invalid selector":   {export.VisitOptions{WaitForSelector: "p["}, fault.InvalidOption, "not a valid selector"},
		"invalid expression": {export.VisitOptions{WaitForExpression: "a b"}, fault.InvalidOption, "Unexpected identifier"},
		"throws SyntaxError": {export.VisitOptions{WaitForExpression: "JSON.parse('{')", Timeout: loaded}, fault.PageTimeout, "JSON"},
	} {
		path := "/later"
		if name == "idle" {
			path = "/hangs"
		}

		jobs = append(jobs, job{"fails/" + name, func(t *testing.T) {
			_, err := e.PDF(t.Context(), chromium.Visit{URL: base + path}, export.PDFOptions{VisitOptions: tc.o})
			if tc.o.Timeout == loaded && err != nil &&
				!strings.Contains(err.Error(), tc.says) { // on a busy machine the page may not have loaded
				tc.o.Timeout = new(60_000)
				_, err = e.PDF(t.Context(), chromium.Visit{URL: base + path}, export.PDFOptions{VisitOptions: tc.o})
			}

			if fault.CodeOf(err) != tc.code || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("error %v, want %s with %q", err, tc.code, tc.says)
			}
		}})
	}
	runThree(t, jobs)
}

// corner returns the top left pixel of a picture.
func corner(t *testing.T, data []byte) color.NRGBA {
	t.Helper()
	return pixel(t, data, 0, 0)
}

// pixel returns a pixel of a picture. A negative y counts from the bottom.
func pixel(t *testing.T, data []byte, x, y int) color.NRGBA {
	t.Helper()

	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}

	if y < 0 {
		y += img.Bounds().Dy()
	}

	return color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
}

// optionsSite starts an Exporter and a site for the tests of options. It returns the address of the site.
func optionsSite(t *testing.T) (e *chromium.Exporter, base string) {
	t.Helper()
	other := serve(t, pages{"/": "<script>document.write('framed script')</script>"})
	port := serve(t, pages{
		"/": `<style>@media screen{p.p{display:none}}@media print{p.s{display:none}}body{margin:0;background:#fff;color:var(--base-content)}#box{width:120px;height:50px;margin:700px 30px}</style>
			<h1 id=top>Head</h1><p class=s>screen</p><p class=p>print</p><div id=box>box</div><iframe src="http://other.test:` + other + `"></iframe><script>document.body.append('scripted')</script><noscript>quiet</noscript>
			<script>addEventListener('load',()=>document.body.append(document.documentElement.dataset.theme||''))</script>`,
		"/sized": "<style>@page{size:100mm 100mm;margin:0}</style><p>x",
		"/tall":  "<style>body{margin:0}</style><div style='height:20000px'>tall",
		"/blue":  "<style>body{margin:0}</style><div style='height:3000px;background:#00f'></div>",
		"/clear": "<p>clear",
	})
	base = "http://site.test:" + port
	e = startExporter(t, chromium.ExporterOptions{},
		guard.Options{Allow: "site.test:" + port + ",other.test:" + other, Lookup: resolveToLoopback})

	return e, base
}

func TestPDFsFollowTheirOptions(t *testing.T) {
	t.Parallel()
	e, base := optionsSite(t)

	off := new(false)
	for name, tc := range map[string]struct {
		path       string
		o          export.PDFOptions
		size, want string
	}{
		"default":   {"/", export.PDFOptions{}, "612 x 792 pts (letter)", "Head print box framed script scripted"},
		"landscape": {"/", export.PDFOptions{Format: "a5", Landscape: new(true)}, "595.92 x 420 pts", "Head print"},
		"lengths":   {"/", export.PDFOptions{Width: "10cm", Height: "960px"}, "283.92 x 720 pts", "Head print"},
		"css size":  {"/sized", export.PDFOptions{PreferCSSPageSize: new(true)}, "282.96 x 282.96 pts", "x"},
		"screen":    {"/", export.PDFOptions{VisitOptions: export.VisitOptions{MediaType: "screen"}}, "", "Head screen box"},
		"no script": {"/", export.PDFOptions{VisitOptions: export.VisitOptions{JavaScriptEnabled: off}}, "", "Head print box quiet"},
		"banners": {"/", export.PDFOptions{
			DisplayHeaderFooter: new(true), HeaderTemplate: "<b style='font-size:9px'>Top of <i class=title></i></b>",
			FooterTemplate: "<b style='font-size:9px'><i class=pageNumber></i>/<i class=totalPages></i></b>", Margin: export.Margin{Top: "2cm", Bottom: "2cm"},
		}, "", "Top of T Head print"},
	} {
		t.Run(name, func(t *testing.T) {
			out := mustExport(t, e, base+tc.path, tc.o)
			if got := text(t, out.Data); !strings.HasPrefix(got, tc.want) {
				t.Errorf("text %q, want %q first", got, tc.want)
			}

			if size := info(t, out.Data, "Page size"); tc.size != "" && !strings.HasPrefix(size, tc.size) {
				t.Errorf("page size %s, want %s", size, tc.size)
			}
		})
	}

	for name, tc := range map[string]struct {
		o     export.PDFOptions
		pages string // number of pages for a height of 20000 px
	}{
		"letter":   {export.PDFOptions{}, "19"},
		"two":      {export.PDFOptions{PageRanges: "2-3"}, "2"},
		"scaled":   {export.PDFOptions{Scale: new(0.5)}, "10"},
		"margins":  {export.PDFOptions{Margin: export.Margin{Top: "96", Bottom: "1in"}}, "24"},
		"sideways": {export.PDFOptions{Landscape: new(true)}, "25"},
	} {
		t.Run(name, func(t *testing.T) {
			if n := info(t, mustExport(t, e, base+"/tall", tc.o).Data, "Pages"); n != tc.pages {
				t.Errorf("%s pages, want %s", n, tc.pages)
			}
		})
	}

	for name, tc := range map[string]struct {
		o    export.PDFOptions
		want color.NRGBA
	}{
		"background":    {export.PDFOptions{}, color.NRGBA{0, 0, 255, 255}},
		"no background": {export.PDFOptions{PrintBackground: off}, color.NRGBA{255, 255, 255, 255}},
		"margin":        {export.PDFOptions{Margin: export.Margin{Top: "4cm"}}, color.NRGBA{255, 255, 255, 255}},
	} {
		t.Run(name, func(t *testing.T) {
			out := mustExport(t, e, base+"/blue", tc.o)

			got := corner(t, []byte(runTool(t, out.Data, "pdftoppm", "-png", "-r", "36", "-singlefile", "-")))
			if got != tc.want {
				t.Errorf("colour of the corner %v, want %v", got, tc.want)
			}
		})
	}

	if out := mustExport(t, e, base+"/", export.PDFOptions{Tagged: off}); info(t, out.Data, "Tagged") != "no" {
		t.Error("Tagged false: the PDF is tagged, want it untagged")
	}

	out := mustExport(t, e, base+"/", export.PDFOptions{Outline: new(true)})
	if info(t, out.Data, "Tagged") != "yes" || !bytes.Contains(out.Data, []byte("/Outlines")) {
		t.Error("Outline: want a tagged PDF with an outline")
	}
	_, err := e.PDF(t.Context(), chromium.Visit{URL: base + "/"}, export.PDFOptions{PageRanges: "90-95"})
	wantCodeFor(t, "page ranges", err, fault.InvalidOption)
}

func TestScreenshotsFollowTheirOptions(t *testing.T) {
	t.Parallel()
	e, base := optionsSite(t)

	themed := export.VisitOptions{Theme: "nord"}

	themedScreenshot := func(o export.ScreenshotOptions) chromium.Exported {
		out, err := e.Screenshot(t.Context(),
			chromium.Visit{URL: base + "/", ThemeCSS: ":root{--base-content:#f00}body{background:#00f!important}"},
			o)
		if err != nil {
			t.Fatalf("%+v: error %v, want nil", o, err)
		}

		return out
	}
	for name, tc := range map[string]struct {
		o             export.ScreenshotOptions
		kind          string
		width, height int
	}{
		"viewport": {export.ScreenshotOptions{}, "image/png", 800, 600},
		"small":    {export.ScreenshotOptions{VisitOptions: export.VisitOptions{Viewport: &export.Viewport{Width: 300, Height: 200}}}, "image/png", 300, 200},
		"window":   {export.ScreenshotOptions{VisitOptions: export.VisitOptions{Viewport: &export.Viewport{Width: 300, Height: 200, DeviceScaleFactor: 2}}}, "image/png", 600, 400},
		"jpeg":     {export.ScreenshotOptions{Type: "jpeg", Quality: new(30), Clip: &export.Clip{X: 10, Y: 700, Width: 64, Height: 32}}, "image/jpeg", 64, 32},
		"selector": {export.ScreenshotOptions{Selector: "#box"}, "image/png", 120, 50},
		"themed":   {export.ScreenshotOptions{VisitOptions: themed}, "image/png", 800, 600},
	} {
		t.Run(name, func(t *testing.T) {
			out := themedScreenshot(tc.o)

			c := imageConfig(t, out.Data)
			if out.ContentType != tc.kind || c.Width != tc.width || c.Height != tc.height {
				t.Errorf("%s of %d × %d, want %s of %d × %d", out.ContentType, c.Width, c.Height, tc.kind,
					tc.width, tc.height)
			}

			img, _, err := image.Decode(bytes.NewReader(out.Data))
			if err != nil {
				t.Fatal(err)
			}

			if _, _, b, _ := img.At(0, 0).RGBA(); name == "themed" && b != 0xffff {
				t.Errorf("colour of the corner %v, want the blue of the theme", img.At(0, 0))
			}
		})
	}

	if out := themedScreenshot(export.ScreenshotOptions{Type: "webp"}); !bytes.HasPrefix(out.Data[8:], []byte("WEBP")) {
		t.Errorf("Type webp: the picture begins with %.12q, want WebP", out.Data)
	}

	screenshot := func(path string, o export.ScreenshotOptions) chromium.Exported {
		out, err := e.Screenshot(t.Context(), chromium.Visit{URL: base + path}, o)
		if err != nil {
			t.Fatalf("%+v: error %v, want nil", o, err)
		}

		return out
	}

	c := imageConfig(t, screenshot("/blue", export.ScreenshotOptions{FullPage: new(true)}).Data)
	if c.Width != 800 || c.Height != 3000 {
		t.Errorf("FullPage: picture of %d × %d, want 800 × 3000", c.Width, c.Height)
	}

	low := screenshot("/", export.ScreenshotOptions{Type: "jpeg", Quality: new(5)})

	high := screenshot("/", export.ScreenshotOptions{Type: "jpeg", Quality: new(95)})
	if len(low.Data) >= len(high.Data) {
		t.Errorf("%d bytes with a quality of 5, want less than with 95, %d", len(low.Data), len(high.Data))
	}

	for _, omit := range []bool{false, true} {
		out := screenshot(
			"/clear",
			export.ScreenshotOptions{VisitOptions: export.VisitOptions{OmitBackground: new(omit)}},
		)
		if got := corner(t, out.Data); (got.A == 0) != omit {
			t.Errorf("omitBackground %v: colour of the corner %v, want it transparent: %v", omit, got, omit)
		}
	}

	for says, o := range map[string]export.ScreenshotOptions{"16384": {FullPage: new(true)}, "million pixels": {Clip: &export.Clip{Width: 9000, Height: 9000}}, "selector": {Selector: "#none"}} {
		t.Run(says, func(t *testing.T) {
			_, err := e.Screenshot(t.Context(), chromium.Visit{URL: base + "/tall"}, o)
			if fault.CodeOf(err) != fault.PageError || !strings.Contains(err.Error(), says) {
				t.Errorf("error %v, want page_error with %q", err, says)
			}
		})
	}
}
