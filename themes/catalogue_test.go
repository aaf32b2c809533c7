package themes_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/test/wait"
	"presswork/themes"
)

const minimal = ":root { --primary: oklch(45% 0.24 277); --base-100: white; --base-content: rgb(20 20 20) }\nh1 { color: var(--primary) }\n"

func write(t *testing.T, dir, name, css string) {
	t.Helper()

	if err := os.WriteFile(filepath.Join(dir, name), []byte(css), 0o644); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, o themes.Options) *themes.Catalogue {
	t.Helper()
	c := themes.Open(o)

	return c
}

func TestUnknownThemeSuggestsTheNearestOrNamesAll(t *testing.T) {
	t.Parallel()

	c := open(t, themes.Options{})
	for name, says := range map[string]string{
		"nrod":      `theme "nrod" does not exist; did you mean "nord"?`,
		"Paris2024": `theme "Paris2024" does not exist; allowed: abyss, acid, `,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.Get(name)

			e := fault.AsError(err)
			if e == nil || e.Code != fault.ThemeNotFound || e.Param != "theme" || !strings.HasPrefix(e.Message, says) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestThemeJSONHasTheDocumentedFields(t *testing.T) {
	t.Parallel()

	nord, err := open(t, themes.Options{}).Get("nord")
	if err != nil {
		t.Fatal(err)
	}

	got, err := json.Marshal(nord)
	if err != nil {
		t.Fatal(err)
	}

	for _, want := range []string{`"name":"nord","label":"Nord","scheme":"light"`, `"base_100":"#eceff4"`, `"primary":"#5e81ac"`, `"contrast":{"text":10.8,"link":5.2}`, `"custom":false`} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
}

func TestCustomThemes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "mine.css", minimal+"body{background:url(http://x/)}")
	write(t, dir, "nord.css", minimal)
	write(t, dir, "lacking.css", ":root{--primary:red;--base-100:#fff}")
	write(t, dir, "colourless.css", ":root{--primary:nope;--base-100:#fff;--base-content:#000}")
	write(t, dir, "hidden.css", "@media print{:root{--primary:red;--base-100:#fff;--base-content:#000}}")
	write(
		t,
		dir,
		"via-var.css",
		":root{--brand:#123456;--primary:var(--brand);--base-100:#fff;--base-content:#000;--label:\"By Var\"}",
	)
	write(t, dir, "we ird.css", minimal)
	write(t, dir, "faint-text.css", ":root{--primary:red;--base-100:#fff;--base-content:#777;--link:#000}")
	write(t, dir, "faint-links.css", ":root{--primary:red;--base-100:#fff;--base-content:#000;--link:#888}")
	write(t, dir, "readme.txt", "x")

	if err := errors.Join(
		os.Symlink("/etc/passwd", filepath.Join(dir, "passwd.css")),
		syscall.Mkfifo(filepath.Join(dir, "pipe.css"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "huge.css", minimal+strings.Repeat(" ", 1<<20))
	var log bytes.Buffer
	c := open(t, themes.Options{Dir: dir, Log: slog.New(slog.NewTextHandler(&log, nil))})

	mine, err := c.Get("mine")
	if err != nil || !mine.Custom || mine.Label != "Mine" || mine.Colors["primary"] != "#422ad5" {
		t.Errorf("mine: %+v, %v", mine, err)
	}

	if !strings.Contains(mine.CSS(), "h1 { color: var(--primary) }") || strings.Contains(mine.CSS(), "http") {
		t.Errorf("mine's stylesheet is %q", mine.CSS())
	}

	if nord, err := c.Get("nord"); err != nil || !nord.Custom || nord.Colors["base_100"] != "#ffffff" {
		t.Errorf("nord is not overridden: %+v, %v", nord, err)
	}

	if v, err := c.Get("via-var"); err != nil || v.Colors["primary"] != "#123456" || v.Label != "By Var" {
		t.Errorf("via-var: %+v, %v", v, err)
	}

	for name, reason := range map[string]string{"lacking": "--base-content", "colourless": "not a colour", "hidden": "--primary", "passwd": "cannot be read", "pipe": "not a regular file", "huge": "larger than 1024 KB", "we ird": "letters"} {
		t.Run(name, func(t *testing.T) {
			_, err := c.Get(name)
			if fault.CodeOf(err) != fault.ThemeNotFound || !strings.Contains(err.Error(), reason) {
				t.Errorf("%s: got %v, want %q in it", name, err, reason)
			}

			if !strings.Contains(log.String(), reason) {
				t.Errorf("%s: the log does not say %q", name, reason)
			}
		})
	}

	if !strings.Contains(log.String(), "removed external references") {
		t.Error("the log does not name the dropped reference")
	}

	for _, faint := range []string{"theme=faint-text text=4.47 links=21\n", "theme=faint-links text=21 links=3.54\n"} {
		if !strings.Contains(log.String(), `WCAG AA requires a contrast of 4.5 with the page" `+faint) ||
			strings.Count(log.String(), "WCAG") != 2 {
			t.Errorf("the log must warn about low contrast for the two faint themes only (%s): %s", faint, log.String())
		}
	}

	if n := len(c.List()); n != 39 {
		t.Errorf("%d themes, want 35 and four more", n)
	}

	for i, name := range []string{"../mine", "mine.css", "/etc/passwd", "readme", ""} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			if _, err := c.Get(name); fault.CodeOf(err) != fault.ThemeNotFound {
				t.Errorf("%q: got %v", name, err)
			}
		})
	}
}

