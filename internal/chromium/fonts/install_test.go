package fonts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"presswork/internal/test/public"
)

// install installs the fonts in dir and returns the path of the configuration.
func install(t *testing.T, dir string) (config string) {
	t.Helper()

	config, err := Install(dir)
	if err != nil {
		t.Fatal(err)
	}

	return config
}

// commonDir is the directory of the shared installation.
var commonDir = filepath.Join(os.TempDir(), fmt.Sprintf("presswork-fonts-test-%d", os.Getpid()))

// installed returns the configuration of an installation that tests share. They must not change its files.
var installed = sync.OnceValues(func() (config string, err error) { return Install(commonDir) })

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(commonDir) // a failure leaves files in the temporary directory only
	os.Exit(code)
}

// prepared returns a public directory that already contains the fonts, and the root of that installation. The fonts are
// links to the shared installation, because unpacking them takes seconds under -race.
func prepared(t *testing.T) (dir, root string) {
	t.Helper()

	config, err := installed()
	if err != nil {
		t.Fatal(err)
	}
	dir = public.Dir(t)

	root = filepath.Join(dir, "presswork-fonts-"+digest(dir, systemDirs()))
	for _, sub := range []string{fontDir, licenseDir} {
		if err := os.MkdirAll(filepath.Join(root, sub), 0o755); err != nil {
			t.Fatal(err)
		}

		files, err := os.ReadDir(filepath.Join(filepath.Dir(config), sub))
		if err != nil {
			t.Fatal(err)
		}

		for _, f := range files {
			err := os.Link(filepath.Join(filepath.Dir(config), sub, f.Name()), filepath.Join(root, sub, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
		}
	}

	if got := filepath.Dir(install(t, dir)); got != root {
		t.Fatalf("Install used %s, want %s", got, root)
	}

	return dir, root
}

func TestSecondInstallWritesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(public.Dir(t), "var", "cache")
	var configs [2]string

	var all sync.WaitGroup
	for i := range configs {
		all.Go(func() { configs[i] = install(t, dir) })
	}
	all.Wait()
	old := time.Now().Add(-time.Hour)

	face := filepath.Join(filepath.Dir(configs[0]), fontDir, "Inter-Regular.ttf")
	if err := os.Chtimes(face, old, old); err != nil {
		t.Fatal(err)
	}

	if again := install(t, dir); again != configs[0] || again != configs[1] {
		t.Errorf("configuration %q, want the same as %q", again, configs)
	}

	info, err := os.Stat(face)
	if err != nil || time.Since(info.ModTime()) < time.Minute {
		t.Errorf("face %v, %v; want it unchanged", info, err)
	}

	for _, path := range []string{configs[0], face} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("%s: mode %v, %v; want 0644", path, info.Mode(), err)
		}
	}
}

// Hardened machines give root the umask 077.
func TestInstalledFilesAreReadableUnderAStrictUmask(t *testing.T) {
	t.Parallel()

	child := exec.CommandContext(t.Context(), "sh", "-c",
		`umask 077; exec "$0" -test.run='^TestSecondInstallWritesNothing$'`, os.Args[0])
	if out, err := child.CombinedOutput(); err != nil {
		t.Errorf("TestSecondInstallWritesNothing with umask 077: %v\n%s", err, out)
	}
}

func TestInstallRestoresDeletedFiles(t *testing.T) {
	t.Parallel()
	dir, root := prepared(t)
	config, face := filepath.Join(root, configName), filepath.Join(root, fontDir, "Lora-Bold.ttf")

	whole, err := os.ReadFile(face)
	if err != nil {
		t.Fatal(err)
	}

	for _, path := range []string{config, face} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}

	if err := os.WriteFile(face, whole[:10], 0o600); err != nil {
		t.Fatal(err)
	}
	install(t, dir)

	if again, err := os.ReadFile(face); err != nil || string(again) != string(whole) {
		t.Errorf("the face has %d bytes, %v; want %d", len(again), err, len(whole))
	}

	if _, err := os.Stat(config); err != nil {
		t.Error(err)
	}
}

func TestInstallRejectsAFolderThatOthersCanChange(t *testing.T) {
	t.Parallel()

	for name, change := range map[string]func(root string) error{
		"anyone may write": func(root string) error { return os.Chmod(root, 0o777) },
		"a link": func(root string) error {
			moved := root + "-moved"
			if err := os.Rename(root, moved); err != nil {
				return err
			}

			return os.Symlink(moved, root)
		},
		"a file": func(root string) error {
			if err := os.RemoveAll(root); err != nil {
				return err
			}

			return os.WriteFile(root, nil, 0o600)
		},
		"fonts that anyone may add to": func(root string) error { return os.Chmod(filepath.Join(root, fontDir), 0o777) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			dir, root := prepared(t)
			if err := change(root); err != nil {
				t.Fatal(err)
			}

			config, err := Install(dir)
			if err == nil ||
				!strings.Contains(err.Error(), "must be a directory that only this user can change; delete it") {
				t.Errorf("Install = %q, %v; want an error about the directory", config, err)
			}
		})
	}
}

func TestSystemFontsWithEmbeddedNamesAreIgnored(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("needs fontconfig's programs; `make test` runs this test")
	}
	system := t.TempDir()

	common, err := installed()
	if err != nil {
		t.Fatal(err)
	}

	ours := filepath.Join(filepath.Dir(common), fontDir)
	for from, to := range map[string]string{"Inter-Regular.ttf": "other.ttf", "STIXTwoMath-Regular.ttf": "math.ttf"} {
		data, err := os.ReadFile(filepath.Join(ours, from))
		if err != nil {
			t.Fatal(err)
		}

		if err := os.WriteFile(filepath.Join(system, to), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}

	config := filepath.Join(t.TempDir(), "fonts.conf")
	if err := os.WriteFile(config, []byte(configuration(filepath.Dir(ours), []string{system})), 0o600); err != nil {
		t.Fatal(err)
	}

	runFontconfig := func(program string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Env = append(os.Environ(), "FONTCONFIG_FILE="+config)

		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", program, err, out)
		}

		return string(out)
	}

	listed := runFontconfig("fc-list", ":", "file")
	if strings.Contains(listed, system) || strings.Count(listed, ours) != len(faces()) {
		t.Errorf("fontconfig lists\n%s\nwant only the embedded fonts", listed)
	}

	for pattern, want := range map[string]string{
		`sans\-serif`: "Inter", "serif": "Source Serif 4", "monospace": "JetBrains Mono", "Arial": "Inter", "Latin Modern Math": "STIX Two Math",
		"Inter:weight=180": "Inter,Inter SemiBold", ":charset=21d4": "Inter", ":charset=1d4d0": "STIX Two Math", ":charset=2588": "JetBrains Mono",
	} {
		t.Run(pattern, func(t *testing.T) {
			if got := strings.TrimSpace(runFontconfig("fc-match", pattern, "family")); got != want {
				t.Errorf("%s matches %q, want %q", pattern, got, want)
			}
		})
	}
}
