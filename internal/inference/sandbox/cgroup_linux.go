//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// serverGroup is the control group of this process and its other children. The kernel allows memory limits in
	// a group only if its parent contains no process.
	serverGroup = "server"
	// groupSlack is the memory that the kernel may need for a sandbox in addition to its limits, in bytes: page
	// tables, stacks, descriptors.
	groupSlack = 32 << 20
)

// delegatedGroup prepares the control group below root in which this process may create groups. It returns the folder
// of the group, or "" if no group is delegated. own is the content of /proc/self/cgroup.
func delegatedGroup(root, own string) string {
	var name string

	for line := range strings.Lines(own) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			name = path.Clean("/" + rest)
		}
	}

	if path.Base(name) == serverGroup {
		name = path.Dir(name) // an earlier call has moved this process
	}
	dir := path.Join(root, name)

	controllers, err := os.ReadFile(path.Join(dir, "cgroup.controllers"))
	if name == "" || err != nil || !strings.Contains(" "+string(controllers), " memory") || !isDelegated(dir, name) {
		return ""
	}

	if moveProcesses(dir) != nil {
		return ""
	}

	return dir
}

// isDelegated reports whether systemd has delegated the group, or it is a container's own. Only the root group of
// the machine has no limit file.
func isDelegated(dir, name string) bool {
	value := make([]byte, 1)
	for _, attribute := range []string{"user.delegate", "trusted.delegate"} {
		if n, err := unix.Getxattr(dir, attribute, value); n == 1 && err == nil && value[0] == '1' {
			return true
		}
	}
	_, err := os.Stat(path.Join(dir, "memory.max"))

	return name == "/" && err == nil
}

// moveProcesses moves the processes of a group into serverGroup and allows memory limits in its children.
func moveProcesses(dir string) error {
	if err := os.Mkdir(path.Join(dir, serverGroup), 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	var err error

	for range 10 { // a process may start another meanwhile
		procs, _ := os.ReadFile(path.Join(dir, "cgroup.procs"))
		for pid := range strings.FieldsSeq(string(procs)) {
			_ = os.WriteFile(path.Join(dir, serverGroup, "cgroup.procs"), []byte(pid), 0o600) // it may have ended
		}

		if err = os.WriteFile(path.Join(dir, "cgroup.subtree_control"), []byte("+memory"), 0o600); err == nil {
			return nil
		}
	}

	return err
}

// group is the control group of one sandbox.
type group struct {
	dir string
	// procs is the open cgroup.procs. It is opened before the thread changes its user, because the new user may
	// not open it for writing.
	procs *os.File
}

// newGroup creates a group with the limits. It returns nil if no group is delegated.
func (w *bubblewrap) newGroup(l Limits) (*group, error) {
	if w.groups == "" {
		return nil, nil
	}

	dir, err := os.MkdirTemp(w.groups, "sandbox-*")
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}

	g := &group{dir: dir}
	if err := limitGroup(dir, l); err != nil {
		g.remove()
		return nil, fmt.Errorf("sandbox: %w", err)
	}

	if g.procs, err = os.OpenFile(path.Join(dir, "cgroup.procs"), os.O_WRONLY, 0); err != nil {
		g.remove()
		return nil, fmt.Errorf("sandbox: %w", err)
	}

	return g, nil
}

// limitGroup sets the limits of a control group. At the memory limit the kernel ends all its processes together.
func limitGroup(dir string, l Limits) error {
	for _, setting := range [][2]string{
		{"memory.max", fmt.Sprint(l.total() + groupSlack)}, {"memory.swap.max", "0"}, {"memory.oom.group", "1"},
	} {
		err := os.WriteFile(path.Join(dir, setting[0]), []byte(setting[1]), 0o600)
		if err != nil && !errors.Is(err, os.ErrNotExist) { // a kernel without swap has no limit on it
			return err
		}
	}

	return nil
}

// addProcess moves a process and its future children into the group.
func (g *group) addProcess(pid int) error {
	_, err := fmt.Fprint(g.procs, pid)
	return err
}

// outOfMemory reports whether the kernel has ended a process of the group because of its memory.
func (g *group) outOfMemory() bool {
	events, _ := os.ReadFile(filepath.Join(g.dir, "memory.events"))
	_, after, found := strings.Cut(string(events), "\noom_kill ")

	return found && !strings.HasPrefix(after, "0\n")
}

// remove deletes the group after its last process has ended.
func (g *group) remove() {
	if g.procs != nil {
		g.procs.Close()
	}

	// bwrap ends before its processes, and a group with a process cannot be removed.
	for range 100 {
		if err := os.Remove(g.dir); !errors.Is(err, unix.EBUSY) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
