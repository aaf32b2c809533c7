package chromium

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is one browser program with its process group and its profile.
type process struct {
	pid     int // also the group's id
	in, out *os.File
	stderr  *tail
	home    *profile
	exited  chan struct{} // closed when the group is dead and the profile gone

	mu     sync.Mutex
	reaped bool // pid may be somebody else's
}

// startProcess runs the browser at exe in a process group, a profile and, when
// this process is root, a user of its own.
func startProcess(exe string, c confinement, opt Options) (*process, error) {
	uid := -1
	if os.Geteuid() == 0 {
		uid = opt.UID
	}

	home, err := newProfile(opt.Dir, uid)
	if err != nil {
		setting := ""
		if opt.Dir == os.TempDir() {
			setting = " in TMPDIR"
		}

		return nil, fmt.Errorf("there is no room for the browser's profile%s: %w", setting, err)
	}
	p := &process{stderr: &tail{}, home: home, exited: make(chan struct{})}
	//nolint:noctx // the browser outlives the request it is started for
	cmd := exec.Command(exe, flags(home.data(), c.sandbox, smallShm(), opt.foreign)...)
	cmd.Dir = home.data()
	cmd.Env = environment(home, opt.FontConfig)
	cmd.SysProcAttr = sysProcAttr(uid, c.isolated)

	var files []*os.File
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
		return nil, errors.Join(err, home.remove())
	}
	widen(in)
	widen(out)
	p.in, p.out = in, out
	cmd.Stderr = childErr
	cmd.ExtraFiles = []*os.File{childIn, childOut} // 3 and 4, where it expects them

	started := make(chan error, 1)

	go func() {
		// The kernel ends the browser when the thread that started it ends
		// (Pdeathsig), so this thread is kept from everybody else. It ends with
		// this function: what it may do is limited for good.
		runtime.LockOSThread()

		var err error
		if c.unprivileged {
			err = forbidPrivileges()
		}

		if err == nil {
			err = cmd.Start()
		}
		closeAll([]*os.File{childIn, childOut, childErr})

		if err != nil {
			closeAll([]*os.File{in, out, errOut})
			started <- errors.Join(err, home.remove())

			return
		}
		p.pid = cmd.Process.Pid
		started <- nil
		p.seeOut(cmd.Process, errOut)

		if err := home.remove(); err != nil {
			opt.Log.Warn("browser profile not removed", "error", err)
		}
		close(p.exited)
	}()

	if err := <-started; err != nil {
		if uid >= 0 && errors.Is(err, fs.ErrPermission) {
			err = fmt.Errorf("%w; the browser runs as user %d, who must be able to reach it and %s", err, uid, opt.Dir)
		}

		return nil, fmt.Errorf("%s does not start: %w", exe, err)
	}

	return p, nil
}

// seeOut waits for the browser's end and clears up after it.
func (p *process) seeOut(leader *os.Process, errOut *os.File) {
	var followed sync.WaitGroup
	followed.Go(func() { p.stderr.follow(errOut) })
	awaitExit(leader)
	p.kill() // its children
	p.mu.Lock()
	p.reaped = true
	_, _ = leader.Wait() // how it ended, awaitExit has seen
	p.mu.Unlock()
	reapGroup(p.pid)
	_ = errOut.SetReadDeadline(time.Now().Add(5 * time.Second)) // somebody outside of the group may hold it open
	followed.Wait()                                             // its last words are all there
	closeAll([]*os.File{p.in, p.out})
}

// kill ends the whole process group at once, as long as its id is its own.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()

	if !p.reaped {
		syscall.Kill(-p.pid, syscall.SIGKILL)
	}
}

// discard ends the process group and removes its profile without waiting for its end.
func (p *process) discard() error {
	p.kill()
	return p.home.remove()
}

// reapGroup waits until nothing of the killed group lives. Orphans come to this
// process when it is the first one of a container, and nobody else would reap
// them.
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

// environment is all the browser gets to see of ours.
func environment(home *profile, fontConfig string) []string {
	env := []string{
		"HOME=" + home.data(),
		"XDG_CONFIG_HOME=" + home.data(),
		"XDG_CACHE_HOME=" + home.data(),
		"XDG_DATA_HOME=" + home.data(),
		"TMPDIR=" + home.temp(),
		"LANG=C.UTF-8",
		// It has no business on the machine's buses.
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

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// tail keeps the end of what the browser writes to stderr.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const (
	tailBytes  = 4 << 10
	briefBytes = 400
)

func (t *tail) follow(r io.ReadCloser) {
	defer r.Close()

	buf := make([]byte, tailBytes)
	for {
		n, err := r.Read(buf)
		t.mu.Lock()
		t.text = append(t.text, buf[:n]...)
		t.text = bytes.Clone(t.text[max(0, len(t.text)-tailBytes):])
		t.mu.Unlock()

		if err != nil {
			return
		}
	}
}

// brief is its last words, for a log line.
func (t *tail) brief() string {
	s := t.String()
	return s[max(0, len(s)-briefBytes):]
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()

	return strings.TrimSpace(string(t.text))
}
