package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"presswork/internal/test/e2e"
)

// actionFile is action.yml, as far as the test plays it.
type actionFile struct {
	Inputs map[string]struct{ Default string }
	Runs   struct {
		Steps []struct {
			Name, Run, Uses string
			Env             map[string]string
		}
	}
}

// readYAML decodes a file of the repository.
func readYAML(t *testing.T, name string, into any) {
	t.Helper()

	data, err := os.ReadFile(filepath.Join("../../..", name))
	if err == nil {
		err = yaml.Unmarshal(data, into)
	}

	if err != nil {
		t.Fatal(err)
	}
}

// writeRepository writes two documents into a new folder, one in a subfolder.
func writeRepository(t *testing.T) string {
	t.Helper()

	dir := t.TempDir()
	for name, text := range map[string]string{"README.md": "# Hi\n", "docs/a page.md": "# Page\n\n### Deep\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}

		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	return dir
}

// releaseArchive packs the program as scripts/release.sh does and returns the archive.
func releaseArchive(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()

	if err := os.Mkdir(filepath.Join(dir, "presswork_1_linux"), 0o755); err != nil {
		t.Fatal(err)
	}

	if err := os.Link(e2e.Binary(t), filepath.Join(dir, "presswork_1_linux", "presswork")); err != nil {
		if out, err := exec.Command("cp", e2e.Binary(t), filepath.Join(dir, "presswork_1_linux")).
			CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}

	if out, err := exec.Command("tar", "-C", dir, "-cf", dir+"/presswork.tar", "presswork_1_linux").
		CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}

	if out, err := exec.Command("gzip", "-1", dir+"/presswork.tar").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}

	return dir + "/presswork.tar.gz"
}

// expression is a value that GitHub inserts.
var expression = regexp.MustCompile(`\$\{\{ *([a-z0-9._-]+) *\}\}`)

// TestTheActionConvertsAndComments plays the steps of action.yml in a clean folder. A script stands for gh.
func TestTheActionConvertsAndComments(t *testing.T) {
	t.Parallel()

	var action actionFile
	readYAML(t, "action.yml", &action)
	repository, temp, bin := writeRepository(t), t.TempDir(), t.TempDir()
	remote := filepath.Join(t.TempDir(), "remote.git")

	if out, err := exec.Command("git", "init", "-q", "--bare", remote).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// The first push is rejected, as after a push of another pull request.
	hook := "#!/bin/sh\n[ -e " + temp + "/rejected ] || { touch " + temp + "/rejected; exit 1; }\n"

	if err := os.WriteFile(filepath.Join(remote, "hooks", "pre-receive"), []byte(hook), 0o755); err != nil {
		t.Fatal(err)
	}

	values := map[string]string{
		"steps.convert.outputs.folder":      "presswork-output",
		"github.repository":                 "owner/documents",
		"github.event.pull_request.number":  "7",
		"github.token":                      "t",
		"github.action_ref":                 "v1",
		"github.action_repository":          "owner/presswork",
		"steps.upload.outputs.artifact-url": "https://example.com/artifact",
	}
	for name, in := range action.Inputs {
		values["inputs."+name] = in.Default
	}
	values["inputs.archive"], values["inputs.theme"], values["inputs.args"] = releaseArchive(t), "nord", "--toc"
	values["inputs.preview-branch"] = "previews"
	gh := "#!/bin/sh\nwhile [ $# -gt 0 ]; do [ \"$1\" = --body-file ] && cp \"$2\" " + temp + "/sent.md; shift; done\n"

	if err := os.WriteFile(filepath.Join(bin, "gh"), []byte(gh), 0o755); err != nil {
		t.Fatal(err)
	}

	for _, step := range action.Runs.Steps {
		if step.Uses != "" {
			continue
		}
		cmd := exec.Command("bash", "-c", step.Run)
		cmd.Dir = repository
		cmd.Env = []string{
			"PATH=" + temp + "/presswork:" + bin + ":" + os.Getenv("PATH"),
			"HOME=" + t.TempDir(),
			"RUNNER_TEMP=" + temp,
			"GITHUB_PATH=" + temp + "/path",
			"GITHUB_OUTPUT=" + temp + "/output",
		}

		for name, value := range step.Env {
			inserted := expression.ReplaceAllStringFunc(value, func(e string) string {
				known, ok := values[expression.FindStringSubmatch(e)[1]]
				if !ok {
					t.Errorf("%s: no value for %s", step.Name, e)
				}

				return known
			})
			if name == "REMOTE" {
				inserted = remote
			}
			cmd.Env = append(cmd.Env, name+"="+inserted)
		}

		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", step.Name, err, out)
		}
	}

	for _, name := range []string{"README.pdf", "a page.pdf", "previews/README.png", "previews/a page.png"} {
		if info, err := os.Stat(filepath.Join(repository, "presswork-output", name)); err != nil || info.Size() < 1000 {
			t.Errorf("%s: %v", name, err)
		}
	}

	sent, err := os.ReadFile(temp + "/sent.md")
	if err != nil {
		t.Fatal(err)
	}

	commit, err := exec.Command("git", "-C", remote, "rev-parse", "previews").Output()
	if err != nil {
		t.Fatal(err)
	}
	picture := "https://github.com/owner/documents/raw/" + strings.TrimSpace(string(commit)) + "/7/a%20page.png"

	stored, err := exec.Command("git", "-C", remote, "show", "previews:7/a page.png").Output()
	if err != nil || !strings.HasPrefix(string(stored), "\x89PNG") {
		t.Errorf("the branch has %.20q, %v; want the picture", stored, err)
	}

	for _, want := range []string{
		"https://example.com/artifact", "| README.md | 1 | none |", "| docs/a page.md | 1 | heading", picture,
	} {
		if !strings.Contains(string(sent), want) {
			t.Errorf("the comment lacks %q:\n%s", want, sent)
		}
	}
}

