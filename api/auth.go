package api

import (
	"context"
	"encoding/base64"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"presswork/internal/fault"
	"presswork/internal/keyfile"
	"presswork/tasks"
)

// access is who may use a route.
type access int

const (
	// anybody needs no key.
	anybody access = iota
	// byKey needs a key.
	byKey
	// byAnyKey needs none, but a key that is sent must be valid, and is the
	// caller.
	byAnyKey
	// byToken needs a key, or the token of the job in the path.
	byToken
	// byAdmin needs an admin key, which a browser may send as HTTP Basic; pages
	// of other sites may not write.
	byAdmin
	// byAdminHeader is byAdmin for scripts of our own page: no HTTP Basic, so that a
	// browser neither asks for a password nor sends a stored one along.
	byAdminHeader
)

// guarded checks the key, the limits and the origin before a route's handler runs.
func (s *Server) guarded(r route) fiber.Handler {
	return func(c *fiber.Ctx) error {
		ctx := c.Context()
		meta := metadataOf(ctx)

		meta.route = r.path
		if err := s.identify(c, meta, r.access); err != nil {
			return err
		}

		err := r.handle(c)
		if r.access != anybody && r.access < byAdmin && !streaming(r.path) {
			s.sendLimits(c, meta)
		}

		return err
	}
}

func (s *Server) identify(c *fiber.Ctx, meta *metadata, level access) error {
	if level == anybody {
		return nil
	}

	if level >= byAdmin {
		if err := s.checkSameSite(c.Context(), meta); err != nil {
			return err
		}
	}

	who, err := s.caller(c, level)
	if err != nil {
		challenge := "Bearer"
		if level == byAdmin {
			challenge = `Basic realm="Presswork", charset="UTF-8"`
		}
		c.Set(fiber.HeaderWWWAuthenticate, challenge)

		return err
	}

	meta.who = who
	if level >= byAdmin && !who.admin {
		return fault.Errorf(fault.Forbidden, "this needs an admin key")
	}

	return nil
}

func (s *Server) caller(c *fiber.Ctx, level access) (caller, error) {
	if !s.keys.required() {
		return caller{admin: true, tiers: keyfile.Tiers()}, nil
	}

	presented := presentedKey(c, level)
	if presented == "" && level == byAnyKey {
		return caller{}, nil
	}

	if presented == "" {
		if token := c.Query("token"); level == byToken && token != "" {
			job := c.Params("id")
			if !s.tokens.valid(token, job) {
				return caller{}, fault.Errorf(
					fault.InvalidAPIKey,
					"the token in this address has expired or is not for this job",
				)
			}

			return caller{job: job}, nil
		}

		return caller{}, fault.Errorf(fault.InvalidAPIKey,
			"an API key is needed: send it as X-API-Key or as Authorization: Bearer")
	}

	who, ok := s.keys.find(presented)
	if !ok {
		return caller{}, fault.Errorf(fault.InvalidAPIKey, "the API key is not valid")
	}

	return who, nil
}

// presentedKey is the key a request carries, "" for none. HTTP Basic counts
// where a person looks at a page: browsers send it along unasked.
func presentedKey(c *fiber.Ctx, level access) string {
	if k := c.Get("X-API-Key"); k != "" {
		return k
	}
	scheme, value, _ := strings.Cut(c.Get(fiber.HeaderAuthorization), " ")
	value = strings.TrimSpace(value)

	switch {
	case strings.EqualFold(scheme, "bearer"):
		return value
	case strings.EqualFold(scheme, "basic") && level == byAdmin:
		b, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			return ""
		}
		_, password, _ := strings.Cut(string(b), ":")

		return password
	}

	return ""
}

// ownJob returns the job in the path if the caller may see it; another key's
// job does not exist for it.
func (s *Server) ownJob(c *fiber.Ctx, id string) (tasks.Record, error) {
	if !tasks.ValidID(id) {
		return tasks.Record{}, unknownJob(id)
	}

	ctx, cancel := s.deadline()
	defer cancel()

	rec, err := s.Queue.Job(ctx, id)
	if err = owned(c, id, rec, err); err != nil {
		return tasks.Record{}, err
	}

	return rec, nil
}

// ownWatch is ownJob for a job that is to be followed; see Queue.
func (s *Server) ownWatch(ctx context.Context, c *fiber.Ctx, id string, since int64) (*tasks.Watch, error) {
	if !tasks.ValidID(id) {
		return nil, unknownJob(id)
	}

	watch, err := s.Queue.Watch(ctx, id, since)
	if err != nil {
		return nil, owned(c, id, tasks.Record{}, err)
	}

	if err := owned(c, id, watch.Record, nil); err != nil {
		watch.Close()
		return nil, err
	}

	return watch, nil
}

// owned is the error of a job that the caller may not know of, as of one that is not there.
func owned(c *fiber.Ctx, id string, rec tasks.Record, err error) error {
	who := metadataOf(c.Context()).who
	if fault.CodeOf(err) == fault.NotFound || err == nil && who.job != id && rec.Owner != who.name {
		return unknownJob(id)
	}

	return err
}

func unknownJob(id string) error {
	return fault.Errorf(fault.NotFound, "there is no job %s", quote(id))
}

func clientOf(ctx *fasthttp.RequestCtx) string {
	meta := metadataOf(ctx)
	if meta.who.name != "" {
		return meta.who.name
	}

	return meta.ip.String()
}
