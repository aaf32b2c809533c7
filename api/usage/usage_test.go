package usage_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork/api/access"
	"presswork/api/usage"
)

func TestKeysAreShownWithoutTheirSecretsForTheAskedDays(t *testing.T) {
	t.Parallel()
	report := usage.New(usage.Options{
		Callers: func() []access.Caller { return []access.Caller{{Name: "olga", Admin: true}} },
		Now:     func() time.Time { return time.Date(2026, 3, 30, 12, 0, 0, 0, time.UTC) },
	})

	for query, want := range map[string]string{
		"":                              `"from":"2026-03-01","to":"2026-03-30","usage":[]`,
		"to=2026-01-01":                 `"from":"2025-12-03","to":"2026-01-01"`,
		"from=2026-03-30&to=2026-03-29": "the earlier first",
		"from=yesterday":                "allowed: a day such as 2026-03-01",
		"form=2026-03-29&to=2026-03-30": "form",
		"from=2024-01-01&to=2026-03-30": "allowed: up to",
		"from=2026-03-30":               `{"name":"olga","admin":true,"models":[],"tiers":[]`,
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()

			app := fiber.New(fiber.Config{ErrorHandler: func(c *fiber.Ctx, err error) error {
				return c.SendString(err.Error())
			}})
			app.Get("/*", report.Keys)

			answer, err := app.Test(httptest.NewRequest(http.MethodGet, "/admin/api/keys?"+query, nil), -1)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()

			if b, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(b), want) {
				t.Errorf("got %s, %v; want %s", b, err, want)
			}
		})
	}
}
