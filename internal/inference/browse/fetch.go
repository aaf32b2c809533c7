package browse

import (
	"context"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"golang.org/x/net/html/charset"

	"presswork/internal/fault"
	"presswork/internal/guard"
)

const (
	// maxRedirects bounds the redirects from one address, each of which is checked.
	maxRedirects = 5
	// maxBytes is the number of unpacked bytes that are read of a page. maxPDF is the largest PDF. The beginning
	// of a page is useful, but half a PDF is not.
	maxBytes = 2 << 20
	maxPDF   = 16 << 20
)

// fetcher reads pages. It is safe for concurrent use.
type fetcher struct {
	policy *guard.Policy
	client *http.Client
	sites  *sites // the state of each site: robots.txt and rate
	agent  string
	// render opens a page in a browser; nil without one.
	render  func(ctx context.Context, address string) (html, final string, err error)
	pdfText func(ctx context.Context, pdf []byte) (string, error) // reads a PDF; nil without a sandbox
	log     *slog.Logger
}

// newFetcher returns a fetcher with the options of the tool.
func newFetcher(o Options) *fetcher {
	return &fetcher{
		policy: o.Policy, agent: o.UserAgent, render: o.Render, pdfText: o.PDFText, log: o.Log,
		client: o.Policy.Client(guard.ClientOptions{Timeout: o.Timeout}),
		sites:  newSites(o),
	}
}

// response is the answer of a server. Its body is cut off at a limit.
type response struct {
	url  *url.URL // after redirects
	kind string   // media type
	// declared is the header Content-Type, which may name a character set.
	declared string
	body     []byte
	cut      bool // the body was longer than the limit
}

// fetchPage returns the page at an address. Errors: InvalidURL, AddressNotAllowed, PageUnreachable, PageError for its
// status or because of robots.txt, ContentTooLarge, UnsupportedMediaType.
func (f *fetcher) fetchPage(ctx context.Context, address string) (*page, error) {
	r, err := f.get(ctx, address)
	if err != nil {
		return nil, err
	}

	switch formatOf(r) {
	case formatHTML:
		return f.document(ctx, r)
	case formatPDF:
		return f.pdfPage(ctx, r)
	case formatText:
		text, err := decode(r)
		if err != nil {
			return nil, err
		}

		return r.textPage(text), nil
	}

	return nil, fault.Errorf(fault.UnsupportedMediaType,
		"%s is %s; HTML, text, JSON, XML and PDF can be read", shortName(r.url), inline(r.kind, 80))
}

// get requests an address and follows redirects. It checks each redirect like a new address.
func (f *fetcher) get(ctx context.Context, address string) (*response, error) {
	u, err := f.policy.CheckURL(address)
	if err != nil {
		return nil, err
	}

	for range maxRedirects + 1 {
		if err := f.sites.waitFor(ctx, u); err != nil {
			return nil, err
		}

		resp, err := f.send(ctx, u)
		if err != nil {
			return nil, err
		}

		next := resp.Header.Get("Location")
		if resp.StatusCode/100 != 3 || next == "" {
			return f.readResponse(u, resp)
		}
		resp.Body.Close()

		target, err := u.Parse(next)
		if err != nil {
			return nil, fault.Errorf(fault.PageError, "%s redirects to an invalid address", shortName(u)).WithCause(err)
		}

		if u, err = f.policy.CheckURL(target.String()); err != nil {
			return nil, err
		}
	}

	return nil, fault.Errorf(fault.PageError,
		"%s redirects more than %d times", inline(address, maxAddress), maxRedirects)
}

// send sends a GET request. The caller closes the body. Errors: InvalidURL, AddressNotAllowed, PageUnreachable.
func (f *fetcher) send(ctx context.Context, u *url.URL) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fault.Errorf(fault.InvalidURL, "%q is not a valid URL", inline(u.String(), maxAddress)).
			WithCause(err)
	}
	req.Header.Set("User-Agent", f.agent)
	req.Header.Set(
		"Accept",
		"text/html,application/xhtml+xml,text/*;q=0.9,application/json;q=0.9,"+
			"application/xml;q=0.9,application/pdf;q=0.8,*/*;q=0.1",
	)

	resp, err := f.client.Do(req)
	if err != nil {
		return nil, unreachable(u, err)
	}

	return resp, nil
}

// unreachable returns the error for a failed request. A public error, for example that of a dial, stays unchanged.
// Other errors become PageUnreachable, without the internal addresses in their text.
func unreachable(u *url.URL, err error) error {
	if fault.CodeOf(err) != fault.Internal {
		return fault.AsError(err)
	}

	return fault.Errorf(fault.PageUnreachable, "%s does not answer, or not in time", shortName(u)).WithCause(err)
}

