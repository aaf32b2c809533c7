package chromium_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"presswork/internal/chromium"
	"presswork/internal/test/browsertest"
	"presswork/internal/test/public"
	"presswork/internal/test/wait"
)

// No process of the browser may share the network of this process or gain privileges. From the network of the browser
// this machine must be unreachable.
func TestBrowserProcessesHaveNoNetwork(t *testing.T) {
	t.Parallel()
	dir := public.Dir(t)
	b := browsertest.Start(t, chromium.Options{Tabs: 1, Dir: dir})
	mustPrint(t, b, page("<p>x"))

	if !b.NetworkIsolated() {
		probe := exec.Command("true")

		probe.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNET}
		if err := probe.Run(); err != nil {
			t.Skipf(
				"this machine refuses user namespaces, without which no browser can have a network of its own: %v",
				err,
			)
		}
		t.Fatal("the browser shares the network of this process, want one of its own")
	}

	ours, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	address, connections := countConnections(t, "127.0.0.1:0")

	seen, leader := 0, 0
	for _, p := range processes(t, dir) {
		leader = p.group

		fields := status(p.pid)
		if len(fields) == 0 {
			continue // the process has ended
		}
		seen++

		if network, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", p.pid)); err == nil && network == ours {
			t.Errorf("%s shares the network of this process, want another one", p.kind())
		}

		if fields["NoNewPrivs"] != "1" {
			t.Errorf("%s has NoNewPrivs %s, want 1", p.kind(), fields["NoNewPrivs"])
		}
	}

	if seen < 3 {
		t.Errorf("%d processes, want at least 3", seen)
	}

	if os.Geteuid() != 0 {
		return
	}
	dialled := make(chan error, 1)

	go func() {
		runtime.LockOSThread() // not unlocked, so that the thread ends: it stays in the other network

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
		t.Error("connecting from the network of the browser to this machine: got no error, want one")
	}

	if n := connections(); n != 0 {
		t.Errorf("%d connections, want none", n)
	}
}
