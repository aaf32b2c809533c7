package chromium_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"presswork/internal/chromium"
	"presswork/internal/test/browsertest"
	"presswork/internal/test/public"
	"presswork/internal/test/wait"
)

// TestMain lets the test binary also be the process that dies in TestBrowserDiesWithItsParent.
func TestMain(m *testing.M) {
	dir := os.Getenv("PRESSWORK_TEST_PARENT")
	if dir == "" {
		os.Exit(m.Run())
	}

	b := chromium.New(chromium.Options{Dir: dir, Tabs: 1})
	if err := b.Start(context.Background()); err != nil {
		panic(err)
	}

	if _, err := b.Print(context.Background(), page("x")); err != nil {
		panic(err)
	}
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
}

func TestBrowserDiesWithItsParent(t *testing.T) {
	t.Parallel()

	dir := public.Dir(t)
	if testing.Short() {
		t.Skip("needs Chromium; `make test` runs this test")
	}

	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "PRESSWORK_TEST_PARENT="+dir)
	cmd.Stderr = t.Output()

	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()

	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()

	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	// The child's own command line does not name dir.
	if len(processes(t, dir)) == 0 {
		t.Fatal("no browser is running")
	}
	cmd.Process.Kill()
	cmd.Wait()
	wait.Until(t, "no process is left", func() bool { return len(processes(t, dir)) == 0 })

	// The profile remains, and the next start deletes it. Profiles of other processes stay.
	left, _ := filepath.Glob(filepath.Join(dir, "presswork-chromium-*"))
	if len(left) != 1 {
		t.Fatalf("profiles left: %v", left)
	}

	foreign := filepath.Join(dir, "presswork-chromium-foreign")
	if err := os.Mkdir(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	second := browsertest.Start(t, chromium.Options{Dir: dir, Tabs: 1})
	mustPrint(t, second, page("x"))
	third := browsertest.Start(t, chromium.Options{Dir: dir, Tabs: 1})
	mustPrint(t, third, page("x"))
	mustPrint(t, second, page("x")) // the living one was not swept

	now, _ := filepath.Glob(filepath.Join(dir, "presswork-chromium-*"))
	if len(now) != 3 || !strings.Contains(strings.Join(now, " "), foreign) ||
		strings.Contains(strings.Join(now, " "), left[0]) {
		t.Errorf("profiles now: %v (the stale one was %s)", now, left[0])
	}
}
