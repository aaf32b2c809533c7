package guide_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"presswork/api/guide"
	"presswork/docs"
)

func open(t *testing.T) *guide.Guide {
	t.Helper()

	description, err := os.ReadFile("../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}

	g, err := guide.New(description, docs.Pages)
	if err != nil {
		t.Fatal(err)
	}

	return g
}

func page(t *testing.T, g *guide.Guide, path string) string {
	t.Helper()

	p, ok, err := g.Page(path)
	if err != nil {
		t.Fatal(err)
	}

	if !ok {
		t.Fatalf("there is no page %s", path)
	}

	return string(p.Body)
}

var hrefs = regexp.MustCompile(`<a [^>]*href="([^"]*)"`)

func TestEveryLinkOfEveryPageLeadsSomewhere(t *testing.T) {
	t.Parallel()
	g := open(t)
	paths := []string{guide.Home}

	for i := 0; i < len(paths); i++ {
		for _, href := range hrefs.FindAllStringSubmatch(page(t, g, paths[i]), -1) {
			path, fragment, _ := strings.Cut(href[1], "#")
			if path == "" {
				path = paths[i]
			}

			if !strings.HasPrefix(path, guide.Home) {
				continue
			}

			if !slices.Contains(paths, path) {
				paths = append(paths, path)
			}

			if fragment != "" && !strings.Contains(page(t, g, path), `id="`+fragment+`"`) {
				t.Errorf("%s links to %s, which lacks #%s", paths[i], path, fragment)
			}
		}
	}

	if len(paths) < 30 {
		t.Errorf("only %d pages can be reached from %s", len(paths), guide.Home)
	}
}

func TestEveryOperationHasASampleInEachLanguage(t *testing.T) {
	t.Parallel()
	body := page(t, open(t), "/docs/api/inference")

	operations := strings.Split(body, `<section class="operation"`)[1:]
	if len(operations) < 9 {
		t.Fatalf("the page has %d operations", len(operations))
	}

	for _, operation := range operations {
		for _, language := range []string{"curl", "Python", "JavaScript", "Go"} {
			if !strings.Contains(operation, `data-language="`+language+`"`) {
				t.Errorf("there is no sample in %s of %.60s", language, operation)
			}
		}
	}
}

func TestAnErrorCodeIsTheFragmentOfItsExplanation(t *testing.T) {
	t.Parallel()
	body := page(t, open(t), guide.ErrorsPath)

	for _, code := range []string{"theme_not_found", "queue_full", "upstream_timeout", "glyph_missing"} {
		if strings.Count(body, `<tr id="`+code+`">`) != 1 {
			t.Errorf("the page of error codes has no row with the id %s", code)
		}
	}
}

func TestSearchFindsOperationsAndSections(t *testing.T) {
	t.Parallel()
	g := open(t)

	for query, want := range map[string]string{
		"rerank documents":    "/docs/api/inference#createRanking",
		"reranking NOTHING":   "",
		"two browsers":        "/docs/security#two-browsers",
		"idempotency-key job": "/docs/api/conversion#submitConversion",
		"<script>":            "",
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()

			p, err := g.Search(query)
			if err != nil {
				t.Fatal(err)
			}
			body := string(p.Body)

			if got := strings.Contains(body, `<ol class="results">`+"\n"+`<li>`); got != (want != "") {
				t.Errorf("results: %v, want %v", got, want != "")
			}

			if !strings.Contains(body, `<a href="`+want) {
				t.Errorf("%s is not among the results", want)
			}

			if strings.Contains(body, "<script>") {
				t.Error("the query is not escaped")
			}
		})
	}
}

func TestAnOperationShowsTheFieldsOfRequestAndResponse(t *testing.T) {
	t.Parallel()
	body := page(t, open(t), "/docs/api/conversion")
	_, operation, _ := strings.Cut(body, `id="submitConversion"`)
	operation, _, _ = strings.Cut(operation, `<section class="operation"`)
	request, response, _ := strings.Cut(operation, "<h3>Responses</h3>")

	for name, part := range map[string]string{"page_size": request, "webhook_url": request, "events_url": response} {
		if !strings.Contains(part, "<dt><code>"+name+"</code>") {
			t.Errorf("the field %s is missing", name)
		}
	}
}
