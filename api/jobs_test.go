package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"presswork/api"
	"presswork/internal/fault"
	"presswork/internal/test/wait"
)

func TestJobHasAnETag(t *testing.T) {
	t.Parallel()
	h := serve(t)
	a := h.submit()
	res := h.get(a.StatusURL)
	res.want(t, http.StatusOK, "")

	tag := fmt.Sprintf(`"%s-1"`, a.JobID)
	if res.Header.Get("ETag") != tag {
		t.Errorf("ETag is %q, want %q", res.Header.Get("ETag"), tag)
	}

	for _, piece := range []string{`"job_id":"` + a.JobID, `"queue_position":0`, `"started_at":null`, `"warnings":[]`, `"artifact":null`, `"error":null`, `"analysis":null`, `"progress":0`} {
		if !strings.Contains(string(res.body), piece) {
			t.Errorf("the job %s lacks %s", res.body, piece)
		}
	}

	for _, header := range []string{tag, "W/" + tag, `"x", ` + tag, "*"} {
		t.Run(header, func(t *testing.T) {
			res := h.get(a.StatusURL, "If-None-Match: "+header)
			if res.StatusCode != http.StatusNotModified || len(res.body) > 0 {
				t.Errorf("got %d %s, want 304", res.StatusCode, res.body)
			}
		})
	}
	h.queue.progress(a.JobID, 40)
	h.get(a.StatusURL, "If-None-Match: "+tag).want(t, http.StatusOK, "")
	h.do(http.MethodHead, a.StatusURL, nil).want(t, http.StatusOK, "")
}

func TestLongPollReturnsAtTheNextEvent(t *testing.T) {
	t.Parallel()
	h := serve(t)
	a := h.submit()
	ifNoneMatch := fmt.Sprintf(`If-None-Match: "%s-1"`, a.JobID)
	answer := make(chan reply, 1)

	for i, headers := range [][]string{nil, {ifNoneMatch}} {
		tag := h.get(a.StatusURL).Header.Get("ETag")

		if headers != nil {
			headers = []string{"If-None-Match: " + tag}
		}
		go func() { answer <- h.get(a.StatusURL+"?wait=30s", headers...) }()
		wait.Until(t, "the request waits", func() bool { return h.queue.allWatches() == i+1 })

		if len(answer) > 0 {
			t.Fatalf("answered before an event: %s", (<-answer).body)
		}
		h.queue.progress(a.JobID, 40)
		res := <-answer
		res.want(t, http.StatusOK, "")

		if res.Header.Get("ETag") == tag {
			t.Errorf("the response has the old ETag: %s", res.body)
		}
	}
	// A different tag and a job that has ended get an answer at once.
	began := time.Now()
	h.get(a.StatusURL+"?wait=60", ifNoneMatch).want(t, http.StatusOK, "")
	h.do(http.MethodDelete, a.StatusURL, nil).want(t, http.StatusOK, "")
	h.get(a.StatusURL+"?wait=60s").want(t, http.StatusOK, "")

	if took := time.Since(began); took > 50*time.Second { // each wait is a minute
		t.Errorf("the three requests took %s, want no wait", took)
	}
}

func TestLongPollReturnsTheUnchangedJobAfterTheWait(t *testing.T) {
	t.Parallel()
	h := serve(t)
	a := h.submit()
	began := time.Now()
	h.get(a.StatusURL+"?wait=1s").want(t, http.StatusOK, "")
	h.get(a.StatusURL+"?wait=1", fmt.Sprintf(`If-None-Match: "%s-1"`, a.JobID)).want(t, http.StatusNotModified, "")

	if took := time.Since(began); took < 2*time.Second {
		t.Errorf("two polls of a second took %s, want 2s", took)
	}

	for _, wait := range []string{"0s", "61s", "-1", "x", "500ms"} {
		h.get(a.StatusURL+"?wait="+wait).want(t, http.StatusBadRequest, fault.InvalidOption)
	}
}

