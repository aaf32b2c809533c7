package presswork_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// A test that the Makefile picks by a name which nothing has is no failure to
// `go test`.
func TestMakefilePicksTestsThatExist(t *testing.T) {
	t.Parallel()

	b, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	picked := 0

	for _, run := range regexp.MustCompile(`-run '?([A-Z]\w+(?:\|\w+)*)`).FindAllStringSubmatch(string(b), -1) {
		for name := range strings.SplitSeq(run[1], "|") {
			picked++

			if err := exec.CommandContext(t.Context(), "git", "grep", "-q", "^func "+name, "--", "*_test.go").
				Run(); err != nil {
				t.Errorf("no test is called %s (%v)", name, err)
			}
		}
	}

	if picked < 4 {
		t.Errorf("%d names found", picked)
	}
}
