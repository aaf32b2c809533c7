package export_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strings"
	"testing"

	"presswork/internal/export"
	"presswork/internal/fault"
	"presswork/internal/input"
)

// page is the address that is exported.
var page = &url.URL{Scheme: "http", Host: "site.example", Path: "/"}

// check decodes and checks the options of a request. picture selects screenshot options.
func check(text string, picture bool) error {
	if picture {
		var o export.ScreenshotOptions
		if err := input.DecodeJSON([]byte(text), &o, "options."); err != nil {
			return err
		}

		return export.CheckScreenshot(page, o)
	}

	var o export.PDFOptions
	if err := input.DecodeJSON([]byte(text), &o, "options."); err != nil {
		return err
	}

	return export.CheckPDF(page, o)
}

func TestValidOptionsAreAccepted(t *testing.T) {
	t.Parallel()

	for _, text := range []string{
		`{}`, `{"format":"A4","landscape":true,"margin":{"top":40,"left":"1cm"},"scale":0.5,"pageRanges":"1-3, 5"}`,
		`{"width":400,"height":"12in","outline":true,"tagged":true,"pdf_a":"PDF/A-2b","omitBackground":true,"printBackground":false}`,
		`{"timeout":1000,"waitForTimeout":999,"waitUntil":"networkidle0","failOnHttpStatusCodes":[],"mediaType":"print"}`,
		`{"failOnHttpStatusCodes":[404,[500,599]],"cookies":[{"name":"a","value":"b","domain":"SITE.example","secure":true,"sameSite":"Lax"}],"extraHTTPHeaders":{"Authorization":"Bearer x"}}`,
		`{"viewport":{"width":1200,"height":800,"deviceScaleFactor":2},"theme":"nord","save":true,"filename":"x.pdf"}`,
	} {
		t.Run(text, func(t *testing.T) {
			if err := check(text, false); err != nil {
				t.Errorf("got %v, want no error", err)
			}
		})
	}

	for _, text := range []string{`{}`, `{"type":"jpeg","quality":0}`, `{"clip":{"x":0,"y":10.5,"width":1,"height":16384}}`, `{"selector":"#x"}`, `{"fullPage":true,"timeout":120000}`} {
		t.Run(text, func(t *testing.T) {
			if err := check(text, true); err != nil {
				t.Errorf("got %v, want no error", err)
			}
		})
	}
}

func TestInvalidOptionsAreRejected(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]struct{ param, says string }{
		`{"formatt":"a4"}`:                          {"options.formatt", `did you mean "format"`},
		`{"waitUntil":"networkidle"}`:               {"options.waitUntil", `did you mean "networkidle0"`},
		`{"format":"a44"}`:                          {"options.format", "did you mean"},
		`{"width":"20"}`:                            {"options.width", "0.5in"},
		`{"width":"10em"}`:                          {"options.width", "px, in, cm, mm, pt"},
		`{"width":true}`:                            {"options.width", "a length is"},
		`{"margin":{"top":"-1cm"}}`:                 {"options.margin.top", "not a length"},
		`{"margin":{"top":"14cm","bottom":"14cm"}}`: {"options.margin", "leave less"},
		`{"margin":5}`:                              {"options.margin", "an object"},
		`{"scale":3}`:                               {"options.scale", "0.1 to 2"},
		`{"pageRanges":"3-1"}`:                      {"options.pageRanges", "1-3,5"},
		`{"timeout":0}`:                             {"options.timeout", "1 to 120000"},
		`{"timeout":120001}`:                        {"options.timeout", "1 to 120000"},
		`{"timeout":"1s"}`:                          {"options.timeout", "a whole number"},
		`{"waitForTimeout":30000}`:                  {"options.waitForTimeout", "less than timeout"},
		`{"outline":true,"tagged":false}`:           {"options.outline", "needs tagged"},
		`{"pdf_a":"1b"}`:                            {"options.pdf_a", "2b, 2u, 3b"},
		`{"viewport":{"width":1,"height":0}}`:       {"options.viewport", "1 to 8192"},
		`{"viewport":{"width":8192,"height":8192,"deviceScaleFactor":4}}`: {"options.viewport", "million"},

		`{"viewport":{"widht":1}}`:                                  {"options.viewport.widht", `did you mean "width"`},
		`{"failOnHttpStatusCodes":[[500,400]]}`:                     {"options.failOnHttpStatusCodes", "the lower one first"},
		`{"failOnHttpStatusCodes":[[1,2,3]]}`:                       {"options.failOnHttpStatusCodes", "[400,599]"},
		`{"cookies":[{"name":"a","value":"b","domain":"example"}]}`: {"options.cookies", "own host"},
		`{"cookies":[{"name":"a b","value":"b"}]}`:                  {"options.cookies", "not a valid cookie"},
		`{"cookies":[{"name":"a","value":"b;c"}]}`:                  {"options.cookies", "not a valid cookie"},
		`{"cookies":[{"nmae":"a"}]}`:                                {"options.cookies[0].nmae", `did you mean "name"`},
		`{"cookies":{"a":"b"}}`:                                     {"options.cookies", "a list"},
		`{"cookies":[{"name":"a","value":"b","sameSite":"lax"}]}`:   {"options.cookies.sameSite", `did you mean "Lax"`},
		`{"extraHTTPHeaders":{"Host":"x"}}`:                         {"options.extraHTTPHeaders", "cannot be set"},
		`{"extraHTTPHeaders":{"Proxy-Authorization":"x"}}`:          {"options.extraHTTPHeaders", "cannot be set"},
		`{"extraHTTPHeaders":{"X":"a\nb"}}`:                         {"options.extraHTTPHeaders", "not a valid header"},
		`{"userAgent":"a\u0000"}`:                                   {"options.userAgent", "characters"},
		`{"headerTemplate":"` + strings.Repeat("x", 70_000) + `"}`:  {"options.headerTemplate", "64 KB"},
		`{"type":"png"}`:                                            {"options.type", "unknown field"},
	} {
		t.Run(text, func(t *testing.T) {
			e := fault.AsError(check(text, false))
			if e == nil || e.Param != want.param || !strings.Contains(e.Message, want.says) || len(e.Message) > 1200 {
				t.Errorf("got %v, want %q for %s", e, want.says, want.param)
			}
		})
	}

	for text, says := range map[string]string{
		`{"type":"gif"}`: "png, jpeg, webp", `{"quality":50}`: "png has none", `{"type":"webp","quality":101}`: "0 to 100",
		`{"clip":{"x":-1,"y":0,"width":1,"height":1}}`: "0 or more", `{"clip":{"x":0,"y":0,"width":0.5,"height":1}}`: "from 1",
		`{"fullPage":true,"selector":"#x"}`: "only one of", `{"landscape":true}`: "unknown field",
	} {
		t.Run(text, func(t *testing.T) {
			if err := check(text, true); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("got %v, want %q", err, says)
			}
		})
	}

	if e := fault.AsError(check(`{"fullPage":true,"selector":"#x"}`, true)); e == nil || e.Param != "options.selector" {
		t.Errorf("two areas: got %+v, want an error for options.selector", e)
	}
}

