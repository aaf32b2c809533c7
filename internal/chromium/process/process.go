// Package process runs the browser's program. It does not speak the browser's protocol.
//
// Find finds the program. Start starts it with a process group, a user and a profile of its own. It connects the
// browser by the pipes Process.In and Process.Out. Memory and MemoryBound measure it, and Kill and Discard end it.
// Sweep deletes the profiles of earlier processes that could not do so.
package process

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Options are the settings of one browser process. All fields without a default are required.
type Options struct {
	Confinement Confinement
	// Foreign starts a browser for pages of other people. Each of its browser contexts
	// reaches the network through a proxy. Default: the browser reaches no network.
	Foreign bool
	// UID is the user and group that a process running as root gives to the browser. Without root it is not used.
	UID int
	// Dir is the directory in which the profile is created. The browser's user must be allowed to pass through it.
	Dir string
	// FontConfig is a fontconfig file. Default: the system's.
	FontConfig string
	Log        *slog.Logger
}

// Confinement is what the operating system forbids the browser.
type Confinement struct {
	// Sandbox is Chromium's own sandbox.
	Sandbox bool
	// Unprivileged keeps the browser from gaining privileges. Then no setuid program can help its sandbox, which
	// needs user namespaces instead.
	Unprivileged bool
	// Isolated gives the browser a network without any connection. It needs CanIsolate and a kernel that allows user
	// namespaces.
	Isolated bool
}

// Process is one running browser with its process group and its profile.
type Process struct {
	// PID is also the id of the process group.
	PID int
	// In receives commands for the browser, Out delivers its answers and events. They are closed when the browser has
	// ended.
	In, Out *os.File
	// Exited is closed when the group has ended and the profile is deleted.
	Exited chan struct{}

	stderr  *tail
	profile *profile

	mu     sync.Mutex
	reaped bool // since then, PID may belong to another process
}

// Start runs the browser at exe in a process group and a profile of its own and, if this process is root, as user
// Options.UID. It does not wait until the browser answers. The caller ends the browser with Kill or Discard. Start
// returns an error if the profile cannot be created or the program cannot be started; then nothing is left behind.
func Start(exe string, o Options) (*Process, error) {
	uid := -1
	if os.Geteuid() == 0 {
		uid = o.UID
	}

	profile, err := newProfile(o.Dir, uid)
	if err != nil {
		setting := ""
		if o.Dir == os.TempDir() {
			setting = " in TMPDIR"
		}

		return nil, fmt.Errorf("the browser's profile cannot be created%s: %w", setting, err)
	}

	p, err := start(exe, o, profile, uid)
	if err == nil {
		return p, nil
	}

	if uid >= 0 && errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w; the browser runs as user %d, who must be able to reach it and %s", err, uid, o.Dir)
	}

	return nil, errors.Join(fmt.Errorf("%s does not start: %w", exe, err), profile.remove())
}

// start runs the browser, with three pipes: for commands, for answers, and for what it writes to stderr. After an
// error the caller removes the profile.
func start(exe string, o Options, profile *profile, uid int) (*Process, error) {
	p := &Process{stderr: &tail{}, profile: profile, Exited: make(chan struct{})}
	//nolint:noctx // the browser outlives the request it is started for
	cmd := exec.Command(exe, arguments(profile.data(), o, smallShm())...)
	cmd.Dir = profile.data()
	cmd.Env = environment(profile, o.FontConfig)
	cmd.SysProcAttr = sysProcAttr(uid, o.Confinement.Isolated)

	var (
		files []*os.File
		err   error
	)
	// pipe makes a pipe unless an earlier one failed.
	pipe := func() (r, w *os.File) {
		if err == nil {
			if r, w, err = os.Pipe(); err == nil {
				files = append(files, r, w)
			}
		}

		return r, w
	}
	childIn, in := pipe()
	out, childOut := pipe()
	errOut, childErr := pipe()

	if err != nil {
		closeAll(files)
		return nil, err
	}
	widen(in)
	widen(out)
	p.In, p.Out = in, out
	cmd.Stderr = childErr
	cmd.ExtraFiles = []*os.File{childIn, childOut} // 3 and 4, where the browser expects them

	started := make(chan error, 1)

	go func() {
		// The kernel kills the browser when the thread that started it ends (Pdeathsig), so this thread must live as
		// long as the browser. The thread ends with this function, as forbidPrivileges cannot be undone.
		runtime.LockOSThread()

		var err error
		if o.Confinement.Unprivileged {
			err = forbidPrivileges()
		}

		if err == nil {
			err = cmd.Start()
		}
		closeAll([]*os.File{childIn, childOut, childErr})

		if err != nil {
			closeAll([]*os.File{in, out, errOut})
			started <- err

			return
		}
		p.PID = cmd.Process.Pid
		started <- nil
		p.await(cmd.Process, errOut)

		if err := profile.remove(); err != nil {
			o.Log.Warn("browser profile not removed", "error", err)
		}
		close(p.Exited)
	}()

	if err := <-started; err != nil {
		return nil, err
	}

	return p, nil
}

