package api_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"presswork"
	"presswork/api"
	"presswork/internal/fault"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

// olga is the header with the admin key of serveOperators.
const olga = "X-API-Key: olgas"

// serveOperators serves the keys of alice, and of olga, who is an operator. Requests have no key by default.
func serveOperators(t *testing.T) *harness {
	t.Helper()
	h := serve(t, keysFile(t,
		"keys:\n  - name: alice\n    key: alices\n  - name: olga\n    key: olgas\n    admin: true\n    rpm: 7\n"))
	h.key = ""

	return h
}

func TestOperatorsNeedAnAdminKeyInAHeader(t *testing.T) {
	t.Parallel()
	h := serveOperators(t)

	for _, path := range []string{"/admin/api/fleet", "/admin/api/jobs", "/admin/api/jobs/" + strings.Repeat("0", 26), "/admin/api/keys"} {
		t.Run(path, func(t *testing.T) {
			for header, code := range map[string]fault.Code{
				"X-None: x": fault.InvalidAPIKey, "X-API-Key: alices": fault.Forbidden,
				// A browser sends a stored password without being asked.
				basicAuth("olgas"): fault.InvalidAPIKey,
			} {
				t.Run(header, func(t *testing.T) {
					res := h.get(path, header)
					res.want(t, map[fault.Code]int{fault.InvalidAPIKey: 401, fault.Forbidden: 403}[code], code)

					if c := res.Header.Get("WWW-Authenticate"); strings.Contains(c, "Basic") {
						t.Errorf("%s: %s would make a browser ask for a password", path, c)
					}
				})
			}
		})
	}
}

func TestOperatorsListKeysWithoutSecrets(t *testing.T) {
	t.Parallel()
	h := serveOperators(t)
	res := h.get("/admin/api/keys", olga)
	res.want(t, 200, "")

	text := string(res.body)
	if !strings.Contains(text, `{"name":"olga","admin":true,"models":[],"tiers":[],"rpm":7`) ||
		strings.Contains(text, "olgas") || strings.Contains(text, testKey) {
		t.Errorf("the keys are %s; want olga with her limit, and no secret", text)
	}
}

func TestUsageOfKeysIsForADateRange(t *testing.T) {
	t.Parallel()
	h := serveOperators(t)

	wait.ForDay()

	today := time.Now().UTC().Format(time.DateOnly)
	for query, want := range map[string]string{
		"":                              `"to":"` + today + `"`,
		"to=2024-03-30":                 `"from":"2024-03-01","to":"2024-03-30"`,
		"from=" + today:                 `"from":"` + today + `"`,
		"from=2024-01-01&to=2024-12-31": `"from":"2024-01-01","to":"2024-12-31"`,
		"from=2024-01-01&to=2025-01-01": "up to 366 days",
		"from=2024-01-02&to=2024-01-01": "the earlier first",
		"to=yesterday":                  `"param":"to"`,
	} {
		t.Run(query, func(t *testing.T) {
			if res := h.get("/admin/api/keys?"+query, olga); !strings.Contains(string(res.body), want) {
				t.Errorf("keys?%s: got %s, want %s", query, res.body, want)
			}
		})
	}
}

func TestAdminPageHasAStrictContentSecurityPolicy(t *testing.T) {
	t.Parallel()
	page := serveOperators(t).get("/admin")
	page.want(t, 200, "")

	policy := page.Header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %s; want frame-ancestors 'none', and nothing unsafe", policy)
	}
}

func TestPagesOfOtherSitesCannotActOnJobs(t *testing.T) {
	t.Parallel()

	for name, h := range map[string]*harness{
		"with keys":    serve(t),
		"without keys": serve(t, withoutKeys),
		// ALLOWED_ORIGINS opens the API, but not the operators' page.
		"listed": serve(t, func(o *api.Options) { o.AllowedOrigins = []string{"https://evil.example"} }),
	} {
		t.Run(name, func(t *testing.T) {
			id := h.submit().JobID

			for _, action := range []string{"cancel", "retry", "dismiss", "redeliver"} {
				for _, header := range []string{"Origin: https://evil.example", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site"} {
					res := h.do("POST", "/admin/api/actions/"+action, strings.NewReader(`{"ids":["`+id+`"]}`),
						"Content-Type: application/json", header)
					res.want(t, 403, fault.OriginNotAllowed)
				}
			}

			if job := h.queue.jobs[id].rec; job.Status != presswork.Queued {
				t.Errorf("the job is %s, want queued", job.Status)
			}
		})
	}
}

