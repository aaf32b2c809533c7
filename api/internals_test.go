package api

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"presswork/api/access"
	"presswork/internal/fault"
)

// Routes lists the routes table as OpenAPI writes it.
func Routes(t *testing.T) (all []string) {
	t.Helper()

	for _, r := range new(Server).routes() {
		path := strings.NewReplacer(":id", "{id}", ":name", "{name}", "/v1/models/*", "/v1/models/{id}").Replace(r.path)
		switch {
		case strings.HasSuffix(path, "/*"):
			// What lies below a page is the page's own.
		case r.method == "*":
			all = append(all, "GET "+path)
		default:
			all = append(all, r.method+" "+path)
		}
	}

	return all
}

// Codes lists the codes that have an HTTP status.
func Codes() []fault.Code { return slices.Collect(maps.Keys(statuses)) }

// Statuses are the codes' HTTP statuses.
func Statuses() map[fault.Code]int { return maps.Clone(statuses) }

// Token signs a token with the secret.
func Token(secret []byte, jobID string, ttl time.Duration) string {
	return access.NewSigner(secret).Sign(jobID, ttl)
}
