package chromium

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"github.com/go-rod/rod/lib/cdp"

	"presswork/internal/export"
	"presswork/internal/fault"
)

// pageError returns the error of a page that has failed, or that fulfils a fail condition of
// the options. It returns nil for a good page.
func (v *visit) pageError() error {
	// The guard's error comes first. When the guard cuts the connections off, the browser
	// may report a network error earlier.
	if err := v.guardSession.Err(); err != nil {
		return err
	}
	v.mu.Lock()
	main, lost, exception := v.main, v.lostResource, v.firstException
	v.mu.Unlock()
	// For an unreachable server over plain HTTP the guard answers the request itself, with
	// one of these statuses.
	if main.failure != "" || main.status == 403 || main.status == 502 || main.status == 504 {
		if err := v.guardSession.Failure(hostPort(main.url)); err != nil {
			return unreachableError(main.url, err)
		}
	}

	switch {
	case main.failure != "":
		return navigationError(main.url, main.failure)
	case main.status != 0 && export.Fails(v.opts, main.status):
		return fault.Errorf(fault.PageError, "the page answered with status %d", main.status)
	case isTrue(v.opts.FailOnConsoleExceptions) && exception != "":
		return fault.Errorf(fault.PageError, "a script of the page failed: %s", exception)
	case isTrue(v.opts.FailOnResourceLoadingFailed):
		if lost != "" {
			return fault.Errorf(fault.PageError, "a resource of the page was not loaded: %s", lost)
		}

		failures := v.guardSession.Failures()
		if servers := slices.Sorted(maps.Keys(failures)); len(servers) > 0 {
			return fault.Errorf(fault.PageError, "a resource of the page was not loaded: %s",
				fault.AsError(unreachableError("//"+servers[0], failures[servers[0]])).Message)
		}
	}

	return nil
}

// unreachableError returns the public error for the guard's reason why a server was not
// reached.
func unreachableError(page string, err error) error {
	if public, ok := errors.AsType[*fault.Error](err); ok {
		return public
	}

	host := clipText(page)
	if u, err := url.Parse(page); err == nil {
		host = clipText(u.Host)
	}
	dns, isDNS := errors.AsType[*net.DNSError](err)
	slow, isNet := errors.AsType[net.Error](err)
	problem := "does not answer"

	switch {
	case isDNS && dns.IsNotFound:
		problem = "does not exist: its name is not known"
	case isDNS:
		problem = "cannot be found: its name does not resolve at present"
	case errors.Is(err, syscall.ECONNREFUSED):
		problem = "refuses the connection"
	case isNet && slow.Timeout(), errors.Is(err, context.DeadlineExceeded):
		problem = "does not answer in time"
	}

	return fault.Errorf(fault.PageUnreachable, "%s %s", host, problem).WithCause(err)
}

// navigationError returns the public error for one of Chromium's network errors. text is its name, such as
// "net::ERR_ABORTED".
func navigationError(page, text string) error {
	name := strings.TrimPrefix(text, "net::")
	host := hostPort(page)
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(name, p) })
	}
	var e *fault.Error

	switch {
	case has("ERR_CERT_", "ERR_SSL_", "ERR_BAD_SSL", "ERR_ECH_", "ERR_TLS"):
		e = fault.Errorf(fault.PageUnreachable,
			"there is no secure connection to %s: its certificate or TLS is not valid (%s)", host, name)
	case has("ERR_TOO_MANY_REDIRECTS"):
		e = fault.Errorf(fault.PageError, "the page redirects more than 20 times")
	case has("ERR_UNSAFE_REDIRECT", "ERR_UNKNOWN_URL_SCHEME", "ERR_DISALLOWED_URL_SCHEME"):
		e = fault.Errorf(fault.AddressNotAllowed, "the page leads to an address that is not http or https")
	case has("ERR_UNSAFE_PORT"):
		e = fault.Errorf(fault.AddressNotAllowed, "%s is not allowed: browsers do not connect to this port", host)
	case has("ERR_INVALID_URL"):
		e = fault.Errorf(fault.InvalidURL, "the page's address is not a valid URL")
	case has("ERR_ABORTED"):
		e = fault.Errorf(fault.PageError,
			"%s sent no page, but a download, nothing, or a redirect to an address that is not http or https", host)
	default:
		e = fault.Errorf(fault.PageUnreachable, "%s does not answer as a web server does (%s)", host, name)
	}

	return e.WithCause(errors.New(text))
}

// endCause returns the cause of the visit's end, if the visit has ended and err is not
// already a public error.
func (v *visit) endCause(err error) error {
	if _, public := errors.AsType[*fault.Error](err); !public && v.ctx.Err() != nil {
		return context.Cause(v.ctx)
	}

	return err
}

// nameTemplates adds the names of the header and footer templates to the error of a renderer
// that crashed or was too slow. A template can cause that on any page.
func nameTemplates(err error, o export.PDFOptions) error {
	failed, ok := errors.AsType[*fault.Error](err)
	if !ok || failed.Code != fault.PageTimeout && !errors.Is(err, errTabCrashed) || !isTrue(o.DisplayHeaderFooter) {
		return err
	}
	var names []string

	for _, template := range []struct{ name, text string }{
		{"headerTemplate", o.HeaderTemplate},
		{"footerTemplate", o.FooterTemplate},
	} {
		if template.text != "" {
			names = append(names, template.name)
		}
	}

	if len(names) == 0 {
		return err
	}

	return fault.Errorf(failed.Code, "%s; it was being printed with %s: use a simpler template, or none",
		failed.Message, strings.Join(names, " and ")).WithParam("options." + names[0]).WithCause(err)
}

// publicError returns the error of a failed export that the caller gets.
func (e *Exporter) publicError(ctx context.Context, err error) error {
	refusal, refused := errors.AsType[*cdp.Error](err)

	public, isPublic := errors.AsType[*fault.Error](err)
	switch {
	case isPublic:
		return public
	case errors.Is(err, errTabCrashed):
		return fault.Errorf(fault.PageError, "the page crashed the browser's renderer, or took too much memory").
			WithCause(err)
	case errors.Is(err, errConnClosed):
		return fault.Errorf(fault.BrowserUnavailable, "the browser died while it exported").WithCause(err)
	case ctx.Err() != nil:
		return contextError(ctx)
	case refused && strings.Contains(strings.ToLower(refusal.Message), "page range"):
		return fault.Errorf(fault.InvalidOption, "pageRanges: %s", refusal.Message).
			WithParam("options.pageRanges").
			WithCause(err)
	case refused:
		return fault.Errorf(fault.PageError, "the page cannot be exported: %s", refusal.Message).WithCause(err)
	}

	return fault.Errorf(fault.RenderFailed, "the page cannot be exported").WithCause(err)
}
