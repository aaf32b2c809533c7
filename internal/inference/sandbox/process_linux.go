//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// input is a file that appears at path in the sandbox. bwrap reads content once, from its start.
type input struct {
	path     string
	content  *os.File
	writable bool
}

// handshake holds the descriptors through which this process and bwrap communicate. bwrap writes the pid of the
// child to info. It waits at gate until the limits are set, and reads the seccomp program from filter.
type handshake struct {
	info, gate, filter *os.File
}

// startOptions describe a program to run in a sandbox.
type startOptions struct {
	program        string // path of the program that argv runs in the end
	argv           []string
	env            []string
	stdin          *os.File // nil is /dev/null
	stdout, stderr *os.File
	// more are the descriptors 3 and higher of the program.
	more []*os.File
	// inputs are placed in InputDir, read-only. scratch files have a path as their name and are writable.
	inputs, scratch []File
	limits          Limits
	// used is closed before the first untrusted code runs. It is nil if the program itself is untrusted.
	used <-chan struct{}
}

// process is one sandbox with all its processes.
type process struct {
	// first is the first process of the sandbox: when it ends, the kernel ends all others. pid is its id on the
	// host.
	first *os.Process
	pid   int
	// procs is the /proc of the sandbox. folders are its writable folders, WorkDir first. Both can also be read
	// after the end of the sandbox.
	procs   *os.File
	folders []*os.File
	// exited is closed when all processes have ended. unwatched is closed soon afterwards, when the watch has
	// ended.
	exited, unwatched chan struct{}
	// used is startOptions.used.
	used <-chan struct{}
	code int // exit status; valid after exited is closed
	// limits are those of startOptions. group is nil if no control group is delegated.
	limits Limits
	group  *group

	// idle guards procs and allowed. allowed is the most memory of an idle sandbox in bytes; it is 0 while a cell
	// runs.
	idle    sync.Mutex
	allowed int64

	mu       sync.Mutex
	exceeded *LimitError
}

// start starts a sandbox. Its limits apply from the first instruction of the program. The sandbox ends with this
// process, and at the latest after its wall time.
func (b *Box) start(ctx context.Context, s startOptions) (_ *process, err error) {
	if err := checkFiles(s.inputs); err != nil {
		return nil, err
	}

	var own, given []*os.File // own stay in this process; bwrap inherits given. All are closed at the end
	defer func() { closeAll(own); closeAll(given) }()
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}

		return r, w
	}
	infoR, infoW := pipe()
	gateR, gateW := pipe()

	if err != nil {
		return nil, err
	}
	own, given = []*os.File{infoR, gateW}, []*os.File{infoW, gateR}

	shake := handshake{info: infoW, gate: gateR}
	if b.filter != nil {
		if shake.filter, err = memoryFile("filter", bytes.NewReader(b.filter)); err != nil {
			return nil, err
		}
		given = append(given, shake.filter)
	}

	var inputs []input
	for i, f := range slices.Concat(s.inputs, s.scratch) {
		content, err := memoryFile("input", bytes.NewReader(f.Data))
		if err != nil {
			return nil, err
		}

		in := input{path: f.Name, content: content, writable: i >= len(s.inputs)}
		if !in.writable {
			in.path = path.Join(InputDir, f.Name)
		}
		given, inputs = append(given, content), append(inputs, in)
	}
	cmd := b.command(s, inputs, &shake)

	p := &process{exited: make(chan struct{}), unwatched: make(chan struct{}), used: s.used, limits: s.limits}
	if p.group, err = b.newGroup(s.limits); err != nil {
		return nil, err
	}
	started := make(chan error, 1)
	runInThread(func() {
		// This thread has the user of bwrap, and only that user may set limits and read the sandbox's /proc.
		defer close(p.unwatched)

		err := b.dropRoot()
		if err == nil {
			err = cmd.Start()
		}

		if err != nil {
			p.removeGroup()
			started <- fmt.Errorf("sandbox: %w", err)

			return
		}
		closeAll(given) // bwrap has its own descriptors; info ends when bwrap closes the last one

		err = p.followStart(ctx, cmd, infoR, gateW)
		started <- err

		if err == nil {
			p.watch()
		}
	})

	if err := <-started; err != nil {
		return nil, err
	}

	return p, nil
}

// command returns the bwrap of a sandbox.
func (b *Box) command(s startOptions, inputs []input, shake *handshake) *exec.Cmd {
	extra := slices.Clone(s.more)
	fd := func(f *os.File) string {
		extra = append(extra, f)
		return strconv.Itoa(2 + len(extra))
	}
	//nolint:noctx // kill and stop end it; a context would end bwrap before its child is known
	cmd := exec.Command(b.bwrap, append(b.arguments(s.program, s.limits, inputs, fd, shake), s.argv...)...)
	cmd.ExtraFiles = extra
	// /proc/1/environ in the sandbox has only these variables.
	cmd.Env = append(
		[]string{"PATH=/usr/bin:/bin:/usr/local/bin", "HOME=" + WorkDir, "TMPDIR=/tmp", "LANG=C.UTF-8"},
		s.env...)

	cmd.Dir = "/"
	if s.stdin != nil {
		cmd.Stdin = s.stdin
	}
	cmd.Stdout, cmd.Stderr = s.stdout, s.stderr
	// The kernel ends bwrap when the thread that started it ends (Pdeathsig).
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}

	return cmd
}

