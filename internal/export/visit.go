package export

import (
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"

	"presswork/internal/input"
)

// checkVisit checks the options that PDFs and pictures share. The error names the field and what is allowed.
func checkVisit(page *url.URL, o VisitOptions) error {
	if err := checkWaits(o); err != nil {
		return err
	}

	if err := oneOf("mediaType", o.MediaType, "screen", "print"); err != nil {
		return err
	}

	if err := checkViewport(o.Viewport); err != nil {
		return err
	}

	if len(o.UserAgent) > maxUserAgent || !httpguts.ValidHeaderFieldValue(o.UserAgent) {
		return input.Invalid("userAgent",
			"userAgent is longer than %d bytes or contains characters that headers cannot have", maxUserAgent)
	}

	if len(o.Filename) > maxFilename {
		return input.Invalid("filename", "filename is longer than %d bytes", maxFilename)
	}

	for _, r := range o.FailOnHTTPStatusCodes {
		if r.From < 100 || r.To > 599 || r.From > r.To {
			return input.Invalid("failOnHttpStatusCodes",
				"failOnHttpStatusCodes has [%d,%d]; allowed: statuses from 100 to 599, the lower one first",
				r.From, r.To)
		}
	}

	if err := checkHeaders(o.ExtraHTTPHeaders); err != nil {
		return err
	}

	return checkCookies(page, o.Cookies)
}

// checkWaits checks the options that say how long to wait for the page.
func checkWaits(o VisitOptions) error {
	if err := oneOf("waitUntil", o.WaitUntil, "load", "domcontentloaded", "networkidle0", "networkidle2"); err != nil {
		return err
	}

	for name, text := range map[string]string{
		"waitForSelector":   o.WaitForSelector,
		"waitForExpression": o.WaitForExpression,
	} {
		if len(text) > maxScript {
			return input.Invalid(name, "%s is longer than %d KB", name, maxScript>>10)
		}
	}

	most := int(MaxTimeout.Milliseconds())
	if o.Timeout != nil && (*o.Timeout < 1 || *o.Timeout > most) {
		return input.Invalid("timeout", "timeout %d is not allowed; allowed: 1 to %d milliseconds", *o.Timeout, most)
	}

	if limit := int(TimeoutOf(o).Milliseconds()); o.WaitForTimeout < 0 || o.WaitForTimeout >= limit {
		return input.Invalid("waitForTimeout",
			"waitForTimeout %d is not allowed; allowed: 0 to less than timeout (%d milliseconds)",
			o.WaitForTimeout, limit)
	}

	return nil
}

// checkViewport checks the size of the window, and its number of device pixels.
func checkViewport(v *Viewport) error {
	if v == nil {
		return nil
	}

	if v.Width < 1 || v.Height < 1 || v.Width > maxWindow || v.Height > maxWindow {
		return input.Invalid("viewport", "viewport needs width and height from 1 to %d", maxWindow)
	}

	f := v.DeviceScaleFactor
	if f != 0 && !(f >= 0.1 && f <= 4) { // 0 is the default; the comparison also rejects NaN
		return input.Invalid("viewport.deviceScaleFactor",
			"viewport.deviceScaleFactor %v is not allowed; allowed: 0.1 to 4", f)
	}

	if float64(v.Width)*float64(v.Height)*max(f*f, 1) > MaxPixels {
		return input.Invalid("viewport", "viewport has more than %d million device pixels", MaxPixels/1_000_000)
	}

	return nil
}

// Limits on headers and cookies.
const (
	maxHeaders     = 64
	maxHeaderBytes = 8 << 10 // of a name with its value
	maxCookies     = 100
	maxCookieBytes = 4096 // of a name with its value; browsers allow no more
)

// ownHeaders are headers that the browser, the connection or another option sets. A name that ends with "-" stands for
// all headers that begin with it.
var ownHeaders = []string{
	"connection", "content-length", "cookie", "expect", "host", "keep-alive", "origin", "proxy-", "referer", "sec-",
	"te", "trailer", "transfer-encoding", "upgrade", "user-agent", "via",
}

// checkHeaders checks additional headers. It rejects ownHeaders.
func checkHeaders(headers map[string]string) error {
	if len(headers) > maxHeaders {
		return input.Invalid("extraHTTPHeaders",
			"extraHTTPHeaders has %d headers; at most %d are allowed", len(headers), maxHeaders)
	}

	for name, value := range headers {
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) ||
			len(name)+len(value) > maxHeaderBytes {
			return input.Invalid("extraHTTPHeaders",
				"extraHTTPHeaders: %q is not a valid header of at most %d KB", input.Short(name), maxHeaderBytes>>10)
		}

		for _, own := range ownHeaders {
			lower := strings.ToLower(name)
			if lower == own || strings.HasSuffix(own, "-") && strings.HasPrefix(lower, own) {
				return input.Invalid("extraHTTPHeaders", "extraHTTPHeaders: %q cannot be set here; "+
					"use the options cookies and userAgent; the browser sets the others", input.Short(name))
			}
		}
	}

	return nil
}

// checkCookies checks the cookies. They must belong to the page's own host.
func checkCookies(page *url.URL, cookies []Cookie) error {
	if len(cookies) > maxCookies {
		return input.Invalid("cookies", "cookies has %d cookies; at most %d are allowed", len(cookies), maxCookies)
	}

	for _, c := range cookies {
		switch host := page.Hostname(); {
		case !httpguts.ValidHeaderFieldName(c.Name), len(c.Name)+len(c.Value) > maxCookieBytes,
			strings.ContainsFunc(c.Value, notInCookie):
			return input.Invalid("cookies", "cookies: %q is not a valid cookie of at most %d bytes",
				input.Short(c.Name), maxCookieBytes)
		case c.Domain != "" && !strings.EqualFold(strings.TrimPrefix(c.Domain, "."), host):
			return input.Invalid("cookies", "cookies: %q is for %q; cookies are sent to the page's own host, %s",
				input.Short(c.Name), input.Short(c.Domain), host)
		case c.Path != "" && (!strings.HasPrefix(c.Path, "/") || strings.ContainsFunc(c.Path, notInCookie)):
			return input.Invalid("cookies",
				"cookies: the path of %q must begin with / and contain no semicolon or control character",
				input.Short(c.Name))
		case c.Expires < -1 || c.Expires > 1e11: // the year 5138
			return input.Invalid("cookies", "cookies: expires of %q must be seconds since 1970, or -1",
				input.Short(c.Name))
		}

		if err := oneOf("cookies.sameSite", c.SameSite, "Strict", "Lax", "None"); err != nil {
			return err
		}
	}

	return nil
}

// notInCookie reports whether a cookie's value or path cannot contain r: a semicolon or an ASCII control character.
func notInCookie(r rune) bool { return r < ' ' || r == 0x7f || r == ';' }