func TestOperatorsReadTheLogOfWebhooks(t *testing.T) {
	t.Parallel()
	h := serve(t)
	id := h.submit().JobID
	h.queue.deliveries = []tasks.Delivery{
		{
			JobID:  id,
			Host:   "hooks.example",
			Result: "failed",
			Status: 500,
			Error:  "answered 500",
		},
		{JobID: "other", Result: "refused"},
	}

	for query, want := range map[string]int{"": 2, "?job=" + id: 1} {
		var log struct{ Data []tasks.Delivery }
		h.get("/admin/api/webhooks"+query).decode(t, &log)

		if len(log.Data) != want || log.Data[0].Host != "hooks.example" {
			t.Errorf("%q lists %+v, want %d deliveries", query, log.Data, want)
		}
	}
	h.get("/admin/api/webhooks?jobs=1").want(t, 400, fault.UnknownField)
	h.do("POST", "/admin/api/actions/redeliver", strings.NewReader(`{"ids":["`+id+`"]}`), "Content-Type: application/json").
		want(t, 200, "")
}

func TestAJobLinksToItsTrace(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.TraceURL = "https://traces.example/{trace}?tab=1" })
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	var accepted, job map[string]any
	h.post(`{"content":"# Hi"}`, "traceparent: 00-"+trace+"-00f067aa0ba902b7-01").decode(t, &accepted)
	h.get("/admin/api/jobs/"+accepted["job_id"].(string)).decode(t, &job)

	if want := "https://traces.example/" + trace + "?tab=1"; job["trace_url"] != want {
		t.Errorf("trace_url is %q, want %q", job["trace_url"], want)
	}
}

func TestOperatorsSearchAndActOnJobs(t *testing.T) {
	t.Parallel()
	h := serve(t, keysFile(t, "keys:\n  - name: alice\n    key: alices\n"))
	sharedKeyJob := h.submit().JobID
	h.key = "alices"
	hers := h.submit().JobID
	h.key = testKey
	var list struct {
		Data []struct {
			JobID   string   `json:"job_id"`
			Key     string   `json:"key"`
			Workers []string `json:"workers"`
		}
	}
	h.get("/admin/api/jobs?key=alice&status=queued,failed&worker=w1&text=x&dead=true&cause=caller&since=2026-01-01T00:00:00Z&limit=5").
		decode(t, &list)

	if len(list.Data) != 1 || list.Data[0].JobID != hers || list.Data[0].Key != "alice" || list.Data[0].Workers == nil {
		t.Errorf("alice has the jobs %+v, want %s", list.Data, hers)
	}

	got := h.queue.searches[0]
	if *got.Owner != "alice" || got.Worker != "w1" || got.Text != "x" || !got.Dead || got.Cause != tasks.ByCaller ||
		got.Limit != 5 ||
		got.Since.Year() != 2026 ||
		!slices.Equal(got.Statuses, []presswork.Status{presswork.Queued, presswork.Failed}) {
		t.Errorf("searched for %+v, want all parameters of the query", got)
	}

	for _, query := range []string{"since=yesterday", "dead=yes", "cause=me", "status=lost", "limit=0", "kind=cake"} {
		h.get("/admin/api/jobs?"+query).want(t, 400, fault.InvalidOption)
	}

	for _, path := range []string{"/admin/api/jobs?stauts=failed", "/admin/api/keys?group_by=day"} {
		h.get(path).want(t, 400, fault.UnknownField)
	}
	var job struct {
		Queue  string
		Events []presswork.Event
	}
	h.get("/admin/api/jobs/"+hers).decode(t, &job)

	if job.Queue != "render" || len(job.Events) != 1 {
		t.Errorf("got %+v, want the queue render and one event", job)
	}
	var done struct {
		Data []struct {
			ID     string
			Status presswork.Status
			Error  *fault.Error
		}
	}
	h.do("POST", "/admin/api/actions/cancel", strings.NewReader(`{"ids":["`+hers+`","nope","`+sharedKeyJob+`"]}`), "Content-Type: application/json").
		decode(t, &done)

	if len(done.Data) != 3 || done.Data[0].Status != presswork.Cancelled || done.Data[1].Error == nil ||
		done.Data[1].Error.Code != fault.NotFound || done.Data[2].Status != presswork.Cancelled {
		t.Errorf("cancelled %+v; want both jobs cancelled, and nope not found", done.Data)
	}

	for body, code := range map[string]fault.Code{
		`{"ids":[]}`: fault.InvalidOption, `{"jobs":["x"]}`: fault.UnknownField, `{"ids":[` + strings.Repeat(`"x",`, 500) + `"x"]}`: fault.InvalidOption,
	} {
		h.do("POST", "/admin/api/actions/retry", strings.NewReader(body), "Content-Type: application/json").
			want(t, 400, code)
	}
	var fleet struct {
		At     time.Time
		Queues []struct{ Waiting int }
	}
	h.get("/admin/api/fleet").decode(t, &fleet)

	if len(fleet.Queues) != 1 || fleet.Queues[0].Waiting != 3 {
		t.Errorf("the fleet is %+v, want one queue with 3 waiting tasks", fleet)
	}
}