func TestPaperSizeFollowsTheOptions(t *testing.T) {
	t.Parallel()

	for _, tc := range []struct {
		o             export.PDFOptions
		width, height float64 // inches
	}{
		{export.PDFOptions{}, 8.5, 11},
		{export.PDFOptions{Format: "A4", Width: "1in"}, 8.2677, 11.6929},
		{export.PDFOptions{Width: "96px", Height: "72pt"}, 1, 1},
		{export.PDFOptions{Width: "793.7007874015749px", Height: "1122.5196850393700px"}, 210 / 25.4, 297 / 25.4}, // 210 mm x 297 mm
		{export.PDFOptions{Width: "2.54cm", Height: "25.4mm"}, 1, 1},
	} {
		t.Run(fmt.Sprintf("%s %s %s", tc.o.Format, tc.o.Width, tc.o.Height), func(t *testing.T) {
			p, err := export.PaperOf(tc.o)
			if err != nil || math.Abs(p.Width-tc.width) > 1e-9 || math.Abs(p.Height-tc.height) > 1e-9 {
				t.Errorf("got %v × %v in, %v; want %v × %v", p.Width, p.Height, err, tc.width, tc.height)
			}
		})
	}
}

// A job record stores the options as JSON.
func TestOptionsAreReadBackFromAJobRecord(t *testing.T) {
	t.Parallel()
	var o, again export.PDFOptions

	const text = `{"failOnHttpStatusCodes":[],"margin":{"top":"96px"},"width":"10cm","cookies":[{"name":"a","value":"b"}],"tagged":false,"pdf_a":"2b"}`
	if err := input.DecodeJSON([]byte(text), &o, ""); err != nil {
		t.Fatal(err)
	}

	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}

	if err := json.Unmarshal(b, &again); err != nil {
		t.Fatal(err)
	}

	if again.FailOnHTTPStatusCodes == nil || export.Fails(again.VisitOptions, 404) || again.Margin.Top != "96px" ||
		*again.Tagged ||
		len(again.Cookies) != 1 {
		t.Errorf("%s is read as %+v, want every field unchanged", b, again)
	}

	if !export.Fails(export.VisitOptions{}, 404) || export.Fails(export.VisitOptions{}, 399) {
		t.Error("want the statuses from 400 on to fail by default, and no others")
	}
}

// FuzzOptions checks that invalid options are no internal errors, and that valid ones give a timeout and a paper size.
func FuzzOptions(f *testing.F) {
	for _, seed := range []string{
		`{"format":"A4","margin":{"top":40,"left":"1cm"},"scale":0.5,"pageRanges":"1-3, 5"}`, `{"width":1e400,"height":"12in"}`, `{"failOnHttpStatusCodes":[404,[500,599]]}`,
		`{"cookies":[{"name":"a\n","value":";","domain":"site.example","expires":-1}]}`, `{"extraHTTPHeaders":{"Host":"x","A\r\n":"b"}}`, `{"clip":{"x":0,"y":0,"width":1e308,"height":1}}`,
		`{"viewport":{"width":8192,"height":8192,"deviceScaleFactor":3}}`, `{"timeout":-9223372036854775808}`, `{"waitUntil":["load"]}`, `[]`, `{"pdf_a":true}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, picture := range []bool{false, true} {
			if err := check(text, picture); fault.CodeOf(err) == fault.Internal {
				t.Errorf("%q: got the internal error %v, want another or none", text, err)
			}
		}

		var o export.PDFOptions
		if input.DecodeJSON([]byte(text), &o, "options.") != nil || export.CheckPDF(page, o) != nil {
			return
		}

		if limit := export.TimeoutOf(o.VisitOptions); limit <= 0 || limit > export.MaxTimeout {
			t.Errorf("%q: got the timeout %s, want up to %s", text, limit, export.MaxTimeout)
		}

		paper, err := export.PaperOf(o)
		if err != nil || !(paper.Width > 0 && paper.Height > 0) || math.IsInf(paper.Width*paper.Height, 0) {
			t.Errorf("%q: got the paper %+v, %v; want finite sizes", text, paper, err)
		}
	})
}
