package chromium_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"net/http"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/chromium"
	"presswork/internal/guard"
)

func TestWaits(t *testing.T) {
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
		"/framed":  `<p>page</p><iframe src="/never"></iframe>`, // never has its load event
		"/moves":   `<p>first</p><script>setTimeout(()=>location="/later",50)</script>`,
		"/strict": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Security-Policy", "default-src 'none'")
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<p>page")
		},
	})
	base := "http://site.test:" + port
	e := exporter(t, chromium.ExporterOptions{Browser: chromium.Options{Tabs: 3}}, guard.Options{Allow: "site.test:" + port, Lookup: byName})
	var jobs []func()
	for name, tc := range map[string]struct {
		path string
		o    presswork.VisitOptions
		want string
	}{
		"load":         {"/hangs", presswork.VisitOptions{}, "page"},
		"selector":     {"/later", presswork.VisitOptions{WaitForSelector: "#late"}, "page late"},
		"expression":   {"/later", presswork.VisitOptions{WaitForExpression: "ready; "}, "page late"},
		"time":         {"/later", presswork.VisitOptions{WaitForTimeout: 600}, "page late"},
		"networkidle0": {"/fetches", presswork.VisitOptions{WaitUntil: "networkidle0"}, "page slow"},
		"networkidle2": {"/hangs", presswork.VisitOptions{WaitUntil: "networkidle2"}, "page"},
		"navigation":   {"/moves", presswork.VisitOptions{WaitForSelector: "#late"}, "page late"},
		"policy":       {"/strict", presswork.VisitOptions{WaitForExpression: "1+1"}, "page"},
		"dom":          {"/framed", presswork.VisitOptions{WaitUntil: "domcontentloaded"}, "page"},
	} {
		jobs = append(jobs, func() {
			out, err := e.PDF(t.Context(), chromium.Visit{URL: base + tc.path}, presswork.ExportOptions{VisitOptions: tc.o})
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if got := text(t, out.Data); got != tc.want {
				t.Errorf("%s: %q, want %q", name, got, tc.want)
			}
		})
	}
	quick, loaded := new(1000), new(4000) // time for nothing, and to load the page
	for name, tc := range map[string]struct {
		o    presswork.VisitOptions
		code presswork.Code
		says string
	}{
		"selector":          {presswork.VisitOptions{WaitForSelector: "#never", Timeout: loaded}, presswork.PageTimeout, "waitForSelector"},
		"expression":        {presswork.VisitOptions{WaitForExpression: "nowhere.to", Timeout: loaded}, presswork.PageTimeout, "nowhere is not defined"},
		"idle":              {presswork.VisitOptions{WaitUntil: "networkidle0", Timeout: quick}, presswork.PageTimeout, ""},
		"endless":           {presswork.VisitOptions{WaitForExpression: "new Promise(()=>{})", Timeout: quick}, presswork.PageTimeout, ""},
		"no selector":       {presswork.VisitOptions{WaitForSelector: "p["}, presswork.InvalidOption, "not a valid selector"},
		"no expression":     {presswork.VisitOptions{WaitForExpression: "a b"}, presswork.InvalidOption, "Unexpected identifier"},
		"throws its syntax": {presswork.VisitOptions{WaitForExpression: "JSON.parse('{')", Timeout: loaded}, presswork.PageTimeout, "JSON"},
	} {
		path := "/later"
		if name == "idle" {
			path = "/hangs"
		}
		jobs = append(jobs, func() {
			_, err := e.PDF(t.Context(), chromium.Visit{URL: base + path}, presswork.ExportOptions{VisitOptions: tc.o})
			if presswork.CodeOf(err) != tc.code || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	together(jobs)
}

// corner is the top left pixel of a picture.
func corner(t *testing.T, data []byte) color.NRGBA {
	t.Helper()
	return pixel(t, data, 0, 0)
}

// pixel is one of a picture; y below 0 counts from its end.
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

func TestPaperAndPictureOptions(t *testing.T) {
	t.Parallel()
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
	base := "http://site.test:" + port
	e := exporter(t, chromium.ExporterOptions{}, guard.Options{Allow: "site.test:" + port + ",other.test:" + other, Lookup: byName})
	off := new(false)
	for name, tc := range map[string]struct {
		path       string
		o          presswork.ExportOptions
		size, want string
	}{
		"default":   {"/", presswork.ExportOptions{}, "612 x 792 pts (letter)", "Head print box framed script scripted"},
		"landscape": {"/", presswork.ExportOptions{Format: "a5", Landscape: new(true)}, "595.92 x 420 pts", "Head print"},
		"lengths":   {"/", presswork.ExportOptions{Width: "10cm", Height: "960px"}, "283.92 x 720 pts", "Head print"},
		"css size":  {"/sized", presswork.ExportOptions{PreferCSSPageSize: new(true)}, "282.96 x 282.96 pts", "x"},
		"screen":    {"/", presswork.ExportOptions{VisitOptions: presswork.VisitOptions{MediaType: "screen"}}, "", "Head screen box"},
		"no script": {"/", presswork.ExportOptions{VisitOptions: presswork.VisitOptions{JavaScriptEnabled: off}}, "", "Head print box quiet"},
		"banners": {"/", presswork.ExportOptions{DisplayHeaderFooter: new(true), HeaderTemplate: "<b style='font-size:9px'>Top of <i class=title></i></b>",
			FooterTemplate: "<b style='font-size:9px'><i class=pageNumber></i>/<i class=totalPages></i></b>", Margin: presswork.ExportMargin{Top: "2cm", Bottom: "2cm"}}, "", "Top of T Head print"},
	} {
		out := mustExport(t, e, base+tc.path, tc.o)
		if got := text(t, out.Data); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
		if size := info(t, out.Data, "Page size"); tc.size != "" && !strings.HasPrefix(size, tc.size) {
			t.Errorf("%s: %s, want %s", name, size, tc.size)
		}
	}
	for name, tc := range map[string]struct {
		o     presswork.ExportOptions
		pages string // of 20000 px
	}{
		"letter":   {presswork.ExportOptions{}, "19"},
		"two":      {presswork.ExportOptions{PageRanges: "2-3"}, "2"},
		"scaled":   {presswork.ExportOptions{Scale: new(0.5)}, "10"},
		"margins":  {presswork.ExportOptions{Margin: presswork.ExportMargin{Top: "96", Bottom: "1in"}}, "24"},
		"sideways": {presswork.ExportOptions{Landscape: new(true)}, "25"},
	} {
		if n := info(t, mustExport(t, e, base+"/tall", tc.o).Data, "Pages"); n != tc.pages {
			t.Errorf("%s: %s pages, want %s", name, n, tc.pages)
		}
	}
	for _, tc := range []struct {
		o    presswork.ExportOptions
		want color.NRGBA
	}{
		{presswork.ExportOptions{}, color.NRGBA{0, 0, 255, 255}},
		{presswork.ExportOptions{PrintBackground: off}, color.NRGBA{255, 255, 255, 255}},
		{presswork.ExportOptions{Margin: presswork.ExportMargin{Top: "4cm"}}, color.NRGBA{255, 255, 255, 255}},
	} {
		out := mustExport(t, e, base+"/blue", tc.o)
		if got := corner(t, []byte(tool(t, out.Data, "pdftoppm", "-png", "-r", "36", "-singlefile", "-"))); got != tc.want {
			t.Errorf("%+v: the corner is %v, want %v", tc.o, got, tc.want)
		}
	}
	if out := mustExport(t, e, base+"/", presswork.ExportOptions{Tagged: off}); info(t, out.Data, "Tagged") != "no" {
		t.Error("tagged all the same")
	}
	if out := mustExport(t, e, base+"/", presswork.ExportOptions{Outline: new(true)}); info(t, out.Data, "Tagged") != "yes" || !bytes.Contains(out.Data, []byte("/Outlines")) {
		t.Error("no outline")
	}
	_, err := e.PDF(t.Context(), chromium.Visit{URL: base + "/"}, presswork.ExportOptions{PageRanges: "90-95"})
	wantCodeFor(t, "page ranges", err, presswork.InvalidOption)

	themed := presswork.VisitOptions{Theme: "nord"}
	shot := func(o presswork.ScreenshotOptions) chromium.Exported {
		out, err := e.Screenshot(t.Context(), chromium.Visit{URL: base + "/", ThemeCSS: ":root{--base-content:#f00}body{background:#00f!important}"}, o)
		if err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		return out
	}
	for name, tc := range map[string]struct {
		o             presswork.ScreenshotOptions
		kind          string
		width, height int
	}{
		"viewport": {presswork.ScreenshotOptions{}, "image/png", 800, 600},
		"small":    {presswork.ScreenshotOptions{VisitOptions: presswork.VisitOptions{Viewport: &presswork.Viewport{Width: 300, Height: 200}}}, "image/png", 300, 200},
		"window":   {presswork.ScreenshotOptions{VisitOptions: presswork.VisitOptions{Viewport: &presswork.Viewport{Width: 300, Height: 200, DeviceScaleFactor: 2}}}, "image/png", 600, 400},
		"jpeg":     {presswork.ScreenshotOptions{Type: "jpeg", Quality: new(30), Clip: &presswork.Clip{X: 10, Y: 700, Width: 64, Height: 32}}, "image/jpeg", 64, 32},
		"selector": {presswork.ScreenshotOptions{Selector: "#box"}, "image/png", 120, 50},
		"themed":   {presswork.ScreenshotOptions{VisitOptions: themed}, "image/png", 800, 600},
	} {
		out := shot(tc.o)
		c := decode(t, out.Data)
		if out.ContentType != tc.kind || c.Width != tc.width || c.Height != tc.height {
			t.Errorf("%s: %s, %d × %d", name, out.ContentType, c.Width, c.Height)
		}
		img, _, err := image.Decode(bytes.NewReader(out.Data))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, b, _ := img.At(0, 0).RGBA(); name == "themed" && b != 0xffff {
			t.Errorf("the theme's background is not there: %v", img.At(0, 0))
		}
	}
	if out := shot(presswork.ScreenshotOptions{Type: "webp"}); !bytes.HasPrefix(out.Data[8:], []byte("WEBP")) {
		t.Error("no webp")
	}
	shoot := func(path string, o presswork.ScreenshotOptions) chromium.Exported {
		out, err := e.Screenshot(t.Context(), chromium.Visit{URL: base + path}, o)
		if err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		return out
	}
	if c := decode(t, shoot("/blue", presswork.ScreenshotOptions{FullPage: new(true)}).Data); c.Width != 800 || c.Height != 3000 {
		t.Errorf("the whole page is %d × %d", c.Width, c.Height)
	}
	if a, b := shoot("/", presswork.ScreenshotOptions{Type: "jpeg", Quality: new(5)}), shoot("/", presswork.ScreenshotOptions{Type: "jpeg", Quality: new(95)}); len(a.Data) >= len(b.Data) {
		t.Errorf("the quality of 5 takes %d bytes, that of 95 %d", len(a.Data), len(b.Data))
	}
	for _, omit := range []bool{false, true} {
		out := shoot("/clear", presswork.ScreenshotOptions{VisitOptions: presswork.VisitOptions{OmitBackground: new(omit)}})
		if got := corner(t, out.Data); (got.A == 0) != omit {
			t.Errorf("omitBackground %v: the corner is %v", omit, got)
		}
	}
	for says, o := range map[string]presswork.ScreenshotOptions{"16384": {FullPage: new(true)}, "million pixels": {Clip: &presswork.Clip{Width: 9000, Height: 9000}}, "selector": {Selector: "#none"}} {
		_, err := e.Screenshot(t.Context(), chromium.Visit{URL: base + "/tall"}, o)
		if presswork.CodeOf(err) != presswork.PageError || !strings.Contains(err.Error(), says) {
			t.Errorf("%v", err)
		}
	}
}
