package openai_test

import (
	"os"
	"strings"
	"testing"

	"presswork/internal/inference"
	"presswork/internal/inference/openai"
)

func TestEveryKindOfUpstreamIsOpened(t *testing.T) {
	t.Parallel()

	for _, kind := range inference.Kinds() {
		if kind == inference.Anthropic {
			continue
		}

		if _, err := openai.New(inference.Upstream{Kind: kind, BaseURL: "http://127.0.0.1:1/v1"}); err != nil {
			t.Errorf("%s: %v; add its row to engines.go, or skip it here if another package opens it", kind, err)
		}
	}
}

func TestEveryKindOfUpstreamIsDocumented(t *testing.T) {
	t.Parallel()

	page, err := os.ReadFile("../../../docs/inference.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "`kind` names the engine")
	list, _, _ = strings.Cut(list, ". ")

	for _, kind := range inference.Kinds() {
		if !strings.Contains(list, "`"+kind+"`") {
			t.Errorf("docs/inference.md does not name the kind %s", kind)
		}
	}
}
