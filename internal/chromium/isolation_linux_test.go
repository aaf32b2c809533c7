package chromium_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"presswork/internal/chromium"
	"presswork/internal/test/browsertest"
	"presswork/internal/test/wait"
)

// None of the browser's processes shares our network or could gain privileges,
// and who stands in their network does not reach this machine.
func TestTheBrowsersProcessesHaveNoNetwork(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t, chromium.Options{Tabs: 1})
	mustPrint(t, b, page("<p>x"))
	if !b.NetworkIsolated() {
		probe := exec.Command("true")
		probe.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNET}
		if err := probe.Run(); err != nil {
			t.Skipf("this machine refuses user namespaces, without which no browser can have a network of its own: %v", err)
		}
		t.Fatal("the browser shares our network")
	}
	ours, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	address, reached := listen(t, "127.0.0.1:0")
	seen, leader := 0, 0
	profile := []byte("--user-data-dir=")
	cmdlines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range cmdlines {
		dir := filepath.Dir(name)
		cmdline, err := os.ReadFile(name)
		parent, _ := os.ReadFile(dir + "/stat")
		fields := strings.Fields(string(parent[bytes.LastIndexByte(parent, ')')+1:]))
		if err != nil || !bytes.Contains(cmdline, profile) || len(fields) < 2 || fields[1] != strconv.Itoa(os.Getpid()) || bytes.Contains(cmdline, []byte("--type=")) {
			continue
		}
		leader, _ = strconv.Atoi(filepath.Base(dir))
		if net, _ := os.Readlink(dir + "/ns/net"); net == "" || net == ours {
			leader = 0
			continue // the browser of another test
		}
		break
	}
	if leader == 0 {
		t.Fatal("no browser of ours is in a network of its own")
	}
	for _, name := range cmdlines {
		dir := filepath.Dir(name)
		stat, err := os.ReadFile(dir + "/stat")
		if err != nil {
			continue
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if fields[2] != strconv.Itoa(leader) || fields[0] == "Z" {
			continue
		}
		status, err := os.ReadFile(dir + "/status")
		if err != nil {
			continue
		}
		seen++
		cmdline, _ := os.ReadFile(name)
		what := string(bytes.ReplaceAll(cmdline[:min(len(cmdline), 120)], []byte{0}, []byte{' '}))
		if network, err := os.Readlink(dir + "/ns/net"); err == nil && network == ours {
			t.Errorf("%s shares our network", what)
		}
		if !bytes.Contains(status, []byte("NoNewPrivs:\t1")) {
			t.Errorf("%s may gain privileges", what)
		}
	}
	if seen < 3 {
		t.Errorf("only %d processes were found", seen)
	}
	if os.Geteuid() != 0 {
		return
	}
	dialled := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with its network
		space, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", leader))
		if err == nil {
			defer space.Close()
			err = unix.Setns(int(space.Fd()), unix.CLONE_NEWNET)
		}
		if err != nil {
			t.Error(err)
			dialled <- err
			return
		}
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err != nil {
			dialled <- err
			return
		}
		defer unix.Close(fd)
		_, port, _ := net.SplitHostPort(address)
		n, _ := strconv.Atoi(port)
		dialled <- unix.Connect(fd, &unix.SockaddrInet4{Port: n, Addr: [4]byte{127, 0, 0, 1}})
	}()
	if err := wait.Receive(t, "the connection fails or succeeds", dialled); err == nil {
		t.Error("the loopback of this machine is reached from the browser's network")
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d connections came", n)
	}
}
