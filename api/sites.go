package api

import (
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"presswork/internal/fault"
)

// site is the host[:port] a request was sent to.
type site string

// name is the site without its port.
func (s site) name() string {
	host := string(s)
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}

	return strings.ToLower(strings.Trim(host, "[]"))
}

// sites decides which origins may call from a browser.
type sites struct {
	origins []string
	any     bool
	// names are hosts this server answers to when it is open to everybody.
	names []string
}

func newSites(o Options) sites {
	s := sites{origins: o.AllowedOrigins, any: slices.Contains(o.AllowedOrigins, "*")}
	host, _, _ := net.SplitHostPort(o.Addr)

	s.names = append(s.names, "localhost", strings.ToLower(host))
	if name, err := os.Hostname(); err == nil {
		s.names = append(s.names, strings.ToLower(name))
	}

	for _, origin := range o.AllowedOrigins {
		if u, err := url.Parse(origin); err == nil && u.Host != "" {
			s.names = append(s.names, strings.ToLower(u.Hostname()))
		}
	}

	return s
}

// allows reports whether a page of origin may call: one that is listed, or of
// this very server.
func (s sites) allows(origin string, here site) bool {
	return s.listed(origin) || isOrigin(origin, here)
}

func (s sites) listed(origin string) bool {
	return s.any || slices.ContainsFunc(s.origins, func(o string) bool { return strings.EqualFold(o, origin) })
}

// isOrigin compares host and port only: behind a proxy that ends TLS the
// scheme is not known here.
func isOrigin(origin string, here site) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, string(here))
}

// knows reports whether the host is one no stranger's DNS can point here: an
// address, or a name of ours.
func (s sites) knows(here site) bool {
	name := here.name()
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}

	return s.any || strings.HasSuffix(name, ".localhost") || slices.Contains(s.names, name)
}

// The headers of contract section 2.
const (
	corsMethods = "GET, HEAD, POST, DELETE, OPTIONS"
	corsExposes = "Location, ETag, X-Request-Id, Retry-After, Retry-After-Ms, X-Should-Retry, X-Queue-Time-Ms, " +
		"Content-Disposition, Idempotent-Replayed, " +
		"X-Job-Id, Content-Location, Content-Range, Preference-Applied, X-Presswork-Warning, " +
		"X-Ratelimit-Limit-Requests, X-Ratelimit-Remaining-Requests, X-Ratelimit-Reset-Requests, " +
		"X-Ratelimit-Limit-Tokens, X-Ratelimit-Remaining-Tokens, X-Ratelimit-Reset-Tokens"
)

func corsHeader(name string) bool {
	switch name {
	case "x-api-key",
		"authorization",
		"content-type",
		"idempotency-key",
		"last-event-id",
		"prefer",
		"if-none-match",
		"range",
		"traceparent",
		"x-request-id":
		return true
	}

	return strings.HasPrefix(name, "x-stainless-")
}

// checkOrigin applies the rules for requests of browsers: it refuses what a foreign page sends to
// a server without keys, and answers CORS. It reports whether the request is
// answered already.
func (s *Server) checkOrigin(ctx *fasthttp.RequestCtx, meta *metadata) bool {
	path := string(ctx.Path())

	probe := path == "/healthz" || path == "/readyz"
	if !s.keys.required() && !probe {
		if err := s.refuseForeign(ctx, meta); err != nil {
			s.fail(ctx, err)
			return true
		}
	}

	origin := string(ctx.Request.Header.Peek("Origin"))
	if len(s.sites.origins) > 0 {
		ctx.Response.Header.Add("Vary", "Origin")
	}

	if origin == "" {
		return false
	}

	if s.sites.listed(origin) {
		h := &ctx.Response.Header
		h.Set("Access-Control-Allow-Origin", origin)

		if s.sites.any {
			h.Set("Access-Control-Allow-Origin", "*")
		}
		h.Set("Access-Control-Expose-Headers", corsExposes)
	}

	if meta.method == fasthttp.MethodOptions && len(ctx.Request.Header.Peek("Access-Control-Request-Method")) > 0 {
		s.preflight(ctx, meta, origin)
		return true
	}

	return false
}

// refuseForeign protects a server that needs no key from web pages: those of
// other sites, and those whose name was re-pointed here (DNS rebinding).
func (s *Server) refuseForeign(ctx *fasthttp.RequestCtx, meta *metadata) error {
	if !s.sites.knows(meta.site) {
		return fault.Errorf(
			fault.Forbidden,
			"this server has no key and answers to its address and localhost only, not to %s; "+
				"set API_KEY, or list the origin in ALLOWED_ORIGINS",
			quote(string(meta.site)),
		)
	}
	h := &ctx.Request.Header

	origin := string(h.Peek("Origin"))
	if origin != "" && !s.sites.allows(origin, meta.site) {
		return originNotAllowed(origin)
	}

	if string(h.Peek("Sec-Fetch-Site")) == "cross-site" && !(origin != "" && s.sites.listed(origin)) && !s.sites.any {
		return fault.Errorf(fault.OriginNotAllowed, "a page of another site may not call a server that has no key")
	}

	return nil
}

func originNotAllowed(origin string) *fault.Error {
	return fault.Errorf(fault.OriginNotAllowed, "the origin %s is not in ALLOWED_ORIGINS", quote(origin))
}

func (s *Server) preflight(ctx *fasthttp.RequestCtx, meta *metadata, origin string) {
	if !s.sites.allows(origin, meta.site) {
		s.fail(ctx, originNotAllowed(origin))
		return
	}
	var allowed []string

	for name := range strings.SplitSeq(string(ctx.Request.Header.Peek("Access-Control-Request-Headers")), ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); corsHeader(name) {
			allowed = append(allowed, name)
		}
	}
	h := &ctx.Response.Header
	h.Set("Access-Control-Allow-Methods", corsMethods)

	if len(allowed) > 0 {
		h.Set("Access-Control-Allow-Headers", strings.Join(allowed, ", "))
	}
	h.Set("Access-Control-Max-Age", "600")
	h.Add("Vary", "Access-Control-Request-Headers")
	ctx.SetStatusCode(fasthttp.StatusNoContent)
}

// checkSameSite refuses a request that changes something and was sent by a
// page of another site: monitor and metrics take the browser's stored password.
func (s *Server) checkSameSite(ctx *fasthttp.RequestCtx, meta *metadata) error {
	if ctx.IsGet() || ctx.IsHead() {
		return nil
	}

	h := &ctx.Request.Header
	if fetch := string(h.Peek("Sec-Fetch-Site")); fetch != "" && fetch != "same-origin" && fetch != "none" {
		return fault.Errorf(fault.OriginNotAllowed, "this can be changed from its own page only")
	}

	if origin := string(h.Peek("Origin")); origin != "" && !isOrigin(origin, meta.site) {
		return originNotAllowed(origin)
	}

	return nil
}
