package api

import (
	"context"
	"encoding/base64"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"presswork/api/access"
	"presswork/api/exchange"
	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/tasks"
)

// level is the access that a route requires. The order matters: identify compares levels with byAdmin.
type level int

const (
	// public routes need no key.
	public level = iota
	// byKey routes need a key.
	byKey
	// byAnyKey routes need no key. A key that is sent must be valid, and its owner is the caller.
	byAnyKey
	// byToken routes need a key, or the token of the job in the path.
	byToken
	// byShare routes are byToken routes that the token of a share link opens as well.
	byShare
	// byAdmin routes need an admin key, which a browser may send as HTTP Basic. Pages of other sites may not write.
	byAdmin
	// byAdminHeader routes are byAdmin routes for scripts of the operators' page. They take no HTTP Basic, so that a
	// browser does not ask for a password and does not send a stored one.
	byAdminHeader
)

// guarded checks the origin and the key before a route's handler runs, and adds the state of the key's limits to the
// answer.
func (s *Server) guarded(r route) fiber.Handler {
	return func(c *fiber.Ctx) error {
		ctx := c.Context()
		meta := exchange.Of(ctx)

		meta.Route = r.path
		if err := s.identify(c, meta, r.access); err != nil {
			return err
		}

		err := r.handle(c)
		// A stream has sent its headers before its handler returns.
		if r.access != public && r.access < byAdmin && !streaming(r.path) {
			s.limiter.Send(c, meta)
		}

		return err
	}
}

// identify sets the caller of a request, or rejects the request. Errors: InvalidAPIKey with a challenge, Forbidden,
// OriginNotAllowed.
func (s *Server) identify(c *fiber.Ctx, meta *exchange.Meta, need level) error {
	if need == public {
		return nil
	}

	// A browser adds a stored password to requests from pages of any site.
	if need >= byAdmin && c.Method() != fiber.MethodGet && c.Method() != fiber.MethodHead {
		err := access.CheckSameSite(meta.Site, c.Get(fiber.HeaderOrigin), c.Get("Sec-Fetch-Site"))
		if err != nil {
			return err
		}
	}

	who, err := s.caller(c, need)
	if err != nil {
		challenge := "Bearer"
		if need == byAdmin {
			challenge = `Basic realm="Presswork", charset="UTF-8"`
		}
		c.Set(fiber.HeaderWWWAuthenticate, challenge)

		return err
	}

	meta.Caller = who
	if need >= byAdmin && !who.Admin {
		return fault.Errorf(fault.Forbidden, "this needs an admin key")
	}

	return nil
}

// caller identifies the sender of a request by its key or its token. Errors: InvalidAPIKey.
func (s *Server) caller(c *fiber.Ctx, need level) (access.Caller, error) {
	// A share link expires on a server without keys as well.
	if token := c.Query(shareParam); need == byShare && token != "" {
		job := c.Params("id")
		if !s.views.Tokens.Valid(access.ShareScope, token, job) {
			return access.Caller{}, fault.Errorf(fault.InvalidAPIKey,
				"this share link has expired or was changed; ask the sender for a new one")
		}

		return access.Caller{Job: job}, nil
	}

	if !s.keys.Required() {
		return access.Everyone(), nil
	}

	presented := presentedKey(c, need)
	if presented == "" && need == byAnyKey {
		return access.Caller{}, nil
	}

	if presented == "" {
		if token := c.Query("token"); (need == byToken || need == byShare) && token != "" {
			job := c.Params("id")
			if !s.views.Tokens.Valid(access.JobScope, token, job) {
				return access.Caller{}, fault.Errorf(fault.InvalidAPIKey,
					"the token in this address has expired or is not for this job")
			}

			return access.Caller{Job: job}, nil
		}

		return access.Caller{}, fault.Errorf(fault.InvalidAPIKey,
			"an API key is needed: send it as X-API-Key or as Authorization: Bearer")
	}

	who, ok := s.keys.Find(presented)
	if !ok {
		return access.Caller{}, fault.Errorf(fault.InvalidAPIKey, "the API key is not valid")
	}

	return who, nil
}

// presentedKey returns the key that a request carries, "" for none. Only byAdmin routes take HTTP Basic, because
// browsers send a stored password along with every request.
func presentedKey(c *fiber.Ctx, need level) string {
	if k := c.Get("X-API-Key"); k != "" {
		return k
	}
	scheme, value, _ := strings.Cut(c.Get(fiber.HeaderAuthorization), " ")
	value = strings.TrimSpace(value)

	switch {
	case strings.EqualFold(scheme, "bearer"):
		return value
	case strings.EqualFold(scheme, "basic") && need == byAdmin:
		b, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			return ""
		}
		_, password, _ := strings.Cut(string(b), ":")

		return password
	}

	return ""
}

