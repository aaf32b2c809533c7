package api

import (
	"strings"
	"testing"
	"time"

	"presswork/api/access"
)

// Routes returns the routes table in the notation of OpenAPI.
func Routes(t *testing.T) (all []string) {
	t.Helper()

	for _, r := range new(Server).routes() {
		path := strings.NewReplacer(":id", "{id}", ":name", "{name}", ":operation", "{operation}", "/v1/models/*", "/v1/models/{id}",
			"/docs/*", "/docs/{page}").
			Replace(r.path)
		switch {
		case strings.HasSuffix(path, "/*"):
			// Paths below the monitor's page are not part of the API.
		case r.method == "*":
			all = append(all, "GET "+path)
		default:
			all = append(all, r.method+" "+path)
		}
	}

	return all
}

// Token returns a token that is signed with secret.
func Token(secret []byte, jobID string, ttl time.Duration) string {
	return access.NewSigner(secret).Sign(access.JobScope, jobID, time.Now().Add(ttl))
}

// ShareToken returns the token of a share link that is signed with secret.
func ShareToken(secret []byte, jobID string, expires time.Time) string {
	return access.NewSigner(secret).Sign(access.ShareScope, jobID, expires)
}
