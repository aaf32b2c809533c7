package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"presswork/api/access"
	"presswork/api/exchange"
	"presswork/api/views"
	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/storage"
)

const (
	// shareParam is the query parameter with the token of a share link.
	shareParam = "share"
	// maxShareBody bounds the body of a request for a share link, in bytes.
	maxShareBody = 4 << 10

	// The limits and the default of expires_in.
	minShareTTL     = time.Minute
	maxShareTTL     = 30 * 24 * time.Hour
	defaultShareTTL = 24 * time.Hour
)

// share is the answer to a request for a share link.
type share struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expires_at"`
}

// shareArtifact answers POST /api/artifacts/{id}/share with an address that opens the artifact without a key. The
// address expires with the artifact at the latest, and stops working when the artifact is deleted.
func (s *Server) shareArtifact(c *fiber.Ctx) error {
	rec, err := s.ownArtifact(c)
	if err != nil {
		return err
	}

	ttl, err := s.shareTTL(c)
	if err != nil {
		return err
	}

	if _, err := s.statArtifact(storage.ArtifactKeyOf(rec.ID, rec.Artifact.ContentType), rec); err != nil {
		return err
	}

	expires := time.Now().Add(ttl)
	if end := rec.Artifact.ExpiresAt; !end.IsZero() && end.Before(expires) {
		if !s.now().Before(end) {
			return errExpired(rec)
		}
		expires = end
	}
	expires = expires.UTC().Truncate(time.Second)
	token := s.views.Tokens.Sign(access.ShareScope, rec.ID, expires)

	c.Set(fiber.HeaderCacheControl, "no-store")
	exchange.WriteJSON(c.Context(), http.StatusCreated, share{
		URL:       views.DownloadURL(rec.ID) + "?inline=true&" + shareParam + "=" + token,
		ExpiresAt: expires,
	})

	return nil
}

// shareTTL returns expires_in of the body, or the default time. Errors: InvalidOption outside the allowed times, those
// of reading JSON.
func (s *Server) shareTTL(c *fiber.Ctx) (time.Duration, error) {
	var req struct {
		// ExpiresIn is in seconds.
		ExpiresIn *int64 `json:"expires_in"`
	}

	body, err := s.bodies.ReadJSON(c, maxShareBody, "a request for a share link")
	if err != nil {
		return 0, err
	}

	if err := input.DecodeJSON(body, &req, ""); err != nil {
		return 0, err
	}

	if req.ExpiresIn == nil {
		return defaultShareTTL, nil
	}

	seconds := *req.ExpiresIn
	if seconds < int64(minShareTTL/time.Second) || seconds > int64(maxShareTTL/time.Second) {
		return 0, fault.Errorf(fault.InvalidOption, "expires_in is %d; allowed is %d to %d seconds (30 days)", seconds,
			minShareTTL/time.Second, maxShareTTL/time.Second).WithParam("expires_in")
	}

	return time.Duration(seconds) * time.Second, nil
}

// isShareLink reports whether a request follows a share link. People also follow it from pages of other sites, such as
// webmail. So the check of the request's origin does not apply to it; the route checks its token.
func isShareLink(ctx *fasthttp.RequestCtx) bool {
	path := string(ctx.Path())

	return (ctx.IsGet() || ctx.IsHead()) && ctx.QueryArgs().Has(shareParam) &&
		strings.HasPrefix(path, "/api/artifacts/") && strings.HasSuffix(path, "/download")
}
