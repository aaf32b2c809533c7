package pages_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/gofiber/fiber/v2"

	"presswork/api/pages"
)

func TestPagesAreRevalidatedByTheirTag(t *testing.T) {
	t.Parallel()

	description, err := os.ReadFile("../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p := pages.New(description)

	for name, handle := range map[string]fiber.Handler{
		"/": p.Studio, "/admin": p.Admin, "/preview": p.Preview, "/docs": p.Docs, "/docs/search?q=theme": p.SearchDocs,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			app := fiber.New()
			app.Get("/*", handle)

			first, err := app.Test(httptest.NewRequest(http.MethodGet, name, nil), -1)
			if err != nil {
				t.Fatal(err)
			}
			first.Body.Close()

			if first.StatusCode != http.StatusOK || first.Header.Get("Content-Security-Policy") == "" {
				t.Errorf("got %d with the policy %q", first.StatusCode, first.Header.Get("Content-Security-Policy"))
			}
			again := httptest.NewRequest(http.MethodGet, name, nil)
			again.Header.Set("If-None-Match", first.Header.Get("ETag"))

			second, err := app.Test(again, -1)
			if err != nil {
				t.Fatal(err)
			}
			second.Body.Close()

			// A page with a nonce differs each time.
			same := first.Header.Get("ETag") == second.Header.Get("ETag")
			if want := http.StatusNotModified; same && second.StatusCode != want {
				t.Errorf("got %d for a page that the browser has, want %d", second.StatusCode, want)
			}
		})
	}
}

func TestTheDescriptionIsServedAsJSONAsWell(t *testing.T) {
	t.Parallel()

	app := fiber.New()
	app.Get("/*", pages.New([]byte("openapi: 3.1.0\n")).DescriptionJSON)

	answer, err := app.Test(httptest.NewRequest(http.MethodGet, "/openapi.json", nil), -1)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()

	var got map[string]string
	if err := json.NewDecoder(answer.Body).Decode(&got); err != nil || got["openapi"] != "3.1.0" {
		t.Errorf("got %v, %v; want the version 3.1.0", got, err)
	}
}
