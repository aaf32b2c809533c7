package document_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// validate runs veraPDF on all files at once, because Java takes two seconds to start.
func validate(t *testing.T, printed map[string]conformant) {
	jar := os.Getenv("PRESSWORK_VERAPDF")
	if _, err := os.Stat(jar); err != nil {
		t.Skip("veraPDF is not installed: `make setup-test` fetches it if there are Java and Maven")
	}
	// Without the option for a flavour, veraPDF checks each standard that a file claims.
	args := []string{
		"-XX:TieredStopAtLevel=1",
		"-cp",
		jar,
		"org.verapdf.apps.GreenfieldCliWrapper",
		"--format",
		"json",
		"--flavour",
		"0",
		"--loglevel",
		"0",
	}
	for path := range printed {
		args = append(args, path)
	}
	cmd := exec.CommandContext(t.Context(), "java", args...)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()

	var report struct {
		Report struct {
			Jobs []struct {
				Item struct {
					Name string `json:"name"`
				} `json:"itemDetails"`
				Results []struct {
					Profile string `json:"profileName"`
					Details struct {
						Passed  int `json:"passedRules"`
						Failed  int `json:"failedRules"`
						Summary []struct {
							Clause      string `json:"clause"`
							Test        int    `json:"testNumber"`
							Description string `json:"description"`
							Status      string `json:"ruleStatus"`
						} `json:"ruleSummaries"`
					} `json:"details"`
				} `json:"validationResult"`
			} `json:"jobs"`
		} `json:"report"`
	}
	if wrong := json.Unmarshal(out, &report); wrong != nil {
		t.Fatalf("the report of veraPDF is not JSON: %v (%v): %.500s", wrong, err, complaints.String())
	}
	seen := 0
	var lines results

	for _, job := range report.Report.Jobs {
		path := job.Item.Name

		d, known := printed[path]
		if !known {
			t.Errorf("veraPDF reports on %s, which it was not given", path)
			continue
		}
		seen++
		want := 0

		for _, claimed := range []bool{d.claim.level != "", d.claim.ua} {
			if claimed {
				want++
			}
		}

		if len(job.Results) != want {
			t.Errorf("%s: %d standards checked, want %d", filepath.Base(path), len(job.Results), want)
		}

		for _, r := range job.Results {
			lines.add(d.group, strings.TrimSuffix(r.Profile, " validation profile"), r.Details.Passed, r.Details.Failed)

			if r.Details.Passed < 50 || r.Details.Failed > 0 {
				t.Errorf("%s: %s: %d rules passed and %d failed, want at least 50 and 0",
					filepath.Base(path), r.Profile, r.Details.Passed, r.Details.Failed)
			}

			for _, rule := range r.Details.Summary {
				t.Errorf("%s: %s: %s-%d %s: %s", filepath.Base(path), r.Profile, rule.Clause, rule.Test, rule.Status,
					rule.Description)
			}
		}
	}

	if seen != len(printed) {
		t.Errorf("veraPDF checked %d files of %d: %.500s", seen, len(printed), complaints.String())
	}
	lines.check(t, "../../docs/lab/pdfa.md")
}

// results is the table of docs/lab/pdfa.md.
type results []result

// result is a row: the files of a group, checked for one standard.
type result struct {
	group, standard       string
	files, passed, failed int
}

// add counts a file of a group. passed becomes the lowest number of rules of its files.
func (all *results) add(group, standard string, passed, failed int) {
	at := slices.IndexFunc(*all, func(r result) bool { return r.group == group && r.standard == standard })
	if at < 0 {
		at = len(*all)
		*all = append(*all, result{group: group, standard: standard, passed: passed})
	}
	r := &(*all)[at]
	r.files++
	r.passed = min(r.passed, passed)
	r.failed += failed
}

// check compares the table in the page with the results. PRESSWORK_UPDATE=1 writes the table.
func (all results) check(t *testing.T, path string) {
	t.Helper()
	slices.SortFunc(all, func(a, b result) int {
		return cmp.Or(strings.Compare(a.group, b.group), strings.Compare(a.standard, b.standard))
	})
	var table strings.Builder
	table.WriteString("| document | standard | files | rules passed by each | failed |\n|---|---|---|---|---|\n")

	for _, r := range all {
		fmt.Fprintf(&table, "| %s | %s | %d | %d | %d |\n", r.group, r.standard, r.files, r.passed, r.failed)
	}

	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- veraPDF -->\n\n", "\n<!-- end -->"
	before, rest, ok := strings.Cut(string(page), begin)

	was, after, ok2 := strings.Cut(rest, end)
	switch {
	case !ok || !ok2:
		t.Errorf("%s has no place for the table", path)
	case was == table.String():
	case os.Getenv("PRESSWORK_UPDATE") == "1":
		if err := os.WriteFile(path, []byte(before+begin+table.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the table in %s differs; PRESSWORK_UPDATE=1 writes it:\n%s", path, table.String())
	}
}