func TestCancelEndsAJobOnce(t *testing.T) {
	t.Parallel()
	h := serve(t)
	a := h.submit()
	res := h.do(http.MethodDelete, a.StatusURL, nil)
	res.want(t, http.StatusOK, "")

	if !strings.Contains(string(res.body), `"status":"cancelled"`) {
		t.Errorf("the response is %s, want the cancelled job", res.body)
	}
	h.do(http.MethodDelete, a.StatusURL, nil).want(t, http.StatusConflict, fault.JobFinished)
}

func TestJobsOfOtherKeysDoNotExist(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.Keys = []string{testKey, "other"} })
	a := h.submit()
	h.finish(a.JobID, []byte("%PDF-"))

	for _, path := range []string{a.StatusURL, a.StatusURL + "/events", "/api/conversion/ws/" + a.JobID, "/api/artifacts/" + a.JobID + "/download"} {
		h.get(path, "X-API-Key: other").want(t, http.StatusNotFound, fault.NotFound)
	}
	h.do(http.MethodDelete, a.StatusURL, nil, "X-API-Key: other").want(t, http.StatusNotFound, fault.NotFound)
	h.do(http.MethodDelete, "/api/artifacts/"+a.JobID, nil, "X-API-Key: other").
		want(t, http.StatusNotFound, fault.NotFound)

	if res := h.get("/api/conversion", "X-API-Key: other"); !strings.Contains(string(res.body), `"data":[]`) {
		t.Errorf("the list is %s, want it empty", res.body)
	}

	for _, id := range []string{"x", "01J9ZZZZZZZZZZZZZZZZZZZZZ", "%7Bx%7D", "..%2f..", strings.Repeat("A", 5000), strings.ToLower(a.JobID)} {
		h.get("/api/conversion/"+id).want(t, http.StatusNotFound, fault.NotFound)
	}
}

func TestJobsAreListedInPages(t *testing.T) {
	t.Parallel()
	h := serve(t)

	var ids []string
	for range 5 {
		ids = append(ids, h.submit().JobID)
	}
	h.queue.progress(ids[0], 10)
	type list struct {
		Object string `json:"object"`
		Data   []struct {
			JobID string `json:"job_id"`
		} `json:"data"`
		HasMore    bool    `json:"has_more"`
		NextCursor *string `json:"next_cursor"`
	}
	var seen []string

	for path, pages := "/api/conversion?limit=2&kind=conversion", 1; ; pages++ {
		var l list
		h.get(path).decode(t, &l)

		if l.Object != "list" || l.HasMore != (l.NextCursor != nil) {
			t.Fatalf("got %+v, want a list with a cursor if it has more", l)
		}

		for _, j := range l.Data {
			seen = append(seen, j.JobID)
		}

		if !l.HasMore {
			if pages != 3 {
				t.Errorf("got %d pages, want 3", pages)
			}
			break
		}
		path = "/api/conversion?limit=2&cursor=" + url.QueryEscape(*l.NextCursor)
	}

	for i, id := range seen {
		if id != ids[len(ids)-1-i] {
			t.Errorf("job %d is %s, want the latest first", i, id)
		}
	}
	var l list
	h.get("/api/conversion?status=processing,failed").decode(t, &l)

	if len(l.Data) != 1 || l.Data[0].JobID != ids[0] {
		t.Errorf("got %+v, want only %s", l, ids[0])
	}

	for _, q := range []string{"limit=0", "limit=101", "limit=x", "status=done", "kind=chat", "cursor=zz"} {
		h.get("/api/conversion?"+q).want(t, http.StatusBadRequest, fault.InvalidOption)
	}
	h.get("/api/conversion?stauts=failed").want(t, http.StatusBadRequest, fault.UnknownField)
	h.get("/api/conversion?status=completed&status=failed").want(t, http.StatusBadRequest, fault.InvalidType)
}