func TestTheRepositorysOwnFolderChangesNothing(t *testing.T) {
	t.Parallel()

	c := open(t, themes.Options{Dir: "."})
	if n := len(c.List()); n != 35 {
		t.Errorf("%d themes", n)
	}

	for _, theme := range c.List() {
		if theme.Custom {
			t.Errorf("%s counts as custom", theme.Name)
		}
	}
}

func TestChangesShowWithoutRestart(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "later", "themes")

	c := open(t, themes.Options{Dir: dir})
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}

	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	has := func(name, color string) func() bool {
		return func() bool {
			theme, err := c.Get(name)
			return err == nil && theme.Colors["base_100"] == color
		}
	}
	gone := func(name string) func() bool {
		return func() bool { _, err := c.Get(name); return err != nil }
	}

	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "mine.css", minimal)
	wait.Until(t, "the folder appears", has("mine", "#ffffff"))
	write(t, dir, "mine.css", strings.ReplaceAll(minimal, "white", "#fafafa"))
	wait.Until(t, "a theme changes", has("mine", "#fafafa"))
	write(t, dir, "mine.css", "broken")
	wait.Until(t, "a theme breaks", gone("mine"))
	write(t, dir, "mine.css", minimal)
	wait.Until(t, "a theme is mended", has("mine", "#ffffff"))

	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the folder goes", gone("mine"))

	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "mine.css", minimal)
	wait.Until(t, "the folder comes back", has("mine", "#ffffff"))

	var done sync.WaitGroup
	for range 2 {
		done.Go(func() {
			if err := c.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
}

func TestTheRequestWinsOverFrontMatterAndDefault(t *testing.T) {
	t.Parallel()

	c := themes.Open(themes.Options{})

	for i, tc := range []struct {
		asked, matter, want string
		ignored, fails      bool
	}{
		{"", "", themes.Default, false, false},
		{"", "nord", "nord", false, false},
		{"silk", "nord", "silk", false, false},
		{"SILK", "", "silk", false, false},
		{"", "Nord", "nord", false, false},
		{"", "Auto", themes.Auto, false, false},
		{"", themes.Auto, themes.Auto, false, false},
		{themes.Auto, "nord", themes.Auto, false, false},
		{"", "nrod", themes.Default, true, false},
		{"silk", "nrod", "silk", true, false},
		{"nrod", "silk", "nrod", false, true},
	} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			name, ignored, err := c.Resolve(tc.asked, tc.matter)
			if name != tc.want || (ignored != nil) != tc.ignored || (err != nil) != tc.fails {
				t.Errorf("%+v: %q, %v, %v", tc, name, ignored, err)
			}

			if err := cmp.Or(ignored, err); err != nil && fault.CodeOf(err) != fault.ThemeNotFound {
				t.Errorf("%+v: %v", tc, err)
			}
		})
	}
}
