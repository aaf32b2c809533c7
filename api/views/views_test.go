package views_test

import (
	"encoding/json"
	"strings"
	"testing"

	"presswork"
	"presswork/api/views"
	"presswork/tasks"
)

func TestWebhookCarriesTheJob(t *testing.T) {
	t.Parallel()
	rec := tasks.Record{Job: presswork.Job{
		ID: tasks.NewID(), Status: presswork.Completed,
		Artifact: &presswork.Artifact{ID: "x", Filename: "a.pdf"},
	}, Owner: "hidden"}

	b, err := json.Marshal(views.New(make([]byte, 32)).Webhook(rec))
	if err != nil {
		t.Fatal(err)
	}

	if !strings.Contains(string(b), "/api/artifacts/"+rec.ID+"/download?token=") ||
		strings.Contains(string(b), "hidden") || rec.Artifact.URL != "" {
		t.Errorf("the webhook is %s; want a URL with a token, without the owner", b)
	}
}
