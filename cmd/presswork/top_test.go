package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"presswork/internal/client"
)

func TestTopShowsTheServersQueuesAndJobs(t *testing.T) {
	t.Parallel()
	const fleet = `{"at":"2026-11-20T10:00:10Z","open":3,"dead":1,"queues":[{"name":"render","waiting":2,"running":1,"retrying":0,"archived":0,"paused":true,"oldest_seconds":4.2,"oldest_open_seconds":75,"done_today":9,"failed_today":1}],
		"workers":[{"name":"host:1","started_at":"2026-11-20T09:00:10Z","queues":["render"],"slots":2,"running":{"render":1},"memory_bytes":104857600,
		"runs":[{"id":"01K","queue":"render","kind":"convert:v1","job":true,"since":"2026-11-20T10:00:09Z"}],"browsers":[{"use":"documents","started_at":"2026-11-20T09:30:10Z","memory_bytes":209715200,"prints":7,"busy":1,"waiting":0}]}]}`
	const jobs = `{"object":"list","has_more":false,"next_cursor":null,"data":[{"job_id":"01J","kind":"conversion","status":"completed","progress":100,"created_at":"2026-11-20T10:00:00Z","finished_at":"2026-11-20T10:00:00.528Z",
		"artifact":{"id":"01J","url":"/api/artifacts/01J/download?token=hush","pages":4},"key":"alice","filename":"a\u001b[2Jb.pdf","workers":["host:1"],"warnings":[]}]}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("X-API-Key") != "ops":
			w.WriteHeader(http.StatusForbidden)
			w.Write([]byte(`{"error":{"message":"this needs an admin key","type":"x","code":"forbidden"}}`))
		case r.URL.Path == "/admin/api/fleet":
			w.Write([]byte(fleet))
		case r.URL.Path == "/admin/api/jobs":
			w.Write([]byte(jobs))
		}
	}))
	t.Cleanup(server.Close)
	env := map[string]string{"PRESSWORK_API_KEY": "ops"}

	out, _, err := runWithInput(t, "", env, "top", "--server", server.URL)
	if err != nil {
		t.Fatal(err)
	}

	for _, want := range []string{
		"3 open, 1 dead letter, 1 worker", "render (paused)  2        1        0         4.2 s   1 min        9      1",
		"host:1  1 h", "30 min, 200 MiB  7       01K 1.0 s", "01J  completed  100 %     10.0 s  528 ms  4      alice  host:1",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}

	if strings.Contains(out, "\x1b") {
		t.Error("an escape sequence of a file name is printed")
	}
	out, _, err = runWithInput(t, "", env, "top", "--server", server.URL, "--json")

	var got client.Fleet
	if err != nil || json.Unmarshal([]byte(out), &got) != nil || len(got.Jobs) != 1 || len(got.Workers) != 1 ||
		strings.Contains(out, "hush") {
		t.Errorf("%v\n%s", err, out)
	}

	if _, _, err = runWithInput(t, "", nil, "top", "--server", server.URL); err == nil ||
		!strings.Contains(err.Error(), "this needs an admin key") {
		t.Errorf("without a key: %v", err)
	}

	for _, wrong := range [][]string{{"--server", "host"}, {"--interval", "1ms"}, {"more"}} {
		t.Run(strings.Join(wrong, " "), func(t *testing.T) {
			_, _, err := runWithInput(t, "", env, append([]string{"top"}, wrong...)...)
			if exitStatus(err) != exitUsage {
				t.Errorf("%q: %v", wrong, err)
			}
		})
	}
}
