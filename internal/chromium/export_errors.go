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

// verdict judges the page by what it shows, and by the fail conditions.
func (v *visit) verdict() error {
	// The guard's word comes first: that it cut the connections off is an error of the
	// network to the browser, which may tell of it sooner.
	if err := v.session.Err(); err != nil {
		return err
	}
	v.mu.Lock()
	main, lost, thrown := v.main, v.lost, v.thrown
	v.mu.Unlock()
	// The guard answers for a server over plain HTTP that was not reached, so
	// that looks like an answer to the browser.
	if main.failed != "" || main.status == 403 || main.status == 502 || main.status == 504 {
		if err := v.session.Failure(hostport(main.url)); err != nil {
			return unreachable(main.url, err)
		}
	}

	switch {
	case main.failed != "":
		return navigationFailed(main.url, main.failed)
	case main.status != 0 && export.Fails(v.opts, main.status):
		return fault.Errorf(fault.PageError, "the page answered with status %d", main.status)
	case isTrue(v.opts.FailOnConsoleExceptions) && thrown != "":
		return fault.Errorf(fault.PageError, "a script of the page failed: %s", thrown)
	case isTrue(v.opts.FailOnResourceLoadingFailed):
		if lost != "" {
			return fault.Errorf(fault.PageError, "a resource of the page was not loaded: %s", lost)
		}

		failures := v.session.Failures()
		if servers := slices.Sorted(maps.Keys(failures)); len(servers) > 0 {
			return fault.Errorf(fault.PageError, "a resource of the page was not loaded: %s",
				fault.AsError(unreachable("//"+servers[0], failures[servers[0]])).Message)
		}
	}

	return nil
}

// unreachable coins the guard's reason why a server was not reached.
func unreachable(page string, err error) error {
	if coined, ok := errors.AsType[*fault.Error](err); ok {
		return coined
	}

	host := clipText(page)
	if u, err := url.Parse(page); err == nil {
		host = clipText(u.Host)
	}
	dns, isDNS := errors.AsType[*net.DNSError](err)
	slow, isNet := errors.AsType[net.Error](err)
	said := "does not answer"

	switch {
	case isDNS && dns.IsNotFound:
		said = "does not exist: its name is not known"
	case isDNS:
		said = "cannot be found: its name does not resolve at present"
	case errors.Is(err, syscall.ECONNREFUSED):
		said = "refuses the connection"
	case isNet && slow.Timeout(), errors.Is(err, context.DeadlineExceeded):
		said = "does not answer in time"
	}

	return fault.Errorf(fault.PageUnreachable, "%s %s", host, said).WithCause(err)
}

// navigationFailed coins one of Chromium's net errors.
func navigationFailed(page, text string) error {
	name := strings.TrimPrefix(text, "net::")
	host := hostport(page)
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(name, p) })
	}
	var e *fault.Error

	switch {
	case has("ERR_CERT_", "ERR_SSL_", "ERR_BAD_SSL", "ERR_ECH_", "ERR_TLS"):
		e = fault.Errorf(
			fault.PageUnreachable,
			"there is no secure connection to %s: its certificate or TLS is not valid (%s)",
			host,
			name,
		)
	case has("ERR_TOO_MANY_REDIRECTS"):
		e = fault.Errorf(fault.PageError, "the page redirects more than 20 times")
	case has("ERR_UNSAFE_REDIRECT", "ERR_UNKNOWN_URL_SCHEME", "ERR_DISALLOWED_URL_SCHEME"):
		e = fault.Errorf(fault.AddressNotAllowed, "the page leads to an address that is not http or https")
	case has("ERR_UNSAFE_PORT"):
		e = fault.Errorf(fault.AddressNotAllowed, "%s is not allowed: browsers do not connect to this port", host)
	case has("ERR_INVALID_URL"):
		e = fault.Errorf(fault.InvalidURL, "the page's address is not a valid URL")
	case has("ERR_ABORTED"):
		e = fault.Errorf(
			fault.PageError,
			"%s sent no page, but a download, nothing, or a redirect to what is not the web",
			host,
		)
	default:
		e = fault.Errorf(fault.PageUnreachable, "%s does not answer as a web server does (%s)", host, name)
	}

	return e.WithCause(errors.New(text))
}

// blame finds the reason of an error that the page's end caused.
func (v *visit) blame(err error) error {
	if _, coined := errors.AsType[*fault.Error](err); !coined && v.ctx.Err() != nil {
		return context.Cause(v.ctx)
	}

	return err
}

// nameTemplates names the templates that a page was printed with, when the renderer crashed on it or was too slow: a
// template can do that to any page.
func nameTemplates(err error, o export.PDFOptions) error {
	failed, ok := errors.AsType[*fault.Error](err)
	if !ok || failed.Code != fault.PageTimeout && !errors.Is(err, errTabCrashed) || !isTrue(o.DisplayHeaderFooter) {
		return err
	}
	var names []string

	for _, template := range []struct{ name, text string }{{"headerTemplate", o.HeaderTemplate}, {"footerTemplate", o.FooterTemplate}} {
		if template.text != "" {
			names = append(names, template.name)
		}
	}

	if len(names) == 0 {
		return err
	}

	return fault.Errorf(failed.Code, "%s; it was being printed with %s: try it with a simpler template, or without",
		failed.Message, strings.Join(names, " and ")).WithParam("options." + names[0]).WithCause(err)
}

// coin turns a failed export into the error its caller gets.
func (e *Exporter) coin(ctx context.Context, err error) error {
	refusal, refused := errors.AsType[*cdp.Error](err)

	coined, isCoined := errors.AsType[*fault.Error](err)
	switch {
	case isCoined:
		return coined
	case errors.Is(err, errTabCrashed):
		return fault.Errorf(fault.PageError, "the page crashed the browser's renderer, or took too much memory").
			WithCause(err)
	case errors.Is(err, errConnClosed):
		return fault.Errorf(fault.BrowserUnavailable, "the browser died while it exported").WithCause(err)
	case ctx.Err() != nil:
		return ended(ctx)
	case refused && strings.Contains(strings.ToLower(refusal.Message), "page range"):
		return fault.Errorf(fault.InvalidOption, "pageRanges: %s", refusal.Message).
			WithParam("options.pageRanges").
			WithCause(err)
	case refused:
		return fault.Errorf(fault.PageError, "the page cannot be exported: %s", refusal.Message).WithCause(err)
	}

	return fault.Errorf(fault.RenderFailed, "the page cannot be exported").WithCause(err)
}
