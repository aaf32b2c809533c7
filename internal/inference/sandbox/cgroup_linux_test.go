//go:build amd64 || arm64

package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presswork/internal/inference/sandbox"
	"presswork/internal/test/wait"
)

func TestControlGroupsAreUsedOnlyWhereDelegated(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		own         string // the content of /proc/self/cgroup
		group       string // the group's folder
		controllers string // the controllers that the group may use
		limited     bool   // the group has a file memory.max, so it is not the root of the machine
		want        string // the delegated group below the root, or "" for none
	}{
		"root of a container":        {"0::/\n", "", "cpu memory pids\n", true, "."},
		"container, after a restart": {"0::/server\n", "", "cpu memory pids\n", true, "."},
		"root of the machine":        {"0::/\n", "", "cpu memory pids\n", false, ""},
		"scope of a login session":   {"0::/user.slice/session-1.scope\n", "user.slice/session-1.scope", "memory\n", true, ""},
		"without memory":             {"0::/\n", "", "cpu pids\n", true, ""},
		"version 1":                  {"4:memory:/\n0::/\n", "", "hugetlb\n", true, ""},
		"no control groups":          {"", "", "memory\n", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()

			dir := filepath.Join(root, test.group)
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}

			files := map[string]string{"cgroup.controllers": test.controllers, "cgroup.procs": "7\n"}
			if test.limited {
				files["memory.max"] = "max\n"
			}

			for file, content := range files {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}

			want := test.want
			if want != "" {
				want = filepath.Join(root, want)
			}

			if got := sandbox.DelegatedGroup(root, test.own); got != want {
				t.Fatalf("the group is %q, want %q", got, want)
			}
			moved, _ := os.ReadFile(filepath.Join(dir, "server", "cgroup.procs"))

			control, _ := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
			if divided := string(moved) == "7" && string(control) == "+memory"; divided != (want != "") {
				t.Errorf("process %q was moved, and %q is set; want both: %v", moved, control, want != "")
			}
		})
	}
}

// TestControlGroupHasLimitsOfSandbox also runs on machines that delegate no group to the test.
func TestControlGroupHasLimitsOfSandbox(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	if err := sandbox.LimitGroup(dir, sandbox.Limits{Memory: 100 << 20, Disk: 10 << 20}); err != nil {
		t.Fatal(err)
	}

	// Processes, two folders, /dev/shm, and 32 MiB for the kernel.
	most := fmt.Sprint((100 + 2*10 + 1 + 32) << 20)
	for file, want := range map[string]string{"memory.max": most, "memory.swap.max": "0", "memory.oom.group": "1"} {
		t.Run(file, func(t *testing.T) {
			if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(got) != want {
				t.Errorf("%s is %q, %v; want %s", file, got, err, want)
			}
		})
	}
}

// TestEachSandboxHasAControlGroup expects a control group only if one is delegated to the test. Then the kernel enforces
// the memory limit.
func TestEachSandboxHasAControlGroup(t *testing.T) {
	t.Parallel()
	box := openBox(t)
	s := newSession(t, newPool(t, box, longTimeout), sandbox.File{Name: fmt.Sprintf("grouped-%d", os.Getpid())})
	run(t, s, "1")
	var group string

	for _, member := range descendants(fmt.Sprint(os.Getpid())) {
		pid, _, _ := strings.Cut(member, " ")
		if own, _ := os.ReadFile("/proc/" + pid + "/cgroup"); strings.Contains(string(own), "/sandbox-") {
			_, group, _ = strings.Cut(strings.TrimSpace(string(own)), "0::")
		}
	}

	if grouped := group != ""; grouped != box.Grouped() {
		t.Fatalf("the sandbox is in the group %q, want a group: %v", group, box.Grouped())
	}

	if !box.Grouped() {
		return
	}
	// The kernel counts memory that no process has mapped and the watch does not see: 55 MiB in pipes.
	_, err := box.Run(t.Context(), sandbox.Command{
		Program: "python3",
		Limits:  sandbox.Limits{Memory: 16 << 20, Disk: 4 << 10, Wall: longTimeout, CPU: longTimeout},
		Args: []string{"-I", "-c", `import fcntl, os
kept = []
for i in range(55):
    kept.append(os.pipe())
    fcntl.fcntl(kept[-1][1], 1031, 1 << 20) # F_SETPIPE_SZ
    os.write(kept[-1][1], bytes(1 << 20))
`},
	})
	if over, ok := errors.AsType[*sandbox.LimitError](err); !ok || over.Limit != "memory" {
		t.Errorf("error is %v, want a LimitError for memory", err)
	}

	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the group is gone", func() bool {
		_, err := os.Stat("/sys/fs/cgroup" + group)
		return os.IsNotExist(err)
	})
}