// TestTheHookChecksFiles runs the entries of .pre-commit-hooks.yaml as pre-commit does, with the changed files.
func TestTheHookChecksFiles(t *testing.T) {
	t.Parallel()

	var hooks []struct{ ID, Entry string }
	readYAML(t, ".pre-commit-hooks.yaml", &hooks)
	repository := writeRepository(t)

	for _, hook := range hooks {
		for file, fails := range map[string]bool{"README.md": false, "docs/a page.md": true} {
			words := strings.Fields(hook.Entry)
			cmd := exec.Command(e2e.Binary(t), append(words[1:], file)...)
			cmd.Dir = repository

			out, err := cmd.CombinedOutput()
			if words[0] != "presswork" || (err != nil) != fails ||
				fails && !strings.Contains(string(out), "a page.md:3: heading") {
				t.Errorf("%s %s: %v\n%s", hook.ID, file, err, out)
			}
		}
	}
}

// TestTheGitLabJobConverts runs the script of the job in a clean folder, with the program of this machine.
func TestTheGitLabJobConverts(t *testing.T) {
	t.Parallel()

	var jobs map[string]struct {
		Variables map[string]string
		Before    []string `yaml:"before_script"`
		Script    []string
	}
	readYAML(t, "deploy/ci/gitlab-ci.yml", &jobs)
	job, repository, bin := jobs["presswork"], writeRepository(t), t.TempDir()
	job.Variables["PRESSWORK_FILES"], job.Variables["PRESSWORK_ARCHIVE"] = "README.md", "file://"+releaseArchive(t)

	// The first command installs packages, and the second unpacks into the system.
	install := strings.ReplaceAll(job.Before[1], "/usr/local/bin", bin)
	cmd := exec.Command("bash", "-ec", install+"\n"+strings.Join(job.Script, "\n"))
	cmd.Dir, cmd.Env = repository, []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + t.TempDir()}

	for name, value := range job.Variables {
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%s", name, value))
	}

	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	if _, err := os.Stat(filepath.Join(repository, "public/README.pdf")); err != nil {
		t.Error(err)
	}
}
