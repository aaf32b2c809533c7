package export

import (
	"bytes"
	"encoding/json"
	"strconv"

	"presswork/internal/fault"
	"presswork/internal/pdffile/pdfa"
)

// VisitOptions are how a page is loaded before it is exported, and when that
// counts as failed. The names are Puppeteer's. Every field is optional; values
// are checked by CheckPDF and CheckScreenshot.
type VisitOptions struct {
	// WaitUntil is load (default), domcontentloaded, networkidle0 or networkidle2.
	WaitUntil string `json:"waitUntil,omitempty"`
	// WaitForSelector waits until the document has such an element.
	WaitForSelector string `json:"waitForSelector,omitempty"`
	// WaitForExpression waits until this JavaScript, or the promise it gives, is
	// true.
	WaitForExpression string `json:"waitForExpression,omitempty"`
	// WaitForTimeout waits for this many milliseconds after all other waits.
	WaitForTimeout int `json:"waitForTimeout,omitempty"`
	// Timeout bounds the whole export, in milliseconds: 1 to 120000, default
	// 30000.
	Timeout *int `json:"timeout,omitempty"`

	// MediaType is screen or print. Default: print on paper, screen in pictures.
	MediaType string    `json:"mediaType,omitempty"`
	Viewport  *Viewport `json:"viewport,omitempty"`
	// OmitBackground leaves the page transparent where it sets no background.
	OmitBackground *bool `json:"omitBackground,omitempty"`
	// JavaScriptEnabled is true by default.
	JavaScriptEnabled *bool `json:"javaScriptEnabled,omitempty"`
	// UserAgent is sent with every request, and what scripts see.
	UserAgent string `json:"userAgent,omitempty"`
	// ExtraHTTPHeaders and Cookies are sent to the page's own origin only.
	ExtraHTTPHeaders map[string]string `json:"extraHTTPHeaders,omitempty"`
	Cookies          []Cookie          `json:"cookies,omitempty"`

	// FailOnHTTPStatusCodes are the answers that fail the page itself; nil is
	// 400 to 599, an empty list is none.
	FailOnHTTPStatusCodes []StatusRange `json:"failOnHttpStatusCodes,omitzero"`
	// FailOnConsoleExceptions fails on a script error that the page does not catch.
	FailOnConsoleExceptions *bool `json:"failOnConsoleExceptions,omitempty"`
	// FailOnResourceLoadingFailed fails on a resource that gets no answer, or
	// whose address is refused. An answer such as 404 is an answer.
	FailOnResourceLoadingFailed *bool `json:"failOnResourceLoadingFailed,omitempty"`

	// Theme is the name of one of our themes: its variables are set on the page,
	// and data-theme.
	Theme string `json:"theme,omitempty"`
	// Filename is what the result is called; default: by the page's address.
	Filename string `json:"filename,omitempty"`
	// Save keeps the result as an artifact (default false).
	Save *bool `json:"save,omitempty"`
}

// PDFOptions are the choices about a page's PDF. The names are those of
// Puppeteer's page.pdf.
type PDFOptions struct {
	VisitOptions
	// Format is letter (default), legal, tabloid, ledger or a0 to a6, in any
	// case; it beats Width and Height.
	Format    string `json:"format,omitempty"`
	Width     Length `json:"width,omitempty"`
	Height    Length `json:"height,omitempty"`
	Landscape *bool  `json:"landscape,omitempty"`
	Margin    Margin `json:"margin,omitzero"`
	// Scale is 0.1 to 2; default 1.
	Scale *float64 `json:"scale,omitempty"`
	// PrintBackground is true by default.
	PrintBackground *bool `json:"printBackground,omitempty"`
	// PageRanges keeps only these pages: "1-3,5".
	PageRanges string `json:"pageRanges,omitempty"`
	// DisplayHeaderFooter prints HeaderTemplate and FooterTemplate: HTML in which
	// elements of the classes date, title, url, pageNumber and totalPages are
	// filled.
	DisplayHeaderFooter *bool  `json:"displayHeaderFooter,omitempty"`
	HeaderTemplate      string `json:"headerTemplate,omitempty"`
	FooterTemplate      string `json:"footerTemplate,omitempty"`
	// PreferCSSPageSize lets the page's own @page size beat the paper asked for.
	PreferCSSPageSize *bool `json:"preferCSSPageSize,omitempty"`
	// Outline writes bookmarks (default false), Tagged the structure tree
	// (default true), which the outline is made from.
	Outline *bool `json:"outline,omitempty"`
	Tagged  *bool `json:"tagged,omitempty"`
	// PDFA is the PDF/A level: 2b, 2u or 3b; true is 2b.
	PDFA *pdfa.Level `json:"pdf_a,omitempty"`
}

