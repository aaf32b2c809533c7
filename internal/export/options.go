package export

import (
	"bytes"
	"encoding/json"
	"strconv"

	"presswork/internal/fault"
	"presswork/internal/pdffile/pdfa"
)

// VisitOptions define how a page is loaded before its export, and when it counts as failed. The names are
// Puppeteer's. Every field is optional. CheckPDF and CheckScreenshot check the values.
type VisitOptions struct {
	// WaitUntil is load (default), domcontentloaded, networkidle0 or networkidle2.
	WaitUntil string `json:"waitUntil,omitempty"`
	// WaitForSelector waits until an element of the document matches this CSS selector.
	WaitForSelector string `json:"waitForSelector,omitempty"`
	// WaitForExpression waits until the value of this JavaScript expression is true. A promise is awaited.
	WaitForExpression string `json:"waitForExpression,omitempty"`
	// WaitForTimeout waits for this many milliseconds after all other waits.
	WaitForTimeout int `json:"waitForTimeout,omitempty"`
	// Timeout limits the whole export, in milliseconds: 1 to 120000. Default 30000.
	Timeout *int `json:"timeout,omitempty"`

	// MediaType is the CSS media type, screen or print. Default: print for a PDF, screen for a picture.
	MediaType string    `json:"mediaType,omitempty"`
	Viewport  *Viewport `json:"viewport,omitempty"`
	// OmitBackground keeps the parts of the page transparent that have no background of their own. Default: white.
	OmitBackground *bool `json:"omitBackground,omitempty"`
	// JavaScriptEnabled is true by default.
	JavaScriptEnabled *bool `json:"javaScriptEnabled,omitempty"`
	// UserAgent is sent with every request and visible to scripts. Default: the browser's own.
	UserAgent string `json:"userAgent,omitempty"`
	// ExtraHTTPHeaders and Cookies are sent to the page's own origin only.
	ExtraHTTPHeaders map[string]string `json:"extraHTTPHeaders,omitempty"`
	Cookies          []Cookie          `json:"cookies,omitempty"`

	// FailOnHTTPStatusCodes are the HTTP statuses of the page itself that count as a failure. Default (nil): 400
	// to 599. An empty list accepts every status.
	FailOnHTTPStatusCodes []StatusRange `json:"failOnHttpStatusCodes,omitzero"`
	// FailOnConsoleExceptions makes an uncaught exception of the page's scripts a failure. Default false.
	FailOnConsoleExceptions *bool `json:"failOnConsoleExceptions,omitempty"`
	// FailOnResourceLoadingFailed makes a resource without an answer, or with an address that is not allowed, a
	// failure. A status such as 404 counts as an answer. Default false.
	FailOnResourceLoadingFailed *bool `json:"failOnResourceLoadingFailed,omitempty"`

	// Theme is the name of a Presswork theme. The page gets the theme's CSS variables and a data-theme attribute.
	// Default: none.
	Theme string `json:"theme,omitempty"`
	// Filename is the name of the result. Default: a name from the page's address.
	Filename string `json:"filename,omitempty"`
	// Save stores the result as an artifact. Default false.
	Save *bool `json:"save,omitempty"`
}

// PDFOptions are the options of a page's PDF. The names are those of Puppeteer's page.pdf. Every field is
// optional.
type PDFOptions struct {
	VisitOptions
	// Format is letter (default), legal, tabloid, ledger or a0 to a6, in any case. If it is set, Width and Height
	// are ignored.
	Format    string `json:"format,omitempty"`
	Width     Length `json:"width,omitempty"`
	Height    Length `json:"height,omitempty"`
	Landscape *bool  `json:"landscape,omitempty"`
	Margin    Margin `json:"margin,omitzero"`
	// Scale is 0.1 to 2; default 1.
	Scale *float64 `json:"scale,omitempty"`
	// PrintBackground is true by default.
	PrintBackground *bool `json:"printBackground,omitempty"`
	// PageRanges selects pages, such as "1-3,5". Default: all.
	PageRanges string `json:"pageRanges,omitempty"`
	// DisplayHeaderFooter prints HeaderTemplate and FooterTemplate. These are HTML. Elements of the classes date,
	// title, url, pageNumber and totalPages are filled in.
	DisplayHeaderFooter *bool  `json:"displayHeaderFooter,omitempty"`
	HeaderTemplate      string `json:"headerTemplate,omitempty"`
	FooterTemplate      string `json:"footerTemplate,omitempty"`
	// PreferCSSPageSize gives the page's own @page size precedence over the size in the options. Default false.
	PreferCSSPageSize *bool `json:"preferCSSPageSize,omitempty"`
	// Outline writes bookmarks (default false). Tagged writes the structure tree (default true), which bookmarks
	// need.
	Outline *bool `json:"outline,omitempty"`
	Tagged  *bool `json:"tagged,omitempty"`
	// PDFA is the PDF/A level: 2b, 2u or 3b. In JSON true means 2b. Default: no PDF/A.
	PDFA *pdfa.Level `json:"pdf_a,omitempty"`
}

