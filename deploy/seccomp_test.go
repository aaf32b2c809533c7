//go:build validators

package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSeccompProfiles runs the program under each seccomp profile, without privileges, as in a container. The
// browser must be sandboxed and without a network. Code of models must run only where the profile allows mounts.
func TestSeccompProfiles(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}

	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", dir, "../cmd/presswork").
		CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// runUnder runs a shell script under a profile and returns its output.
	runUnder := func(profile, script string) (string, error) {
		filter, err := run(t, nil, "python3", "testdata/filter.py", profile)
		if err != nil {
			t.Fatal(err)
		}

		file := filepath.Join(dir, filepath.Base(profile))
		if err := os.WriteFile(file, filter, 0o600); err != nil {
			t.Fatal(err)
		}

		rules, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer rules.Close()
		// bwrap keeps the host's /proc: the kernel allows no new mount of it where parts are covered.
		// The filter is the first of ExtraFiles, which has the descriptor 3.
		args := []string{
			"--die-with-parent",
			"--unshare-ipc",
			"--unshare-uts",
			"--ro-bind",
			"/",
			"/",
			"--dev-bind",
			"/proc",
			"/proc",
			"--dev",
			"/dev",
			"--perms",
			"1777",
			"--tmpfs",
			"/tmp",
			"--ro-bind",
			dir,
			"/opt",
			"--chdir",
			"/tmp",
			"--seccomp",
			"3",
		}
		if os.Geteuid() == 0 {
			args = append(args, "setpriv", "--reuid=10001", "--regid=10001", "--clear-groups",
				"--bounding-set=-all", "--inh-caps=-all")
		}
		cmd := exec.CommandContext(t.Context(), "bwrap", append(args, "sh", "-c", script)...)
		cmd.Env = append(os.Environ(), "HOME=/tmp", "PDF_OUTPUT_DIR=/tmp/output", "DATA_DIR=/tmp/data",
			"CACHE_DIR=/tmp/cache")
		cmd.ExtraFiles = []*os.File{rules}
		out, err := cmd.CombinedOutput()

		return string(out), err
	}
	const code = `echo "print(6*7)" | /opt/presswork run-python -`
	const page = `echo "# Hi" >a.md && /opt/presswork md2pdf a.md && /opt/presswork info --json`

	if out, err := runUnder("seccomp-tools.json", code); err != nil || strings.TrimSpace(out) != "42" {
		t.Errorf("code under seccomp-tools.json: output %q, error %v; want 42", out, err)
	}
	// seccomp-browser.json forbids mounts.
	if out, err := runUnder("seccomp-browser.json", code); err == nil || !strings.Contains(out, "seccomp-tools.json") {
		t.Errorf("code under seccomp-browser.json: output %q, error %v; want an error with the other profile", out, err)
	}

	for _, profile := range []string{"seccomp-browser.json", "seccomp-tools.json"} {
		out, err := runUnder(profile, page)
		if err != nil || !strings.Contains(out, `"sandbox": true`) ||
			!strings.Contains(out, `"network_isolated": true`) {
			t.Errorf("a page under %s: output %s, error %v; want a sandbox and an isolated network", profile, out, err)
		}
	}
}
