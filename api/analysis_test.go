package api_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"presswork/internal/analysis/finding"
)

func TestADocumentIsAnalysed(t *testing.T) {
	t.Parallel()
	h := serve(t)
	const recipe = "# Pancakes\n\nServes 4.\n\n## Ingredients\n\n- 200 g flour\n- 2 eggs\n- 300 ml milk\n- a pinch of salt\n\n## Method\n\n" +
		"1. Whisk the eggs and the milk.\n2. Stir in the flour and the salt.\n3. Rest the batter for half an hour.\n4. Fry in butter over medium heat until golden.\n"

	body, err := json.Marshal(map[string]string{"content": recipe})
	if err != nil {
		t.Fatal(err)
	}
	res := h.do("POST", "/api/analysis", bytes.NewReader(body), "Content-Type: application/json")

	var a finding.Analysis
	if err := json.Unmarshal(res.body, &a); err != nil || res.StatusCode != 200 {
		t.Fatalf("%d %s", res.StatusCode, res.body)
	}

	if a.DocumentType != "recipe" || a.Language != "en" || a.ReadingMinutes != 1 ||
		len(a.Recommendation.Alternatives) != 2 ||
		len(a.Keywords) == 0 {
		t.Errorf("got %s", res.body)
	}

	if plain := h.do(
		"POST",
		"/api/analysis",
		strings.NewReader(recipe),
		"Content-Type: text/markdown",
	); string(
		plain.body,
	) != string(
		res.body,
	) {
		t.Errorf("as text/markdown: %s", plain.body)
	}

	for body, want := range map[string]string{
		`{"content":""}`:                       `"content_empty"`,
		`{"content":"x","theme":"nord"}`:       `"unknown_field"`,
		`{"content":"x","options":{"toc":9}}`:  `"param":"options`,
		`{"contents":"x"}`:                     "did you mean",
		`{"content":"---\ntoc: [\n---\nText"}`: `"front_matter_invalid"`,
	} {
		t.Run(body, func(t *testing.T) {
			if res := h.do(
				"POST",
				"/api/analysis",
				strings.NewReader(body),
				"Content-Type: application/json",
			); res.StatusCode != 400 ||
				!strings.Contains(string(res.body), want) {
				t.Errorf("%s: %d %s", body, res.StatusCode, res.body)
			}
		})
	}
}
