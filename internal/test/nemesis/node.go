package nemesis

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"presswork/internal/test/wait"
)

// node is an API or worker of the fleet. After each end of the process, the fleet starts another.
type node struct {
	t    testing.TB
	name string
	role string
	env  []string
	// clocked is set if the node runs the program with a settable clock.
	clocked bool
	dir     string

	// ops is the address of a worker's operations listener; "" for an API.
	ops string

	program string
	// older is set while the node runs another version than the one under test.
	older  atomic.Bool
	runs   int     // starts of the node
	deaths []death // kills of the node
	paused bool    // stopped by SIGSTOP
	cmd    *exec.Cmd
	log    string
	exited chan struct{}
}

// death is the kill of a process.
type death struct {
	pid int
	at  time.Time
}

// start runs a program as the node and returns at once.
func (n *node) start(program string, older bool) {
	n.t.Helper()
	n.runs++
	n.program = program
	n.older.Store(older)
	n.log = filepath.Join(n.dir, fmt.Sprintf("%s.%d.log", n.name, n.runs))

	out, err := os.Create(n.log)
	if err != nil {
		n.t.Fatal(err)
	}
	defer out.Close()
	cmd, exited := exec.Command(program, n.role), make(chan struct{})

	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = n.env, n.dir, out, out
	if err := cmd.Start(); err != nil {
		n.t.Fatal(err)
	}

	n.cmd, n.exited, n.paused = cmd, exited, false
	go func() {
		cmd.Wait()
		close(exited)
	}()
}

// awaitListening waits until the node serves.
func (n *node) awaitListening() {
	n.t.Helper()

	wait.For(wait.Patience, func() bool { return n.listens() || n.ended() })

	if !n.listens() {
		n.t.Fatalf("%s does not listen; its log is %s", n.name, n.log)
	}
}

// listens reports whether the log says that the node serves.
func (n *node) listens() bool {
	b, err := os.ReadFile(n.log)
	if err != nil {
		n.t.Fatal(err)
	}

	for line := range bytes.Lines(b) {
		var entry struct{ Msg string }
		if json.Unmarshal(line, &entry) == nil && entry.Msg == "listening" {
			return true
		}
	}

	return false
}

// ended reports whether the process has ended.
func (n *node) ended() bool {
	select {
	case <-n.exited:
		return true
	default:
		return false
	}
}

// signal sends a signal to the process, if it runs.
func (n *node) signal(s syscall.Signal) {
	if n.cmd != nil && !n.ended() {
		n.cmd.Process.Signal(s)
	}
}

// kill ends the node with SIGKILL and records the time.
func (n *node) kill() {
	n.deaths = append(n.deaths, death{n.cmd.Process.Pid, time.Now()})
	n.signal(syscall.SIGKILL)
	<-n.exited
}

// stop ends the node with SIGTERM, as an operator does. If it does not end in time, stop kills it and returns false.
func (n *node) stop() bool {
	n.signal(syscall.SIGCONT)
	n.signal(syscall.SIGTERM)

	select {
	case <-n.exited:
		return true
	case <-time.After(wait.Patience):
		n.kill()
		return false
	}
}

// children returns the child processes of a process whose command line contains named.
func children(parent int, named string) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range all {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // the process has ended
		}
		var pid, ppid int
		var state string
		fmt.Sscan(string(b), &pid)

		if end := bytes.LastIndexByte(b, ')'); end < 0 {
			continue
		} else if _, err := fmt.Sscan(string(b[end+1:]), &state, &ppid); err != nil || ppid != parent || state == "Z" {
			continue
		}

		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if strings.Contains(string(line), named) {
			pids = append(pids, pid)
		}
	}

	return pids
}

// leftoverProcesses returns the processes whose command line or environment names a directory.
func leftoverProcesses(dir string) (lines []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range all {
		line, err := os.ReadFile(path)

		env, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "environ"))
		if err == nil && len(line) > 0 && (bytes.Contains(line, []byte(dir)) || bytes.Contains(env, []byte(dir))) {
			lines = append(
				lines,
				filepath.Base(filepath.Dir(path))+" "+strings.ReplaceAll(string(line[:min(len(line), 200)]),
					"\x00", " "),
			)
		}
	}

	return lines
}
