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
	"presswork/internal/test/public"
)

// actionFile has the fields of action.yml that the test uses.
type actionFile struct {
	Inputs map[string]struct{ Default string }
	Runs   struct {
		Steps []struct {
			Name, Run, Uses string
			Env             map[string]string
		}
	}
}

// readYAML decodes a file of the repository. It fails if the file is missing or invalid.
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

// writeRepository writes two documents into a new folder and returns its path. docs/a page.md skips a level of headings.
func writeRepository(t *testing.T) string {
	t.Helper()

	dir := t.TempDir()
	for name, text := range map[string]string{"README.md": "# Hi\n", "docs/a page.md": "# Page\n\n### Deep\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}

		public.File(t, path, text)
	}

	return dir
}

// releaseArchive packs the program as scripts/release.sh does and returns the archive.
func releaseArchive(t *testing.T) string {
	t.Helper()
	archive := filepath.Join(t.TempDir(), "presswork.tar.gz")
	program := e2e.Binary(t)
	mustRun(t, "tar", "-C", filepath.Dir(program), "--transform", "s|^|presswork_1_linux/|", "-I", "gzip -1",
		"-cf", archive, filepath.Base(program))

	return archive
}

// mustRun runs a program, which must succeed, and returns its output.
func mustRun(t *testing.T, name string, args ...string) string {
	t.Helper()

	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}

	return string(out)
}

// expression matches a value that GitHub inserts.
var expression = regexp.MustCompile(`\$\{\{ *([a-z0-9._-]+) *\}\}`)

// TestGitHubActionConvertsAndComments runs the steps of action.yml in a clean folder. A script replaces gh.
func TestGitHubActionConvertsAndComments(t *testing.T) {
	t.Parallel()

	var action actionFile
	readYAML(t, "action.yml", &action)
	repository, temp, bin := writeRepository(t), t.TempDir(), t.TempDir()
	remote := filepath.Join(t.TempDir(), "remote.git")
	mustRun(t, "git", "init", "-q", "--bare", remote)
	// The hook rejects the first push, as after a push of another pull request.
	public.Program(t, filepath.Join(remote, "hooks", "pre-receive"),
		"#!/bin/sh\n[ -e "+temp+"/rejected ] || { touch "+temp+"/rejected; exit 1; }\n")
	public.Program(t, filepath.Join(bin, "gh"),
		"#!/bin/sh\nwhile [ $# -gt 0 ]; do [ \"$1\" = --body-file ] && cp \"$2\" "+temp+"/sent.md; shift; done\n")

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
		if info, err := os.Stat(filepath.Join(repository, "presswork-output", name)); err != nil {
			t.Error(err)
		} else if info.Size() < 1000 {
			t.Errorf("%s has %d bytes, want at least 1000", name, info.Size())
		}
	}

	sent, err := os.ReadFile(temp + "/sent.md")
	if err != nil {
		t.Fatal(err)
	}

	commit := strings.TrimSpace(mustRun(t, "git", "-C", remote, "rev-parse", "previews"))
	picture := "https://github.com/owner/documents/raw/" + commit + "/7/a%20page.png"

	stored := mustRun(t, "git", "-C", remote, "show", "previews:7/a page.png")
	if !strings.HasPrefix(stored, "\x89PNG") {
		t.Errorf("the branch has %.20q, want the picture", stored)
	}

	for _, want := range []string{
		"https://example.com/artifact", "| README.md | 1 | none |", "| docs/a page.md | 1 | heading", picture,
	} {
		if !strings.Contains(string(sent), want) {
			t.Errorf("the comment is\n%s, want %q in it", sent, want)
		}
	}
}

// TestPreCommitHooksCheckFiles runs the entries of .pre-commit-hooks.yaml as pre-commit does, with the changed files.
func TestPreCommitHooksCheckFiles(t *testing.T) {
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
				t.Errorf("%s %s: error %v, output %s; want an error: %t", hook.ID, file, err, out, fails)
			}
		}
	}
}

// TestGitLabJobConverts runs the script of the job in a clean folder, with the program that the tests have built.
func TestGitLabJobConverts(t *testing.T) {
	t.Parallel()

	var jobs map[string]struct {
		Variables map[string]string
		Before    []string `yaml:"before_script"`
		Script    []string
	}
	readYAML(t, "deploy/ci/gitlab-ci.yml", &jobs)
	job, repository, bin := jobs["presswork"], writeRepository(t), t.TempDir()
	job.Variables["PRESSWORK_FILES"], job.Variables["PRESSWORK_ARCHIVE"] = "README.md", "file://"+releaseArchive(t)

	// The test leaves out the first command, which installs packages. The second unpacks the program.
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
