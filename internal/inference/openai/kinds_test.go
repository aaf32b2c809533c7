package openai_test

import (
	"os"
	"strings"
	"testing"

	"presswork/internal/inference"
	"presswork/internal/inference/openai"
)

func TestEveryKindOfUpstreamIsOpenedAndDocumented(t *testing.T) {
	t.Parallel()

	page, err := os.ReadFile("../../../docs/inference.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "`kind` names the engine")
	list, _, _ = strings.Cut(list, ". ")

	for _, kind := range inference.Kinds() {
		if _, err := openai.New(inference.Upstream{Kind: kind, BaseURL: "http://127.0.0.1:1/v1"}); err != nil {
			t.Errorf("%s: %v; add its row to engines.go", kind, err)
		}

		if !strings.Contains(list, "`"+kind+"`") {
			t.Errorf("docs/inference.md does not name the kind %s", kind)
		}
	}
}
