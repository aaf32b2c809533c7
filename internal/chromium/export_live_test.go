package chromium_test

import (
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"presswork/internal/chromium"
	"presswork/internal/export"
	"presswork/internal/guard"
	"presswork/internal/test/public"
	"presswork/internal/test/wait"
)

// TestWaysWorkIfTheGuardAllowsThem repeats TestPagesCannotReachThisMachine with a guard that allows this machine. If a
// way did not work here, the other test would not prove that the guard closes it.
func TestWaysWorkIfTheGuardAllowsThem(t *testing.T) {
	t.Parallel()
	secret, closed := newSecret(t), newSecret(t)
	site := attackSite("127.0.0.1:" + secret.port)
	site["/shut"] = "<p>shut</p>" + gather + closedWaysTo(func(string) string { return "127.0.0.1:" + closed.port })
	// /used answers "all" when every way was used, except printonly, which is loaded later, when the page is printed.
	site["/used"] = func(w http.ResponseWriter, _ *http.Request) {
		for name := range ways {
			if name != "printonly" && !secret.requested("/"+name) {
				return
			}
		}
		fmt.Fprint(w, "all")
	}
	port := serve(t, site)
	e := startExporter(t, chromium.ExporterOptions{Browser: chromium.Options{Tabs: 2}},
		guard.Options{Allow: "true", Lookup: resolveToLoopback})
	base := "http://127.0.0.1:" + port
	mustExport(t, e, base+"/all",
		export.PDFOptions{VisitOptions: export.VisitOptions{WaitForExpression: "fetch('/used').then(r=>r.text())"}})

	for path, want := range map[string]string{"/meta": "/meta", "/script": "/jump", "/form": "/form", "/twice": "/twice", "/to?http://127.0.0.1:" + secret.port + "/to": "/to"} {
		t.Run(path, func(t *testing.T) {
			if got := text(t, mustExport(t, e, base+path, withTimeout(90_000)).Data); got != "the secret" {
				t.Errorf("text %q, want the secret", got)
			}

			if !secret.requested(want) {
				t.Errorf("%s: the secret was not requested", path)
			}
		})
	}

	for name := range ways {
		wait.Until(t, name+" is used", func() bool { return secret.requested("/" + name) })
	}
	// The closed ways are closed although the guard allows the host.
	mustExport(t, e, base+"/shut", export.PDFOptions{VisitOptions: export.VisitOptions{WaitForTimeout: 500}})

	if n := closed.byUDP(); n != 0 || closed.requested("/popup") {
		t.Errorf("%d packets by UDP and the requests %v, want none", n, closed.paths)
	}
}

// The closed ways and the names of this machine must work in a Chromium without Presswork's flags. Otherwise
// TestPagesCannotReachThisMachine would not prove that Presswork closes them.
func TestAttacksWorkInAPlainBrowser(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("needs Chromium; `make test` runs this test")
	}

	exe, err := chromium.Find("")
	if err != nil {
		t.Fatal(err)
	}

	secrets := map[string]*secret{}
	for name := range closedWays {
		secrets[name] = newSecret(t)
	}
	names := newSecret(t)
	site := attackSite("127.0.0.1:" + names.port)
	site["/"] = gather + closedWaysTo(
		func(name string) string { return "127.0.0.1:" + secrets[name].port },
	) + pageForHosts(spellings, names.port) +
		"<iframe src=/worker></iframe>"
	address := "http://127.0.0.1:" + serve(t, site) + "/"
	dir := public.Dir(t)

	cmd := exec.CommandContext(t.Context(), exe, "--headless", "--no-sandbox", "--disable-gpu",
		"--user-data-dir="+filepath.Join(dir, "profile"), "--host-resolver-rules=MAP rebound.test 127.0.0.1",
		"--remote-debugging-port=0", address)

	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
		// These processes write to the profile until they end.
		wait.Until(t, "no process is left", func() bool { return len(processes(t, dir)) == 0 })
	}()

	missing := func() (missing []string) {
		for name, s := range secrets {
			if s.count() == 0 {
				missing = append(missing, name)
			}
		}

		for n, host := range spellings {
			for _, kind := range []string{"img", "frame", "fetch", "ws"} {
				if path := fmt.Sprintf("/%s%d", kind, n); !names.requested(path) {
					missing = append(missing, kind+" of "+host)
				}
			}
		}

		if !names.requested("/serviceworker") {
			missing = append(missing, "serviceworker")
		}

		return missing
	}
	defer func() {
		if left := missing(); len(left) > 0 {
			t.Errorf("ways that did not work: %s", strings.Join(left, ", "))
		}
	}()
	wait.Until(t, "every way is used", func() bool { return len(missing()) == 0 })
}