// await waits until the browser has ended, kills and reaps its children, and closes the pipes. errOut is the pipe of
// the browser's stderr.
func (p *Process) await(leader *os.Process, errOut *os.File) {
	var followed sync.WaitGroup
	followed.Go(func() { p.stderr.follow(errOut) })
	awaitExit(leader)
	p.Kill() // also ends its children
	p.mu.Lock()
	p.reaped = true
	_, _ = leader.Wait() // the exit status is not used
	p.mu.Unlock()
	reapGroup(p.PID)
	// A process outside of the group may hold the pipe open, so do not wait for its end.
	_ = errOut.SetReadDeadline(time.Now().Add(5 * time.Second))

	followed.Wait()
	closeAll([]*os.File{p.In, p.Out})
}

// Kill sends SIGKILL to the whole process group and returns at once. After the browser has ended it does nothing. Like
// all methods of Process, it may be called from any goroutine.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()

	if !p.reaped {
		syscall.Kill(-p.PID, syscall.SIGKILL)
	}
}

// Discard kills the process group and deletes its profile without waiting until the processes have ended. It returns
// an error if a part of the profile remains.
func (p *Process) Discard() error {
	p.Kill()
	return p.profile.remove()
}

// Stderr returns the end of what the browser has written to stderr, at most tailBytes.
func (p *Process) Stderr() string { return p.stderr.String() }

// StderrEnd returns the end of Stderr, at most briefBytes, for a log line.
func (p *Process) StderrEnd() string {
	s := p.stderr.String()
	return s[max(0, len(s)-briefBytes):]
}

// KillRenderer kills a renderer that has more than limit bytes of memory to itself. It
// returns the renderer's process id, or 0 if there is none. Linux only.
func (p *Process) KillRenderer(limit int64) (pid int) {
	if pid = largeRenderer(p.PID, limit); pid != 0 {
		syscall.Kill(pid, syscall.SIGKILL)
	}

	return pid
}

// Memory returns the memory of all the browser's processes in bytes. Shared pages count
// once (PSS) where the kernel shows that, and not at all elsewhere. Reading it takes
// milliseconds. It is 0 on systems other than Linux.
func (p *Process) Memory() int64 { return groupMemory(p.PID) }

// MemoryBound returns an upper bound of Memory, in bytes, at a fraction of its cost.
// Shared pages count for each process. It is 0 on systems other than Linux.
func (p *Process) MemoryBound() int64 { return groupMemoryBound(p.PID) }

// reapGroup waits until all processes of the killed group have ended, at most 10 s. When this process is the first
// one of a container, orphans become its children, and no other process would reap them.
func reapGroup(pgid int) {
	deadline := time.Now().Add(10 * time.Second)

	for {
		for {
			pid, err := syscall.Wait4(-pgid, nil, syscall.WNOHANG, nil)
			if err != nil || pid <= 0 {
				break
			}
		}

		if groupExited(pgid) || time.Now().After(deadline) {
			return
		}
		syscall.Kill(-pgid, syscall.SIGKILL)
		time.Sleep(2 * time.Millisecond)
	}
}

// environment returns the browser's whole environment. It passes on only the variables
// that the browser needs.
func environment(profile *profile, fontConfig string) []string {
	env := []string{
		"HOME=" + profile.data(),
		"XDG_CONFIG_HOME=" + profile.data(),
		"XDG_CACHE_HOME=" + profile.data(),
		"XDG_DATA_HOME=" + profile.data(),
		"TMPDIR=" + profile.temp(),
		"LANG=C.UTF-8",
		// The browser does not need the machine's buses.
		"DBUS_SYSTEM_BUS_ADDRESS=disabled:",
		"DBUS_SESSION_BUS_ADDRESS=disabled:",
	}

	for _, name := range []string{"PATH", "TZ", "LD_LIBRARY_PATH"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}

	if fontConfig != "" {
		env = append(env, "FONTCONFIG_FILE="+fontConfig)
	}

	return env
}

// closeAll closes files. Errors do not matter: pipes have nothing to flush.
func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}
