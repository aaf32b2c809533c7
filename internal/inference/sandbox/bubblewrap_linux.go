//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// bubblewrap describes the program bwrap of this machine and how to call it.
type bubblewrap struct {
	bwrap string
	uid   int // -1 keeps the user of this process
	// disableUserns reports whether bwrap can forbid user namespaces in the sandbox (0.8 and later). The filter
	// forbids them in any case.
	disableUserns bool
	filter        []byte
	// groups is the folder of the control group that holds a child group for each sandbox. It is "" if no group is
	// delegated.
	groups string
}

// findBubblewrap finds bwrap and prepares everything that sandboxes share. The error wraps ErrUnavailable if bwrap
// is missing or does not run.
func findBubblewrap(ctx context.Context, opt Options) (*bubblewrap, error) {
	w := &bubblewrap{uid: -1}

	var err error
	if w.bwrap, err = exec.LookPath(opt.Bubblewrap); err != nil {
		return nil, fmt.Errorf(
			"%w: bubblewrap is missing (%w); `make setup` installs it, by hand: apt install bubblewrap",
			ErrUnavailable, err)
	}

	if w.bwrap, err = filepath.Abs(w.bwrap); err != nil {
		return nil, err
	}

	if os.Geteuid() == 0 {
		w.uid = opt.UID
	}

	help, err := exec.CommandContext(ctx, w.bwrap, "--help").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: %s --help: %w", ErrUnavailable, w.bwrap, err)
	}
	w.disableUserns = strings.Contains(string(help), "--disable-userns")

	if err := closeOnExec(); err != nil {
		return nil, err
	}

	if w.filter, err = seccompProgram(); err != nil {
		return nil, fmt.Errorf("sandbox: the system call filter: %w", err)
	}
	own, _ := os.ReadFile("/proc/self/cgroup") // none without control groups
	w.groups = delegatedGroup(cgroupRoot, string(own))
	w.killOrphans()

	return w, nil
}

// Grouped reports whether each sandbox has a control group, so that the kernel counts all of its memory.
func (w *bubblewrap) Grouped() bool { return w.groups != "" }

// closeOnExec marks descriptors that this process inherited, so that its children do not inherit them. Go marks
// only those that it opens itself.
func closeOnExec() error {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}

	for _, f := range open {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}

	return nil
}

// unavailable adds to the error of a failed probe how to allow the sandbox, judging by the settings of this machine.
func (w *bubblewrap) unavailable(err error) error {
	var fix string

	switch {
	case sysctl("kernel/apparmor_restrict_unprivileged_userns") == "1" &&
		strings.Contains(err.Error(), "ermission denied"):
		fix = "AppArmor forbids user namespaces (Ubuntu 23.10 and later): " +
			"install a profile for bwrap that has `userns,` (docs/operations.md), " +
			"or set the sysctl kernel.apparmor_restrict_unprivileged_userns to 0"
	case sysctl("kernel/unprivileged_userns_clone") == "0":
		fix = "set the sysctl kernel.unprivileged_userns_clone to 1"
	case sysctl("user/max_user_namespaces") == "0":
		fix = "set the sysctl user.max_user_namespaces to a number above 0, such as 10000"
	case inContainer():
		fix = "in a container, allow user namespaces and mounts: " +
			"for Docker and Podman --security-opt seccomp=deploy/seccomp-tools.json " +
			"--security-opt apparmor=unconfined --security-opt systempaths=unconfined (docs/operations.md)"
	default:
		fix = "user namespaces must be allowed (docs/operations.md)"
	}

	return fmt.Errorf("%w: bubblewrap fails: %w; %s", ErrUnavailable, err, fix)
}

// sysctl returns a kernel setting by its path below /proc/sys, or "" if it cannot be read.
func sysctl(name string) string {
	b, err := os.ReadFile("/proc/sys/" + name)
	if err != nil {
		return ""
	}

	return strings.TrimSpace(string(b))
}

// inContainer reports whether this process seems to run in a container.
func inContainer() bool {
	for _, sign := range []string{"/.dockerenv", "/run/.containerenv", "/var/run/secrets/kubernetes.io"} {
		if _, err := os.Stat(sign); err == nil {
			return true
		}
	}

	return false
}

