package browse

import (
	"context"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"

	"golang.org/x/net/html/charset"

	"presswork/internal/fault"
	"presswork/internal/guard"
)

const (
	maxRedirects = 5
	// maxBytes is the number of unpacked bytes that are read of a page. maxPDF is the largest PDF. The beginning
	// of a page is useful, but half a PDF is not.
	maxBytes = 2 << 20
	maxPDF   = 16 << 20
)

// fetcher reads pages. It is safe for concurrent use.
type fetcher struct {
	policy  *guard.Policy
	client  *http.Client
	sites   *sites
	agent   string
	render  func(ctx context.Context, address string) (html, final string, err error)
	pdfText func(ctx context.Context, pdf []byte) (string, error)
	log     *slog.Logger
}

func newFetcher(o Options) *fetcher {
	return &fetcher{
		policy: o.Policy, agent: o.UserAgent, render: o.Render, pdfText: o.PDFText, log: o.Log,
		client: o.Policy.Client(guard.ClientOptions{Timeout: o.Timeout}),
		sites:  newSites(o),
	}
}

// response is the response of an address.
type response struct {
	url  *url.URL // after redirects
	kind string   // media type
	// declared is the whole content type, perhaps with a character set.
	declared string
	body     []byte
	cut      bool // there was more
}

// page reads the page at an address. Errors: InvalidURL, AddressNotAllowed, PageUnreachable, PageError for its
// status or because of robots.txt, ContentTooLarge, UnsupportedMediaType.
func (f *fetcher) page(ctx context.Context, address string) (*page, error) {
	r, err := f.get(ctx, address)
	if err != nil {
		return nil, err
	}

	switch sort := sortOf(r); sort {
	case sortHTML:
		return f.document(ctx, r)
	case sortPDF:
		return f.pdf(ctx, r)
	case sortText:
		text, err := decode(r)
		if err != nil {
			return nil, err
		}

		return r.plain(text), nil
	}

	return nil, fault.Errorf(
		fault.UnsupportedMediaType,
		"%s is %s; HTML, text, JSON, XML and PDF can be read",
		name(r.url),
		inline(r.kind, 80),
	)
}

// get requests an address and follows redirects. Each redirect is checked like a new address.
func (f *fetcher) get(ctx context.Context, address string) (*response, error) {
	u, err := f.policy.CheckURL(address)
	if err != nil {
		return nil, err
	}

	for range maxRedirects + 1 {
		if err := f.sites.enter(ctx, u); err != nil {
			return nil, err
		}

		resp, err := f.ask(ctx, u)
		if err != nil {
			return nil, err
		}

		next := resp.Header.Get("Location")
		if resp.StatusCode/100 != 3 || next == "" {
			return f.read(u, resp)
		}
		resp.Body.Close()

		target, err := u.Parse(next)
		if err != nil {
			return nil, fault.Errorf(fault.PageError, "%s redirects to what is no address", name(u)).WithCause(err)
		}

		if u, err = f.policy.CheckURL(target.String()); err != nil {
			return nil, err
		}
	}

	return nil, fault.Errorf(
		fault.PageError,
		"%s redirects more than %d times",
		inline(address, maxShown),
		maxRedirects,
	)
}

func (f *fetcher) ask(ctx context.Context, u *url.URL) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fault.Errorf(fault.InvalidURL, "%q is not a valid URL", inline(u.String(), maxShown)).WithCause(err)
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

// unreachable returns a public error unchanged, for example that of a dial. It hides the addresses in other
// errors.
func unreachable(u *url.URL, err error) error {
	if fault.CodeOf(err) != fault.Internal {
		return fault.AsError(err)
	}

	return fault.Errorf(fault.PageUnreachable, "%s does not answer, or not in time", name(u)).WithCause(err)
}

