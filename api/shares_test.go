package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"presswork"
	"presswork/api"
	"presswork/internal/fault"
	"presswork/storage"
)

// shared is the answer of a request for a share link.
type shared struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expires_at"`
}

// share requests a share link with a JSON body and returns the answer. It fails unless the status is 201.
func (h *harness) share(t *testing.T, jobID, body string) shared {
	t.Helper()
	res := h.do(
		http.MethodPost,
		"/api/artifacts/"+jobID+"/share",
		strings.NewReader(body),
		"Content-Type: application/json",
	)
	res.want(t, http.StatusCreated, "")

	var link shared
	if err := json.Unmarshal(res.body, &link); err != nil {
		t.Fatalf("parsing the share link %s: %v", res.body, err)
	}

	return link
}

func TestShareLinkOpensOneArtifactOnly(t *testing.T) {
	t.Parallel()
	h := serve(t)
	a, b := h.submit(), h.submit()
	h.finish(a.JobID, []byte("%PDF-"))
	h.finish(b.JobID, []byte("%PDF-"))

	link := h.share(t, a.JobID, `{"expires_in": 600}`)
	if left := time.Until(link.ExpiresAt); left < 9*time.Minute || left > 10*time.Minute {
		t.Errorf("the link expires in %s, want 10 minutes", left)
	}
	_, token, _ := strings.Cut(link.URL, "share=")
	key := h.key
	h.key = ""

	res := h.get(link.URL)
	res.want(t, http.StatusOK, "")

	if string(res.body) != "%PDF-" || !strings.HasPrefix(res.Header.Get("Content-Disposition"), "inline") ||
		strings.Contains(link.URL, key) {
		t.Errorf("%s answers %q as %q; want the PDF inline, and no key in the address", link.URL, res.body,
			res.Header.Get("Content-Disposition"))
	}

	_, jobToken, _ := strings.Cut(a.EventsURL, "?token=")
	for _, path := range []string{
		"/api/artifacts/" + b.JobID + "/download?share=" + token,
		"/api/artifacts/" + a.JobID + "/download?token=" + token,
		"/api/artifacts/" + a.JobID + "/download?share=" + jobToken,
		"/api/artifacts/" + a.JobID + "/download?share=x" + token[1:],
		a.EventsURL[:strings.Index(a.EventsURL, "?")] + "?share=" + token,
		a.StatusURL + "?share=" + token,
		"/api/conversion?share=" + token,
	} {
		t.Run(path, func(t *testing.T) {
			h.get(path).want(t, http.StatusUnauthorized, fault.InvalidAPIKey)
		})
	}
	h.do(http.MethodDelete, "/api/artifacts/"+a.JobID+"?share="+token, nil).
		want(t, http.StatusUnauthorized, fault.InvalidAPIKey)

	// Deleting the artifact revokes the link.
	h.key = key
	h.do(http.MethodDelete, "/api/artifacts/"+a.JobID, nil).want(t, http.StatusNoContent, "")
	h.key = ""
	h.get(link.URL).want(t, http.StatusGone, fault.ArtifactExpired)
}

func TestShareLinksAreBounded(t *testing.T) {
	t.Parallel()
	h := serve(t)
	a := h.submit()
	path := "/api/artifacts/" + a.JobID + "/share"
	asJSON := "Content-Type: application/json"
	h.do(http.MethodPost, path, strings.NewReader(`{}`), asJSON).want(t, http.StatusNotFound, fault.NotFound)

	// The result of the job is kept for an hour.
	end := time.Now().Add(time.Hour)
	h.queue.complete(a.JobID, presswork.Artifact{
		ID: a.JobID, Size: 1, SHA256: "x", ContentType: "application/pdf", Filename: "a.pdf", ExpiresAt: end,
	})

	_, err := h.store.Put(t.Context(), storage.ArtifactKeyOf(a.JobID, ""), strings.NewReader("x"), 1, storage.Attrs{})
	if err != nil {
		t.Fatal(err)
	}

	if link := h.share(t, a.JobID, `{}`); link.ExpiresAt.After(end) {
		t.Errorf("the link expires at %s, after its artifact at %s", link.ExpiresAt, end)
	}

	for body, code := range map[string]fault.Code{
		`{"expires_in": 59}`:      fault.InvalidOption,
		`{"expires_in": 2592001}`: fault.InvalidOption,
		`{"expires_in": -1}`:      fault.InvalidOption,
		`{"expires_in": "1h"}`:    fault.InvalidType,
		`{"expire_in": 60}`:       fault.UnknownField,
		``:                        fault.InvalidJSON,
	} {
		t.Run(body, func(t *testing.T) {
			res := h.do(http.MethodPost, path, strings.NewReader(body), asJSON)
			res.want(t, res.StatusCode, code)
		})
	}
	h.do(http.MethodPost, path, strings.NewReader(`{}`), "Content-Type: text/plain").
		want(t, http.StatusUnsupportedMediaType, fault.UnsupportedMediaType)
	h.do(http.MethodPost, path, strings.NewReader(`{}`), asJSON, "X-API-Key: other").
		want(t, http.StatusUnauthorized, fault.InvalidAPIKey)
}

// TestShareLinkExpiresOnAnOpenServer uses a server without keys, where other addresses need no token.
func TestShareLinkExpiresOnAnOpenServer(t *testing.T) {
	t.Parallel()
	h := serve(t, withoutKeys)
	h.key = ""
	a := h.submit()
	h.finish(a.JobID, []byte("%PDF-"))
	link := h.share(t, a.JobID, `{}`)
	foreign := []string{"Sec-Fetch-Site: cross-site"}
	h.get(link.URL, foreign...).want(t, http.StatusOK, "")

	path := "/api/artifacts/" + a.JobID + "/download"
	h.get(path, foreign...).want(t, http.StatusForbidden, fault.OriginNotAllowed)
	old := api.ShareToken([]byte(testSecret), a.JobID, time.Now().Add(-time.Second))
	h.get(path+"?share="+old).want(t, http.StatusUnauthorized, fault.InvalidAPIKey)
}