// The CORS headers of every answer.
const (
	corsMethods = "GET, HEAD, POST, DELETE, OPTIONS"
	corsExposes = "Location, ETag, X-Request-Id, Request-Id, Retry-After, Retry-After-Ms, X-Should-Retry, " +
		"X-Queue-Time-Ms, Content-Disposition, Idempotent-Replayed, " +
		"X-Job-Id, Content-Location, Content-Range, Preference-Applied, X-Presswork-Warning, " +
		"X-Ratelimit-Limit-Requests, X-Ratelimit-Remaining-Requests, X-Ratelimit-Reset-Requests, " +
		"X-Ratelimit-Limit-Tokens, X-Ratelimit-Remaining-Tokens, X-Ratelimit-Reset-Tokens"
)

// corsAllows reports whether pages of other origins may send a header.
func corsAllows(name string) bool {
	switch name {
	case "x-api-key", "authorization", "content-type", "idempotency-key", "last-event-id", "prefer", "if-none-match",
		"range", "traceparent", "x-request-id":
		return true
	}

	// The SDKs of OpenAI and Anthropic send these headers.
	return strings.HasPrefix(name, "x-stainless-") || strings.HasPrefix(name, "anthropic-")
}

// checkOrigin applies the rules for requests of browsers: it answers CORS preflights, and a server without keys
// rejects the requests of other sites' pages. It reports whether it has answered the request.
func (s *Server) checkOrigin(ctx *fasthttp.RequestCtx, meta *exchange.Meta) bool {
	path := string(ctx.Path())
	origin := string(ctx.Request.Header.Peek("Origin"))

	probe := path == "/healthz" || path == "/readyz"
	if !s.keys.Required() && !probe && !isShareLink(ctx) {
		fetchSite := string(ctx.Request.Header.Peek("Sec-Fetch-Site"))
		if err := s.origins.CheckOpen(meta.Site, origin, fetchSite); err != nil {
			exchange.SendError(ctx, err, s.Log)
			return true
		}
	}

	// The answer depends on the origin, so caches must keep one for each.
	if s.origins.Restricted() {
		ctx.Response.Header.Add("Vary", "Origin")
	}

	if origin == "" {
		return false
	}

	if s.origins.Lists(origin) {
		h := &ctx.Response.Header
		h.Set("Access-Control-Allow-Origin", origin)

		if s.origins.Any() {
			h.Set("Access-Control-Allow-Origin", "*")
		}
		h.Set("Access-Control-Expose-Headers", corsExposes)
	}

	if meta.Method == fasthttp.MethodOptions && len(ctx.Request.Header.Peek("Access-Control-Request-Method")) > 0 {
		s.preflight(ctx, meta, origin)
		return true
	}

	return false
}

// preflight answers a CORS preflight request, in which a browser asks whether a page may call.
func (s *Server) preflight(ctx *fasthttp.RequestCtx, meta *exchange.Meta, origin string) {
	if err := s.origins.Check(origin, meta.Site); err != nil {
		exchange.SendError(ctx, err, s.Log)
		return
	}
	var allowed []string

	for name := range strings.SplitSeq(string(ctx.Request.Header.Peek("Access-Control-Request-Headers")), ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); corsAllows(name) {
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

// ownJob returns a job that the caller may see. Errors: NotFound, also for another owner's job; QueueUnavailable.
func (s *Server) ownJob(c *fiber.Ctx, id string) (tasks.Record, error) {
	if !tasks.ValidID(id) {
		return tasks.Record{}, unknownJob(id)
	}

	ctx, cancel := exchange.CallContext()
	defer cancel()

	rec, err := s.Queue.Job(ctx, id)
	if err = checkOwner(c, id, rec, err); err != nil {
		return tasks.Record{}, err
	}

	return rec, nil
}

// ownWatch follows the events of a job that the caller may see. Errors: as ownJob. The caller closes the Watch.
func (s *Server) ownWatch(ctx context.Context, c *fiber.Ctx, id string, since int64) (*tasks.Watch, error) {
	if !tasks.ValidID(id) {
		return nil, unknownJob(id)
	}

	watch, err := s.Queue.Watch(ctx, id, since)
	if err != nil {
		return nil, checkOwner(c, id, tasks.Record{}, err)
	}

	if err := checkOwner(c, id, watch.Record, nil); err != nil {
		watch.Close()
		return nil, err
	}

	return watch, nil
}

// checkOwner returns err, or NotFound when the job belongs to another owner: the caller must not learn that it
// exists.
func checkOwner(c *fiber.Ctx, id string, rec tasks.Record, err error) error {
	who := exchange.Of(c.Context()).Caller
	if fault.CodeOf(err) == fault.NotFound || err == nil && who.Job != id && rec.Owner != who.Name {
		return unknownJob(id)
	}

	return err
}

// unknownJob returns the error for a job that does not exist, or belongs to another owner.
func unknownJob(id string) error {
	return fault.Errorf(fault.NotFound, "there is no job %s", input.Quote(id))
}
