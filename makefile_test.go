package presswork_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// `go test -run NAME` succeeds if no test has the name. So this test looks for the names in the Makefile.
func TestMakefileRunsTestsThatExist(t *testing.T) {
	t.Parallel()

	b, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	names := 0

	for _, run := range regexp.MustCompile(`-run '?([A-Z]\w+(?:\|\w+)*)`).FindAllStringSubmatch(string(b), -1) {
		for name := range strings.SplitSeq(run[1], "|") {
			names++

			if err := exec.CommandContext(t.Context(), "git", "grep", "-q", "^func "+name, "--", "*_test.go").
				Run(); err != nil {
				t.Errorf("the Makefile runs %s, but no test has this name (%v)", name, err)
			}
		}
	}

	if names < 4 {
		t.Errorf("found %d names of tests in the Makefile, want at least 4; does the pattern fit?", names)
	}
}
