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

// This test repeats TestNoPageReachesThisMachine with a guard that allows this machine. Every way must work;
// otherwise that test proves nothing.
func TestTheWaysWorkIfTheGuardAllowsThem(t *testing.T) {
	t.Parallel()
	secret, closed := newSecret(t), newSecret(t)
	site := attackSite("127.0.0.1:" + secret.port)
	site["/shut"] = "<p>shut</p>" + gather + shutFor(func(string) string { return "127.0.0.1:" + closed.port })
	// Only printing loads the background of print media.
	site["/used"] = func(w http.ResponseWriter, _ *http.Request) {
		for name := range ways {
			if name != "printonly" && !secret.was("/"+name) {
				return
			}
		}
		fmt.Fprint(w, "all")
	}
	port := serve(t, site)
	e := exporter(t, chromium.ExporterOptions{Browser: chromium.Options{Tabs: 2}},
		guard.Options{Allow: "true", Lookup: byName})
	base := "http://127.0.0.1:" + port
	mustExport(t, e, base+"/all",
		export.PDFOptions{VisitOptions: export.VisitOptions{WaitForExpression: "fetch('/used').then(r=>r.text())"}})

	for path, want := range map[string]string{"/meta": "/meta", "/script": "/jump", "/form": "/form", "/twice": "/twice", "/to?http://127.0.0.1:" + secret.port + "/to": "/to"} {
		t.Run(path, func(t *testing.T) {
			if got := text(t, mustExport(t, e, base+path, within(90_000)).Data); got != "the secret" {
				t.Errorf("%s: %q", path, got)
			}

			if !secret.was(want) {
				t.Errorf("%s leads nowhere", path)
			}
		})
	}

	for name := range ways {
		wait.Until(t, name+" is a way", func() bool { return secret.was("/" + name) })
	}
	// A closed port is closed for every host.
	mustExport(t, e, base+"/shut", export.PDFOptions{VisitOptions: export.VisitOptions{WaitForTimeout: 500}})

	if n := closed.byUDP(); n != 0 || closed.was("/popup") {
		t.Errorf("%d packets by UDP, requests %v", n, closed.paths)
	}
}

// The test tries the ways that are shut for every host, and the names of this machine, in a Chromium without
// Presswork's flags. It must use all of them.
func TestTheAttacksAreLiveInABareBrowser(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("needs Chromium; `make test` runs this test")
	}

	exe, err := chromium.Find("")
	if err != nil {
		t.Fatal(err)
	}

	secrets := map[string]*secret{}
	for name := range shut {
		secrets[name] = newSecret(t)
	}
	names := newSecret(t)
	site := attackSite("127.0.0.1:" + names.port)
	site["/"] = gather + shutFor(func(name string) string { return "127.0.0.1:" + secrets[name].port }) + spelled(
		spellings,
		names.port,
	) +
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
				if path := fmt.Sprintf("/%s%d", kind, n); !names.was(path) {
					missing = append(missing, kind+" of "+host)
				}
			}
		}

		if !names.was("/serviceworker") {
			missing = append(missing, "serviceworker")
		}

		return missing
	}
	defer func() {
		if left := missing(); len(left) > 0 {
			t.Errorf("not used: %s", strings.Join(left, ", "))
		}
	}()
	wait.Until(t, "every way is used", func() bool { return len(missing()) == 0 })
}
