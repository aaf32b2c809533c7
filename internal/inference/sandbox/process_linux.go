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

// input is a file for the sandbox at a path there: content is read once, from its
// start.
type input struct {
	path     string
	content  *os.File
	writable bool
}

// handshake are the files by which bwrap says whom it started, waits until the
// limits are set, and reads the filter.
type handshake struct {
	info, gate, filter *os.File
}

// start says what to run in a sandbox, and with which files open.
type start struct {
	program        string // what argv runs in the end, by its path
	argv           []string
	env            []string
	stdin          *os.File // nil is /dev/null
	stdout, stderr *os.File
	// more are open as 3 and up.
	more []*os.File
	// inputs are put into InputDir; scratch have paths, and can be changed.
	inputs, scratch []File
	limits          Limits
	// used is closed before the first code that is not ours runs; nil where that is at once.
	used <-chan struct{}
}

// process is one sandbox with all that runs in it.
type process struct {
	// first is the sandbox's first process: with it the kernel ends all others. In
	// /proc of this machine it is pid.
	first *os.Process
	pid   int
	// procs is the /proc of the sandbox. folders are its writable folders, WorkDir first. Both can also be read
	// after the end of the sandbox.
	procs   *os.File
	folders []*os.File
	// exited is closed when nothing of it lives, and unwatched soon after.
	exited, unwatched chan struct{}
	// used is that of start.
	used <-chan struct{}
	code int // the exit status; read after exited only
	// limits are those of start, and group is nil where no control group is delegated.
	limits Limits
	group  *group

	// idle guards procs and allowed: what an idle sandbox may have, in bytes, and 0 while a cell runs.
	idle    sync.Mutex
	allowed int64

	mu       sync.Mutex
	exceeded *LimitError
}

