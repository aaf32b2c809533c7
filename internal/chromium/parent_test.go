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

// TestMain makes the test binary also the process that TestBrowserEndsWithItsParent kills.
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

func TestBrowserEndsWithItsParent(t *testing.T) {
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
		t.Fatalf("the child printed %q, %v; want ready", line, err)
	}
	// processes finds only the browser, because the command line of the child does not contain dir.
	if len(processes(t, dir)) == 0 {
		t.Fatal("no browser is running, want that of the child")
	}
	cmd.Process.Kill()
	cmd.Wait()
	wait.Until(t, "no process is left", func() bool { return len(processes(t, dir)) == 0 })

	// The profile of the dead process stays until the next start. Profiles of living processes must not be deleted.
	stale, _ := filepath.Glob(filepath.Join(dir, "presswork-chromium-*"))
	if len(stale) != 1 {
		t.Fatalf("profiles left: %v, want one", stale)
	}

	foreign := filepath.Join(dir, "presswork-chromium-foreign")
	if err := os.Mkdir(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	second := browsertest.Start(t, chromium.Options{Dir: dir, Tabs: 1})
	mustPrint(t, second, page("x"))
	third := browsertest.Start(t, chromium.Options{Dir: dir, Tabs: 1})
	mustPrint(t, third, page("x"))
	mustPrint(t, second, page("x")) // its profile still exists

	now, _ := filepath.Glob(filepath.Join(dir, "presswork-chromium-*"))
	if len(now) != 3 || !strings.Contains(strings.Join(now, " "), foreign) ||
		strings.Contains(strings.Join(now, " "), stale[0]) {
		t.Errorf("profiles %v, want three without %s", now, stale[0])
	}
}