// findProgram returns the path of a program in the sandbox. The error wraps exec.ErrNotFound if it is not
// installed.
func findProgram(name string) (string, error) {
	candidates := []string{name}
	if !strings.Contains(name, "/") {
		candidates = []string{"/usr/bin/" + name, "/bin/" + name, "/usr/local/bin/" + name}
	}

	for _, c := range candidates {
		p, err := exec.LookPath(c)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}

		if err != nil {
			return "", fmt.Errorf("sandbox: %w", err)
		}

		// The sandbox mounts only some folders. A link that leads out of them would be broken there.
		real, err := filepath.EvalSymlinks(p)
		if err != nil {
			return "", fmt.Errorf("sandbox: %w", err)
		}

		if !slices.ContainsFunc(
			append([]string{localDir}, systemDirs...),
			func(dir string) bool { return strings.HasPrefix(real, dir+"/") },
		) {
			return "", fmt.Errorf("sandbox: %s is %s; only programs in /usr can run", name, real)
		}

		return p, nil
	}

	return "", fmt.Errorf("sandbox: %w: %s is not in /usr/bin, /bin or /usr/local/bin", exec.ErrNotFound, name)
}

// localDir holds programs that administrators install. A sandbox contains it only if its program is from there.
const localDir = "/usr/local"

// systemDirs are the folders into which packages install. Missing folders are left out; links, such as /bin on
// most systems, are created again.
var systemDirs = []string{
	"/usr/bin",
	"/usr/sbin",
	"/usr/lib",
	"/usr/lib32",
	"/usr/lib64",
	"/usr/libexec",
	"/usr/share",
	"/bin",
	"/lib",
	"/lib32",
	"/lib64",
}

// systemFiles are settings without which libraries do not load or find fonts.
var systemFiles = []string{
	"/etc/ld.so.cache",
	"/etc/alternatives",
	"/etc/fonts",
	"/etc/matplotlibrc",
	"/etc/localtime",
	"/var/cache/fontconfig",
}

// ownArguments are the first arguments of every bwrap. killOrphans recognises sandboxes by them.
var ownArguments = []string{
	"--unshare-all", "--unshare-user", "--uid", "65534", "--gid", "65534", "--cap-drop", "ALL",
	"--hostname", "sandbox", "--die-with-parent", "--new-session",
}

// deviceArguments fill /dev. They replace bwrap's --dev, which includes the terminals of /dev/ptmx. /dev/full
// replaces /dev/zero: it reads the same and cannot be mapped. Shared memory of /dev/zero would count for no
// process once no process maps it.
var deviceArguments = []string{
	"--size", "4096", "--tmpfs", "/dev",
	"--dev-bind", "/dev/null", "/dev/null",
	"--dev-bind", "/dev/full", "/dev/full",
	"--dev-bind", "/dev/full", "/dev/zero",
	"--dev-bind", "/dev/random", "/dev/random",
	"--dev-bind", "/dev/urandom", "/dev/urandom",
	"--symlink", "/proc/self/fd", "/dev/fd",
	"--symlink", "/proc/self/fd/0", "/dev/stdin",
	"--symlink", "/proc/self/fd/1", "/dev/stdout",
	"--symlink", "/proc/self/fd/2", "/dev/stderr",
	"--size", strconv.Itoa(shmBytes), "--tmpfs", "/dev/shm",
	"--remount-ro", "/dev",
}

// arguments returns the arguments of bwrap before the command. fd passes a file to bwrap and returns its
// descriptor number there. bwrap applies the arguments in their order, so the root becomes read-only at the end.
func (w *bubblewrap) arguments(
	program string,
	l Limits,
	inputs []input,
	fd func(*os.File) string,
	shake *handshake,
) []string {
	a := slices.Clone(ownArguments)
	if w.disableUserns {
		a = append(a, "--disable-userns")
	}

	for _, dir := range systemDirs {
		if target, err := os.Readlink(dir); err == nil {
			a = append(a, "--symlink", target, dir)
		} else {
			a = append(a, "--ro-bind-try", dir, dir)
		}
	}

	if strings.HasPrefix(program, localDir+"/") {
		a = append(a, "--ro-bind", localDir, localDir)
	}

	for _, file := range systemFiles {
		a = append(a, "--ro-bind-try", file, file)
	}
	size := strconv.FormatInt(l.Disk, 10)
	// /proc is read-only. Otherwise a program could make the kernel end another process first when memory is
	// short.
	a = append(a, "--proc", "/proc", "--remount-ro", "/proc")
	a = append(a, deviceArguments...)
	a = append(a, "--size", size, "--tmpfs", WorkDir, "--size", size, "--tmpfs", "/tmp", "--dir", InputDir)

	for _, in := range inputs {
		if in.writable {
			a = append(a, "--file", fd(in.content), in.path)
		} else {
			a = append(a, "--perms", "0444", "--ro-bind-data", fd(in.content), in.path)
		}
	}

	a = append(a, "--remount-ro", "/", "--chdir", WorkDir, "--info-fd", fd(shake.info), "--block-fd", fd(shake.gate))
	if shake.filter != nil {
		a = append(a, "--seccomp", fd(shake.filter))
	}

	return append(a, "--")
}