// start begins a sandbox. Its limits hold from the program's first instruction.
// It ends with this process, and at the latest when its wall time is over.
func (b *Box) start(ctx context.Context, s start) (_ *process, err error) {
	if err := checkFiles(s.inputs); err != nil {
		return nil, err
	}

	var own, given []*os.File // ours until the end of this function; bwrap's
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

	at := handshake{info: infoW, gate: gateR}
	if b.filter != nil {
		if at.filter, err = memory("filter", bytes.NewReader(b.filter)); err != nil {
			return nil, err
		}
		given = append(given, at.filter)
	}

	var inputs []input
	for i, f := range slices.Concat(s.inputs, s.scratch) {
		content, err := memory("input", bytes.NewReader(f.Data))
		if err != nil {
			return nil, err
		}

		in := input{path: f.Name, content: content, writable: i >= len(s.inputs)}
		if !in.writable {
			in.path = path.Join(InputDir, f.Name)
		}
		given, inputs = append(given, content), append(inputs, in)
	}
	extra := slices.Clone(s.more)
	fd := func(f *os.File) string {
		extra = append(extra, f)
		return strconv.Itoa(2 + len(extra))
	}
	//nolint:noctx // its end is ours to bring about, see stop
	cmd := exec.Command(b.bwrap, append(b.arguments(s.program, s.limits, inputs, fd, &at), s.argv...)...)
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

	p := &process{exited: make(chan struct{}), unwatched: make(chan struct{}), used: s.used, limits: s.limits}
	if p.group, err = b.newGroup(s.limits); err != nil {
		return nil, err
	}
	started := make(chan error, 1)
	apart(func() {
		// This thread is bwrap's user, who alone may set limits and look into the
		// sandbox.
		defer close(p.unwatched)

		err := b.become()
		if err == nil {
			err = cmd.Start()
		}

		if err != nil {
			p.leave()
			started <- fmt.Errorf("sandbox: %w", err)

			return
		}
		closeAll(given)

		go func() {
			_ = cmd.Wait() // the status says it all
			p.code = exitCode(cmd.ProcessState)
			p.leave()
			close(p.exited)
		}()

		if err = p.admit(ctx, infoR, gateW); err != nil {
			p.kill()
			cmd.Process.Kill()
			<-p.exited
			closeAll(append(p.folders, p.procs))
		}
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

// apart runs f in a thread of its own, which ends with f.
func apart(f func()) {
	began := make(chan struct{})

	go func() {
		runtime.LockOSThread()

		if unix.Gettid() == os.Getpid() {
			// The first thread never ends, and stands for the process. It is held until
			// there is another.
			apart(f)
			runtime.UnlockOSThread()
			close(began)

			return
		}
		close(began)
		f()
	}()
	<-began
}

// become makes the calling thread an unprivileged user's when this process is
// root. Only a locked thread may, and it must end afterwards.
func (w *wall) become() error {
	if w.uid < 0 {
		return nil
	}
	id := uintptr(w.uid)
	// Not by package syscall, which changes all threads.
	for _, call := range [][]uintptr{
		{unix.SYS_SETGROUPS, 0, 0, 0}, {unix.SYS_SETRESGID, id, id, id}, {unix.SYS_SETRESUID, id, id, id},
	} {
		if _, _, errno := unix.RawSyscall(call[0], call[1], call[2], call[3]); errno != 0 {
			return fmt.Errorf("become user %d: %w", w.uid, errno)
		}
	}

	return nil
}

// errSetUp is a sandbox that bwrap could not make; its last words are on stderr.
var errSetUp = errors.New("bubblewrap cannot set up the sandbox")

// admit waits until the sandbox stands, sets its limits, and lets the program in.
func (p *process) admit(ctx context.Context, info, gate *os.File) error {
	var about struct {
		ChildPID int `json:"child-pid"`
	}
	// Not cut short by ctx: whom bwrap has started must be known to be ended.
	_ = info.SetReadDeadline(time.Now().Add(probeTime))
	if err := json.NewDecoder(io.LimitReader(info, 4<<10)).Decode(&about); err != nil || about.ChildPID <= 1 {
		return errSetUp
	}
	p.pid = about.ChildPID

	var err error
	if p.first, err = os.FindProcess(p.pid); err != nil {
		return err
	}
	// bwrap says whom it started at once, and builds the sandbox then. The last
	// step is to wait at the gate.
	for !p.enter() {
		select {
		case <-p.exited:
			return errSetUp
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Millisecond):
		}
	}

	if err := limit(p.pid, p.limits); err != nil {
		return err
	}
	// Where memory is short the kernel ends this first, and spares the server and Redis.
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", p.pid), []byte("1000"), 0); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}

	if p.group != nil {
		if err := p.group.add(p.pid); err != nil {
			return fmt.Errorf("sandbox: %w", err)
		}
	}
	_, err = gate.Write([]byte{1})

	return err
}

// leave removes the control group, and notes when the sandbox was over its memory.
func (p *process) leave() {
	if p.group == nil {
		return
	}

	if p.group.full() {
		p.note("memory", size(p.limits.Memory))
	}
	p.group.remove()
}

// enter opens the sandbox's folders, or reports that it does not stand yet: its
// root is still this machine's, or has no WorkDir.
func (p *process) enter() bool {
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

// exceed ends the sandbox for a limit.
func (p *process) exceed(name, allowed string) {
	p.note(name, allowed)
	p.kill()
}

// note keeps the first limit that the sandbox was over.
func (p *process) note(name, allowed string) {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.exceeded == nil {
		p.exceeded = &LimitError{Limit: name, Allowed: allowed}
	}
}

// over is the limit for which the sandbox was ended, or nil.
func (p *process) over() *LimitError {
	p.mu.Lock()
	defer p.mu.Unlock()

	return p.exceeded
}

// kill ends all that runs in the sandbox. It may be called at any time.
func (p *process) kill() {
	if p.first != nil {
		p.first.Kill()
	}
}

// stop ends the sandbox and waits until nothing of it is left.
func (p *process) stop() {
	p.kill()
	<-p.exited
	<-p.unwatched
	_ = p.first.Release() // its pidfd
	closeAll(append(p.folders, p.procs))
}

func exitCode(s *os.ProcessState) int {
	if st, ok := s.Sys().(syscall.WaitStatus); ok && st.Signaled() {
		return 128 + int(st.Signal())
	}

	return s.ExitCode()
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}