// ScreenshotOptions are the options of a page's picture. Every field is optional.
type ScreenshotOptions struct {
	VisitOptions
	// Type is png (default), jpeg or webp.
	Type string `json:"type,omitempty"`
	// Quality is 0 to 100, for jpeg and webp; default 80.
	Quality *int `json:"quality,omitempty"`
	// FullPage captures the whole page instead of the viewport. Default false.
	FullPage *bool `json:"fullPage,omitempty"`
	// Clip captures a rectangle of the page.
	Clip *Clip `json:"clip,omitempty"`
	// Selector captures the first element that matches this CSS selector.
	Selector string `json:"selector,omitempty"`
}

// Viewport is the window for the page's layout, in CSS pixels. Default: 800 × 600, with one device pixel for each
// CSS pixel.
type Viewport struct {
	Width             int     `json:"width"`
	Height            int     `json:"height"`
	DeviceScaleFactor float64 `json:"deviceScaleFactor,omitempty"`
}

// Clip is a rectangle of a page, in CSS pixels from the page's top left corner.
type Clip struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// Cookie is a cookie that is set before the page is loaded. Only the page's origin receives it.
type Cookie struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Domain is optional; if it is set, it must be the page's host.
	Domain string `json:"domain,omitempty"`
	// Path is the path prefix for which the cookie is sent. Default /.
	Path     string `json:"path,omitempty"`
	Secure   *bool  `json:"secure,omitempty"`
	HTTPOnly *bool  `json:"httpOnly,omitempty"`
	// SameSite is Strict, Lax or None.
	SameSite string `json:"sameSite,omitempty"`
	// Expires is a Unix time in seconds. 0 and -1 make a session cookie.
	Expires float64 `json:"expires,omitempty"`
}

// Margin is the blank border of the paper. Default 0 on each side.
type Margin struct {
	Top    Length `json:"top,omitempty"`
	Right  Length `json:"right,omitempty"`
	Bottom Length `json:"bottom,omitempty"`
	Left   Length `json:"left,omitempty"`
}

// Length is a CSS length with its unit, such as "20mm". A bare number, also as a JSON number, is in px.
type Length string

// UnmarshalJSON reads a string or a number. It does not check the text; PaperOf does. Errors: InvalidType.
func (l *Length) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte(`"`)) {
		return json.Unmarshal(b, (*string)(l))
	}

	var px float64
	if err := json.Unmarshal(b, &px); err != nil {
		return fault.Errorf(fault.InvalidType,
			`a length is a number of pixels or a string with a unit, such as "20mm"`).WithCause(err)
	}
	*l = Length(strconv.FormatFloat(px, 'f', -1, 64) + "px")

	return nil
}

// StatusRange is a range of HTTP statuses that includes both From and To. Its JSON is [400,599] or a single 404.
type StatusRange struct{ From, To int }

// UnmarshalJSON reads a number or a list of two numbers. Errors: InvalidType.
func (r *StatusRange) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &r.From) == nil {
		r.To = r.From
		return nil
	}

	var pair []int
	if err := json.Unmarshal(b, &pair); err != nil || len(pair) != 2 {
		return fault.Errorf(fault.InvalidType,
			"failOnHttpStatusCodes is a list of statuses and of ranges such as [400,599]").WithCause(err)
	}
	r.From, r.To = pair[0], pair[1]

	return nil
}

// MarshalJSON writes a list of two numbers.
func (r StatusRange) MarshalJSON() ([]byte, error) { return json.Marshal([]int{r.From, r.To}) }
