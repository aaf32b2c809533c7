package api_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"presswork/api/exchange"
	"presswork/internal/fault"
	"presswork/internal/inference"
)

// TestEveryCodeHasAnExplanation compares docs/troubleshooting.md with the codes and their statuses.
func TestEveryCodeHasAnExplanation(t *testing.T) {
	t.Parallel()

	page, err := os.ReadFile("../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}

	explained := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\| (\\S+)").FindAllSubmatch(page, -1) {
		explained[string(row[1])] = string(row[2])
	}
	wanted := map[fault.Code]int{
		inference.ToolUseFailed:      400,
		inference.ToolUnavailable:    400,
		inference.ToolServerFailed:   424,
		inference.JSONValidateFailed: 400,
		inference.ContextLength:      400,
		inference.RequestCancelled:   499,
		fault.BrowserUnavailable:     500,
		fault.Internal:               500,
	}
	maps.Copy(wanted, exchange.Statuses())

	for code, status := range wanted {
		if got := explained[string(code)]; got != strconv.Itoa(status) {
			t.Errorf("docs/troubleshooting.md has the status %q for %s, want %d", got, code, status)
		}
		delete(explained, string(code))
	}

	warnings := regexp.MustCompile(`enum: \[(glyph_missing, [^\]]+)\]`).FindSubmatch(serve(t).get("/openapi.yaml").body)
	if warnings == nil {
		t.Fatal("openapi.yaml lists no warnings")
	}

	for code := range strings.SplitSeq(string(warnings[1]), ", ") {
		if explained[code] == "" {
			t.Errorf("docs/troubleshooting.md does not explain the warning %s", code)
		}
		delete(explained, code)
	}

	if len(explained) > 0 {
		t.Errorf("docs/troubleshooting.md explains unknown codes: %v", slices.Sorted(maps.Keys(explained)))
	}
}
