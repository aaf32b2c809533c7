package webhooks_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"presswork/internal/client/webhooks"
)

const (
	secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	older  = "whsec_plJ3nmyCDGBKInavdOK15jslx0Ry4k1u"
)

func TestADeliveryIsPrintedWithTheStateOfItsSignature(t *testing.T) {
	t.Parallel()

	signer, err := standardwebhooks.NewWebhook(older)
	if err != nil {
		t.Fatal(err)
	}

	for name, test := range map[string]struct {
		secrets, body, signed string
		want                  string
		status                int
	}{
		"valid":          {secret + "," + older, `{"type":"job.failed"}`, `{"type":"job.failed"}`, "job.failed (signature valid)", 204},
		"forged":         {secret + "," + older, `{"type":"job.failed"}`, `{"type":"other"}`, "(signature invalid", 401},
		"another secret": {secret, `{"type":"job.failed"}`, `{"type":"job.failed"}`, "(signature invalid", 401},
		"no secret":      {"", `{"type":"job.failed"}`, "", "(signature not checked: set WEBHOOK_SECRET)", 204},
		"control codes":  {"", `{"type":"\u001b[2J","a":"` + "\u009b" + `2J"}`, "", "\ufffd[2J (signature not checked: set WEBHOOK_SECRET)\n{\n  \"type\": \"\\u001b[2J\",\n  \"a\": \"\ufffd2J\"\n}", 204},
		"no JSON":        {"", "\x1b[2J", "", `"\x1b[2J"`, 204},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder

			p, err := webhooks.NewPrinter(&out, test.secrets)
			if err != nil {
				t.Fatal(err)
			}
			now := time.Now()

			signature, err := signer.Sign("msg_1", now, []byte(test.signed))
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(test.body))
			r.Header.Set("Webhook-Id", "msg_1")
			r.Header.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
			r.Header.Set("Webhook-Signature", signature)
			answer := httptest.NewRecorder()
			p.ServeHTTP(answer, r)

			if answer.Code != test.status || !strings.Contains(out.String(), test.want) {
				t.Errorf(
					"answered %d and printed %q, want %d and %q",
					answer.Code,
					out.String(),
					test.status,
					test.want,
				)
			}
		})
	}
}

func TestAWrongSecretIsRefused(t *testing.T) {
	t.Parallel()

	if _, err := webhooks.NewPrinter(nil, "whsec_not base64"); err == nil {
		t.Error("a secret that is no base64 is accepted")
	}
}
