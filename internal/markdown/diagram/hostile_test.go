package diagram_test

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"presswork/internal/chromium"
	"presswork/internal/chromium/printable"
	"presswork/internal/markdown/diagram"
	"presswork/internal/test/browsertest"
)

// checkHarmless fails if a picture has more than shapes and texts.
func checkHarmless(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	ids := map[string]bool{}

	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}

		if err != nil {
			t.Fatalf("%v in %.300s", err, svg)
		}

		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}

		switch e.Name.Local {
		case "script", "style", "foreignObject", "image", "use", "a", "iframe", "animate", "set", "handler", "link":
			t.Errorf("got an element %s", e.Name.Local)
		}

		for _, a := range e.Attr {
			name, value := strings.ToLower(a.Name.Local), strings.ToLower(a.Value)
			if strings.HasPrefix(name, "on") || name == "style" || name == "class" || strings.HasSuffix(name, "href") ||
				name == "src" ||
				strings.Contains(value, "javascript:") && name != "aria-label" ||
				strings.Contains(strings.ReplaceAll(value, "url(#dg", ""), "url(") ||
				strings.Contains(value, "http") && name != "aria-label" {
				t.Errorf("%s has %s=%q", e.Name.Local, a.Name.Local, a.Value)
			}

			if name == "id" {
				if ids[value] || !strings.HasPrefix(value, "dg") {
					t.Errorf("id %q is not unique or not rewritten", value)
				}
				ids[value] = true
			}
		}
	}
}

func TestHostileDiagramsBecomeHarmlessPictures(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t, chromium.Options{Tabs: 2})
	r := diagram.New(diagram.Options{Script: b.Script})
	loose := `%%{init: {"securityLevel":"loose","htmlLabels":true,"flowchart":{"htmlLabels":true},"secure":[],"themeCSS":"*{background:url(http://127.0.0.1:1/)} @import 'http://x/';","fontFamily":"x;} body{display:none} a{","themeVariables":{"primaryColor":"red;}*{color:url(http://x)}"}}}%%` + "\n"

	sources := []string{
		"flowchart TD\n A[\"<img src=x onerror=alert(1)>\"] --> B[\"<script>alert(1)</script>\"]",
		loose + "flowchart TD\n A[\"<img src='http://127.0.0.1:1/x' onerror=alert(1)>\"] --> B[<b>bold</b>]",
		"flowchart TD\n A --> B\n click A \"javascript:alert(1)\" \"tip\"\n click B call alert()\n click A href \"http://127.0.0.1:1/\" _blank",
		"flowchart TD\n A:::x --> B\n classDef x fill:url(http://127.0.0.1:1/),stroke:red;}*{display:none}\n style B fill:url('http://x/'),background:expression(alert(1))\n linkStyle 0 stroke:url(http://x)",
		"sequenceDiagram\n participant A as <iframe src=http://x>\n A->>A: $$\\text{<img src=x onerror=alert(1)>}$$\n link A: Board @ javascript:alert(1)\n links A: {\"x\":\"http://x\"}",
		"stateDiagram-v2\n classDef bad background:url(http://x);}body{display:none\n A:::bad --> B",
		"---\nconfig:\n  securityLevel: loose\n  themeCSS: 'svg{background:url(http://x)}'\n---\nflowchart TD\n A@{ img: \"http://127.0.0.1:1/x.png\", label: \"pic\", h: 60 } --> B@{ icon: \"x:y\" }",
		"gantt\n dateFormat YYYY\n click a1 href \"javascript:alert(1)\"\n section <svg onload=alert(1)>\n a :a1, 2020, 1d",
		"pie title <style>*{display:none}</style>\n \"</text><script>x\" : 1",
		"C4Context\n Person(a, \"A\", \"<img src=http://x>\", $sprite=\"http://127.0.0.1:1/x\")",
		"flowchart TD\n id1[\"&lt;script&gt;&#x6a;avascript&colon;\"] --> id2(\"</svg><script>alert(1)</script>\")",
		"gantt\n dateFormat YYYY-MM-DD\n excludes monday,tuesday,wednesday,thursday,friday,saturday,sunday\n a :2026-01-01, 30d",
		strings.Repeat("x", diagram.MaxSource+1),
		"",
		"flowchart TD\n" + strings.Repeat(" A --> B\n", 3000),
		"no such kind\n x",
	}
	for i, p := range draw(t, r, sources...) {
		t.Logf("%.60q: %d bytes, %s", sources[i], len(p.SVG), p.Problem)

		if (p.SVG == "") == (p.Problem == "") {
			t.Errorf("%.80q: got the picture %.80q and the problem %q, want one of them", sources[i], p.SVG, p.Problem)
		}

		if p.SVG != "" {
			checkHarmless(t, p.SVG)
		}

		if strings.ContainsAny(p.Problem, "\n") || len(p.Problem) > 400 {
			t.Errorf("%.80q: got %q, want one line of plain words", sources[i], p.Problem)
		}
	}

	if out, err := b.Print(t.Context(), printable.Page{HTML: "<p>still here"}); err != nil || len(out) == 0 {
		t.Errorf("printing afterwards: %v", err)
	}
}

func FuzzClean(f *testing.F) {
	for _, seed := range []string{
		`<g id="a"><path d="M0 0" fill="url(#a)" onload="x"/><text>a</text></g>`, `<a href="x"><rect/></a>`, `<svg/><style>x</style>`,
		`<foreignObject><div xmlns="http://www.w3.org/1999/xhtml"/></foreignObject>`, `<text fill="rgb(1,2,3)" transform="translate(1 2)">&lt;</text>`,
		`<switch><a><text>x</text></a></switch><!--x--><![CDATA[<script>]]>`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, inside string) {
		svg, err := json.Marshal(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">` + inside + `</svg>`)
		if err != nil {
			t.Skip()
		}

		r := diagram.New(diagram.Options{Script: func(context.Context, string, ...string) ([]json.RawMessage, error) {
			return []json.RawMessage{json.RawMessage(`{"width":9,"height":9,"svg":` + string(svg) + `}`)}, nil
		}})
		if p := draw(t, r, "x")[0]; p.SVG != "" {
			checkHarmless(t, p.SVG)
		}
	})
}