// followStart lets the program of a started bwrap begin. If that fails, it returns when the sandbox has ended.
func (p *process) followStart(ctx context.Context, cmd *exec.Cmd, info, gate *os.File) error {
	go func() {
		_ = cmd.Wait() // ProcessState has the result
		p.code = exitCode(cmd.ProcessState)
		p.removeGroup()
		close(p.exited)
	}()

	err := p.letStart(ctx, info, gate)
	if err != nil {
		p.kill()
		cmd.Process.Kill() // the child may not be known yet
		<-p.exited
		closeAll(append(p.folders, p.procs))
	}

	return err
}

// runInThread runs f in a separate thread, which ends with f.
func runInThread(f func()) {
	began := make(chan struct{})

	go func() {
		runtime.LockOSThread()

		if unix.Gettid() == os.Getpid() {
			// The main thread never ends, and /proc/PID shows its identity. Hold it until f has another thread.
			runInThread(f)
			runtime.UnlockOSThread()
			close(began)

			return
		}
		close(began)
		f()
	}()
	<-began
}

// dropRoot changes the user of the calling thread to the sandbox user if this process is root. The thread must be
// locked, and must end afterwards.
func (w *bubblewrap) dropRoot() error {
	if w.uid < 0 {
		return nil
	}
	id := uintptr(w.uid)
	// Package syscall would change all threads.
	for _, call := range [][]uintptr{
		{unix.SYS_SETGROUPS, 0, 0, 0}, {unix.SYS_SETRESGID, id, id, id}, {unix.SYS_SETRESUID, id, id, id},
	} {
		if _, _, errno := unix.RawSyscall(call[0], call[1], call[2], call[3]); errno != 0 {
			return fmt.Errorf("become user %d: %w", w.uid, errno)
		}
	}

	return nil
}

// errSetUp is the error when bwrap cannot create the sandbox. The reason is on its stderr.
var errSetUp = errors.New("bubblewrap cannot set up the sandbox")

// letStart waits until the sandbox is complete, sets its limits and lets the program start.
func (p *process) letStart(ctx context.Context, info, gate *os.File) error {
	var about struct {
		ChildPID int `json:"child-pid"`
	}
	// ctx does not end this wait: the pid is needed to end the child.
	_ = info.SetReadDeadline(time.Now().Add(probeTime))
	if err := json.NewDecoder(io.LimitReader(info, 4<<10)).Decode(&about); err != nil || about.ChildPID <= 1 {
		return errSetUp
	}
	p.pid = about.ChildPID

	var err error
	if p.first, err = os.FindProcess(p.pid); err != nil {
		return err
	}
	// bwrap sends the pid first and builds the sandbox afterwards. Its last step is to wait at the gate.
	for !p.openFolders() {
		select {
		case <-p.exited:
			return errSetUp
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Millisecond):
		}
	}

	if err := setLimits(p.pid, p.limits); err != nil {
		return err
	}
	// If the host runs out of memory, the kernel ends this process first, not the server or Redis.
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", p.pid), []byte("1000"), 0); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}

	if p.group != nil {
		if err := p.group.addProcess(p.pid); err != nil {
			return fmt.Errorf("sandbox: %w", err)
		}
	}
	_, err = gate.Write([]byte{1})

	return err
}

// removeGroup removes the control group. It first records whether the kernel ended a process at the memory limit.
func (p *process) removeGroup() {
	if p.group == nil {
		return
	}

	if p.group.outOfMemory() {
		p.recordLimit("memory", size(p.limits.Memory))
	}
	p.group.remove()
}

// openFolders opens the folders of the sandbox. It returns false while the sandbox is incomplete: its root is
// still that of the host, or has no WorkDir.
func (p *process) openFolders() bool {
	root, err := os.OpenRoot(fmt.Sprintf("/proc/%d/root", p.pid))
	if err != nil {
		return false
	}
	defer root.Close()

	theirs, err := root.Stat(".")
	if err != nil {
		return false
	}

	ours, err := os.Stat("/")
	if err != nil || os.SameFile(ours, theirs) {
		return false
	}
	var opened []*os.File

	for _, name := range []string{"proc", WorkDir[1:], "tmp", "dev/shm"} {
		f, err := root.Open(name)
		if err != nil {
			closeAll(opened)
			return false
		}
		opened = append(opened, f)
	}
	p.procs, p.folders = opened[0], opened[1:]

	return true
}

// killForLimit ends the sandbox because it exceeded a limit.
func (p *process) killForLimit(name, allowed string) {
	p.recordLimit(name, allowed)
	p.kill()
}

// recordLimit records a limit that the sandbox exceeded. Only the first counts.
func (p *process) recordLimit(name, allowed string) {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.exceeded == nil {
		p.exceeded = &LimitError{Limit: name, Allowed: allowed}
	}
}

// exceededLimit returns the limit that the sandbox exceeded, or nil.
func (p *process) exceededLimit() *LimitError {
	p.mu.Lock()
	defer p.mu.Unlock()

	return p.exceeded
}

// kill ends all processes of the sandbox. It may be called at any time and does not wait.
func (p *process) kill() {
	if p.first != nil {
		p.first.Kill()
	}
}

// stop ends the sandbox, waits until all its processes have ended, and closes its files.
func (p *process) stop() {
	p.kill()
	<-p.exited
	<-p.unwatched
	_ = p.first.Release() // its pidfd
	closeAll(append(p.folders, p.procs))
}

// exitCode returns the exit status of a process, or 128 plus the signal that ended it.
func exitCode(s *os.ProcessState) int {
	if st, ok := s.Sys().(syscall.WaitStatus); ok && st.Signaled() {
		return 128 + int(st.Signal())
	}

	return s.ExitCode()
}

// closeAll closes files, of which some may be nil.
func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}