// ScreenshotOptions are the choices about a page's picture.
type ScreenshotOptions struct {
	VisitOptions
	// Type is png (default), jpeg or webp.
	Type string `json:"type,omitempty"`
	// Quality is 0 to 100, for jpeg and webp; default 80.
	Quality *int `json:"quality,omitempty"`
	// FullPage takes the whole page instead of the viewport.
	FullPage *bool `json:"fullPage,omitempty"`
	// Clip takes a rectangle of the page.
	Clip *Clip `json:"clip,omitempty"`
	// Selector takes the first such element.
	Selector string `json:"selector,omitempty"`
}

// Viewport is the window a page is laid out in, in CSS pixels. Default 800 × 600,
// one device pixel each.
type Viewport struct {
	Width             int     `json:"width"`
	Height            int     `json:"height"`
	DeviceScaleFactor float64 `json:"deviceScaleFactor,omitempty"`
}

// Clip is a rectangle of a page, in CSS pixels from its top left corner.
type Clip struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// Cookie is set before the page is loaded, for its origin alone.
type Cookie struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Domain may be given, and must be the page's host then.
	Domain string `json:"domain,omitempty"`
	// Path is where it is sent; default /.
	Path     string `json:"path,omitempty"`
	Secure   *bool  `json:"secure,omitempty"`
	HTTPOnly *bool  `json:"httpOnly,omitempty"`
	// SameSite is Strict, Lax or None.
	SameSite string `json:"sameSite,omitempty"`
	// Expires is in seconds since 1970; 0 or -1 is with the session.
	Expires float64 `json:"expires,omitempty"`
}

// Margin is the white border of the paper. Default 0 on each side.
type Margin struct {
	Top    Length `json:"top,omitempty"`
	Right  Length `json:"right,omitempty"`
	Bottom Length `json:"bottom,omitempty"`
	Left   Length `json:"left,omitempty"`
}

// Length is a CSS length with its unit: "20mm". In JSON also a bare number,
// which is px.
type Length string

// UnmarshalJSON reads a string or a number.
func (l *Length) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte(`"`)) {
		return json.Unmarshal(b, (*string)(l))
	}

	var px float64
	if err := json.Unmarshal(b, &px); err != nil {
		return fault.Errorf(
			fault.InvalidType,
			`a length is a number of pixels or a string with a unit, such as "20mm"`,
		).
			WithCause(err)
	}
	*l = Length(strconv.FormatFloat(px, 'f', -1, 64) + "px")

	return nil
}

// StatusRange is the HTTP statuses From to To, both included; in JSON [400,599]
// or a single 404.
type StatusRange struct{ From, To int }

// UnmarshalJSON reads a number or a list of two.
func (r *StatusRange) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &r.From) == nil {
		r.To = r.From
		return nil
	}

	var pair []int
	if err := json.Unmarshal(b, &pair); err != nil || len(pair) != 2 {
		return fault.Errorf(
			fault.InvalidType,
			"failOnHttpStatusCodes is a list of statuses and of ranges such as [400,599]",
		).
			WithCause(err)
	}
	r.From, r.To = pair[0], pair[1]

	return nil
}

// MarshalJSON writes a list of two.
func (r StatusRange) MarshalJSON() ([]byte, error) { return json.Marshal([]int{r.From, r.To}) }
