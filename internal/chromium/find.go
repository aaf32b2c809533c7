package chromium

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// ErrNotFound is inside every error that means no browser is installed.
var ErrNotFound = errors.New("no Chromium found")

const howToGet = "`make setup` installs it; by hand: apt install chromium-headless-shell, or brew install --cask chromium"

// Find returns the program that a Browser with this Options.Path starts. Errors:
// ErrNotFound, with how to get one.
func Find(path string) (string, error) { return find(path) }

// find returns the browser's program: path if given, else the first of the
// well-known ones. The headless shell comes first: it starts in a third of the
// time and prints faster. Real binaries come before names in PATH, which on
// Debian are shell wrappers that outlive nothing and forward no signal.
func find(path string) (string, error) {
	if path != "" {
		p, err := exec.LookPath(path)
		if err != nil {
			return "", fmt.Errorf("%w at %s (%w); %s", ErrNotFound, path, err, howToGet)
		}

		return filepath.Abs(p)
	}

	for _, c := range candidates() {
		if p, err := exec.LookPath(c); err == nil {
			return filepath.Abs(p)
		}
	}

	return "", fmt.Errorf("%w; %s", ErrNotFound, howToGet)
}

func candidates() []string {
	c := []string{
		"/usr/lib/chromium/chromium-headless-shell",
		"/usr/lib64/chromium-browser/headless_shell",
		"/headless-shell/headless-shell",
		"chrome-headless-shell",
		"headless_shell",
		"/usr/lib/chromium/chromium",
		"/usr/lib/chromium/chrome",
		"/usr/lib64/chromium-browser/chromium-browser",
		"/usr/lib/chromium-browser/chromium-browser",
		"/opt/google/chrome/chrome",
		"chromium-headless-shell",
		"chromium",
		"google-chrome",
		"google-chrome-stable",
		"chromium-browser",
	}

	if runtime.GOOS == "darwin" {
		home, _ := os.UserHomeDir() // empty: the path below does not exist
		for _, root := range []string{"/Applications", filepath.Join(home, "Applications")} {
			c = append(c,
				filepath.Join(root, "Chromium.app/Contents/MacOS/Chromium"),
				filepath.Join(root, "Google Chrome.app/Contents/MacOS/Google Chrome"))
		}
	}

	return c
}