// readResponse reads a response up to the limits.
func (f *fetcher) readResponse(u *url.URL, resp *http.Response) (*response, error) {
	defer resp.Body.Close()

	if resp.StatusCode/100 != 2 {
		return nil, fault.Errorf(fault.PageError,
			"%s answered %d %s", shortName(u), resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	r := &response{url: u, declared: resp.Header.Get("Content-Type")}
	limit := maxBytes

	head, err := io.ReadAll(io.LimitReader(resp.Body, 512)) // http.DetectContentType uses at most 512 bytes
	if err != nil {
		return nil, unreachable(u, err)
	}

	if r.kind = kindOf(r.declared, head); r.kind == "application/pdf" {
		limit = maxPDF
	}
	// One more byte shows that the body is longer than the limit.
	rest, err := io.ReadAll(io.LimitReader(resp.Body, int64(limit-len(head)+1)))
	r.body = append(head, rest...)

	if err != nil {
		return nil, unreachable(u, err)
	}

	if len(r.body) > limit {
		r.body, r.cut = r.body[:limit], true
	}

	return r, nil
}

// kindOf returns the media type of a response. It is detected from the bytes if no useful type is declared, and
// for every PDF, because many servers declare PDFs as downloads.
func kindOf(declared string, head []byte) string {
	found, _, _ := strings.Cut(http.DetectContentType(head), ";")

	kind, _, err := mime.ParseMediaType(declared)
	if err != nil || kind == "" || kind == "application/octet-stream" || found == "application/pdf" {
		return found
	}

	return kind
}

// format is how the content of a response is read.
type format int

const (
	formatOther format = iota
	formatHTML
	formatText
	formatPDF
)

// formatOf returns how to read a response of this media type.
func formatOf(r *response) format {
	switch kind := r.kind; {
	case kind == "text/html", kind == "application/xhtml+xml":
		return formatHTML
	case kind == "application/pdf":
		return formatPDF
	case strings.HasPrefix(kind, "text/"),
		kind == "application/json",
		kind == "application/xml",
		kind == "application/javascript",
		kind == "application/yaml",
		strings.HasSuffix(kind, "+json"),
		strings.HasSuffix(kind, "+xml") && kind != "image/svg+xml":
		return formatText
	}

	return formatOther
}

// decode returns a response as UTF-8. The encoding is that of its byte order mark, its declaration or its bytes,
// as in the HTML standard. Errors: UnsupportedMediaType for other content than text.
func decode(r *response) (string, error) {
	encoding, _, _ := charset.DetermineEncoding(r.body[:min(len(r.body), 1024)], r.declared)

	text, err := encoding.NewDecoder().Bytes(r.body)
	if err != nil {
		return "", fault.Errorf(fault.UnsupportedMediaType,
			"%s is not valid in the character set that it declares", shortName(r.url)).WithCause(err)
	}

	if binary(text) {
		return "", fault.Errorf(fault.UnsupportedMediaType,
			"%s is not text, although it is declared as %s", shortName(r.url), inline(r.kind, 80))
	}

	return string(text), nil
}

// binary reports whether bytes are not text. Text has hardly any control characters: at most 8 and one in 1000 bytes.
func binary(text []byte) bool {
	controls := 0

	for _, b := range text {
		// Text may have white space and the escape character of terminals.
		if b < ' ' && b != '\n' && b != '\r' && b != '\t' && b != '\f' && b != '\x1b' {
			controls++
		}
	}

	return controls > len(text)/1000+8
}

// textPage returns a page with the text unchanged, apart from invisible characters.
func (r *response) textPage(text string) *page {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\t", "    ")

	text = strings.Trim(clean(text), "\n")
	if len(text) > maxText {
		text, r.cut = strings.ToValidUTF8(text[:maxText], ""), true
	}

	if text == "" {
		text = "(The page is empty.)"
	}

	return newPage(r.url.String(), fileName(r.url), text+truncationNote(r.cut), nil)
}

// pdfPage returns a page with the text of a PDF.
func (f *fetcher) pdfPage(ctx context.Context, r *response) (*page, error) {
	switch {
	case r.cut:
		return nil, fault.Errorf(fault.ContentTooLarge, "%s is a PDF of more than %d MB", shortName(r.url), maxPDF>>20)
	case f.pdfText == nil:
		return nil, fault.Errorf(fault.UnsupportedMediaType,
			"%s is a PDF, and this server cannot read PDFs", shortName(r.url))
	}

	text, err := f.pdfText(ctx, r.body)
	if err != nil {
		if ctx.Err() == nil {
			f.log.InfoContext(ctx, "could not read a PDF", "host", r.url.Host, "error", err)
		}

		return nil, fault.Errorf(fault.PageError, "%s is a PDF that cannot be read", shortName(r.url)).WithCause(err)
	}

	var b strings.Builder
	for i, pageText := range strings.Split(strings.TrimRight(text, "\f\n "), "\f") {
		if b.Len() > maxText {
			break
		}
		b.WriteString("## Page " + strconv.Itoa(i+1) + "\n\n" + strings.Trim(pageText, "\n") + "\n\n")
	}

	if strings.TrimSpace(text) == "" {
		return nil, fault.Errorf(fault.PageError,
			"%s is a PDF without text: its pages may be pictures", shortName(r.url))
	}

	return r.textPage(b.String()), nil
}

// truncationNote returns the lines to append to a text that was cut off, or "" for a whole text.
func truncationNote(cut bool) string {
	if !cut {
		return ""
	}

	return "\n\n(The page is longer; the rest was not read.)"
}

// shortName returns the host and path of a URL for errors.
func shortName(u *url.URL) string { return inline(u.Host+u.EscapedPath(), maxAddress) }

// fileName returns the last part of the path, or the host if the path is empty.
func fileName(u *url.URL) string {
	if base := path.Base(u.Path); base != "/" && base != "." {
		return base
	}

	return u.Hostname()
}
