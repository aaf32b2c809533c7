package studio_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"presswork/internal/test/browsertest"
	"presswork/internal/test/e2e"
	"presswork/internal/test/wait"
)

func TestAdminListsAndRepeatsWebhooks(t *testing.T) {
	t.Parallel()
	received := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		received <- r.Header.Get("Webhook-Id")
	}))
	t.Cleanup(receiver.Close)
	_, c := e2e.Serve(t, map[string]string{"OUTBOUND_ALLOW_PRIVATE": strings.TrimPrefix(receiver.URL, "http://")})
	p := browsertest.NewVisitor(t).Open(c.Base+"/admin#webhooks", 1280, 800, false)
	p.Until("the empty list explains how to get a webhook",
		`() => document.querySelector(".deliveries .empty")?.innerText.includes("webhook_url")`)

	address := receiver.URL + "/hook?secret=1"
	id := c.Submit(e2e.Submission{Content: "# Hooked", Filename: "hooked.pdf", WebhookURL: address}).JobID
	wait.Receive(t, "the webhook", received)
	p.Until("the webhook is listed without its query", `id => {
		const row = document.querySelector(".deliveries tbody tr[data-result=delivered]");
		return row?.innerText.includes(id) && row.innerText.includes("200 after") && !row.innerText.includes("secret");
	}`, id)

	p.Click("Send again")

	if again := wait.Receive(t, "the webhook again", received); again != "msg_"+id {
		t.Errorf("the second webhook has the id %s, want msg_%s", again, id)
	}
	p.Until("both deliveries are listed", `() => document.querySelectorAll(".deliveries tbody tr").length === 2`)
	p.Press(".deliveries tbody .id")
	p.Until("the dialog of the job has both deliveries",
		`() => document.querySelectorAll(".detail .deliveries tbody tr").length === 2`)
}