// read reads the response up to the limits.
func (f *fetcher) read(u *url.URL, resp *http.Response) (*response, error) {
	defer resp.Body.Close()

	if resp.StatusCode/100 != 2 {
		return nil, fault.Errorf(
			fault.PageError,
			"%s answered %d %s",
			name(u),
			resp.StatusCode,
			http.StatusText(resp.StatusCode),
		)
	}
	r := &response{url: u, declared: resp.Header.Get("Content-Type")}
	limit := maxBytes

	head, err := io.ReadAll(io.LimitReader(resp.Body, 512)) // as much as http.DetectContentType looks at
	if err != nil {
		return nil, unreachable(u, err)
	}

	if r.kind = kindOf(r.declared, head); r.kind == "application/pdf" {
		limit = maxPDF
	}
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
// for every PDF.
func kindOf(declared string, head []byte) string {
	found, _, _ := strings.Cut(http.DetectContentType(head), ";")

	kind, _, err := mime.ParseMediaType(declared)
	if err != nil || kind == "" || kind == "application/octet-stream" || found == "application/pdf" {
		return found
	}

	return kind
}

// Kinds of readable content.
type sort int

const (
	sortOther sort = iota
	sortHTML
	sortText
	sortPDF
)

func sortOf(r *response) sort {
	switch kind := r.kind; {
	case kind == "text/html", kind == "application/xhtml+xml":
		return sortHTML
	case kind == "application/pdf":
		return sortPDF
	case strings.HasPrefix(kind, "text/"),
		kind == "application/json",
		kind == "application/xml",
		kind == "application/javascript",
		kind == "application/yaml",
		strings.HasSuffix(kind, "+json"),
		strings.HasSuffix(kind, "+xml") && kind != "image/svg+xml":
		return sortText
	}

	return sortOther
}

// decode returns a response as UTF-8. The encoding is that of its byte order mark, its declaration or its bytes,
// as in the HTML standard. Errors: UnsupportedMediaType for other content than text.
func decode(r *response) (string, error) {
	encoding, _, _ := charset.DetermineEncoding(r.body[:min(len(r.body), 1024)], r.declared)

	text, err := encoding.NewDecoder().Bytes(r.body)
	if err != nil {
		return "", fault.Errorf(
			fault.UnsupportedMediaType,
			"%s is not written in the character set it names",
			name(r.url),
		).
			WithCause(err)
	}

	if binary(text) {
		return "", fault.Errorf(
			fault.UnsupportedMediaType,
			"%s is no text, though it is called %s",
			name(r.url),
			inline(r.kind, 80),
		)
	}

	return string(text), nil
}

// binary reports whether bytes are not text: text has hardly any control characters.
func binary(text []byte) bool {
	controls := 0

	for _, b := range text {
		if b < ' ' && b != '\n' && b != '\r' && b != '\t' && b != '\f' && b != '\x1b' {
			controls++
		}
	}

	return controls > len(text)/1000+8
}

// plain returns a page with the text unchanged.
func (r *response) plain(text string) *page {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\t", "    ")

	text = strings.Trim(clean(text), "\n")
	if len(text) > maxText {
		text, r.cut = strings.ToValidUTF8(text[:maxText], ""), true
	}

	if text == "" {
		text = "(The page is empty.)"
	}

	return newPage(r.url.String(), fileName(r.url), text+note(r.cut), nil)
}

// pdf returns a page with the text of a PDF.
func (f *fetcher) pdf(ctx context.Context, r *response) (*page, error) {
	switch {
	case r.cut:
		return nil, fault.Errorf(fault.ContentTooLarge, "%s is a PDF of more than %d MB", name(r.url), maxPDF>>20)
	case f.pdfText == nil:
		return nil, fault.Errorf(fault.UnsupportedMediaType, "%s is a PDF, and this server reads none", name(r.url))
	}

	text, err := f.pdfText(ctx, r.body)
	if err != nil {
		if ctx.Err() == nil {
			f.log.InfoContext(ctx, "a PDF was not read", "host", r.url.Host, "error", err)
		}

		return nil, fault.Errorf(fault.PageError, "%s is a PDF that cannot be read", name(r.url)).WithCause(err)
	}

	var b strings.Builder
	for i, sheet := range strings.Split(strings.TrimRight(text, "\f\n "), "\f") {
		if b.Len() > maxText {
			break
		}
		b.WriteString("## Page " + itoa(i+1) + "\n\n" + strings.Trim(sheet, "\n") + "\n\n")
	}

	if strings.TrimSpace(text) == "" {
		return nil, fault.Errorf(fault.PageError, "%s is a PDF without text: its pages may be pictures", name(r.url))
	}

	return r.plain(b.String()), nil
}

// note returns the end of a text that was cut off.
func note(cut bool) string {
	if !cut {
		return ""
	}

	return "\n\n(The page is longer; the rest was not read.)"
}

// name returns the host and path of a URL, for errors.
func name(u *url.URL) string { return inline(u.Host+u.EscapedPath(), maxShown) }

func fileName(u *url.URL) string {
	if base := path.Base(u.Path); base != "/" && base != "." {
		return base
	}

	return u.Hostname()
}
