package local_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presswork/internal/local"
	"presswork/internal/test/public"
)

func TestInspectReportsInstalledParts(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("needs Chromium, Redis and fonts; `make test` runs this test")
	}

	m, err := local.Inspect(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}

	if m.Chromium.Path == "" || !strings.Contains(m.Chromium.Version, "Chrome/") || m.Redis.Path == "" ||
		m.Redis.Version == "" {
		t.Errorf("got %+v, want paths and versions of Chromium and Redis", m)
	}

	for _, s := range m.Scripts {
		if s.Font == "" {
			t.Errorf("no font for %s", s.Name)
		}
	}
}

func TestInspectReportsMissingParts(t *testing.T) {
	t.Setenv("PATH", t.TempDir())

	if testing.Short() {
		t.Skip("needs Chromium; `make test` runs this test")
	}

	m, err := local.Inspect(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}

	for _, want := range []string{"redis-server is not installed", "fc-match is not installed"} {
		found := false
		for _, p := range m.Problems {
			found = found || strings.Contains(p.What, want) && strings.Contains(p.Fix, "apt install")
		}

		if !found {
			t.Errorf("got problems %v, want %q with a command that fixes it", m.Problems, want)
		}
	}
}

func TestInspectReportsScriptsWithoutAFontAndTheRedisServer(t *testing.T) {
	if testing.Short() {
		t.Skip("needs Chromium; `make test` runs this test")
	}
	bin := t.TempDir()
	fcMatch := "#!/bin/sh\nprintf 'Latin One\\n20-7e a0 400-4ff'\n"

	valkey := "#!/bin/sh\necho Valkey server v=8.1.0 sha=00000000:0"
	for name, text := range map[string]string{"fc-match": fcMatch, "valkey-server": valkey} {
		public.Program(t, filepath.Join(bin, name), text)
	}
	t.Setenv("PATH", bin)

	m, err := local.Inspect(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}

	fonts := map[string]string{}
	for _, s := range m.Scripts {
		fonts[s.Name] = s.Font
	}

	if m.Redis != (local.Program{Path: filepath.Join(bin, "valkey-server"), Version: "8.1.0"}) {
		t.Errorf("got %+v, want valkey-server 8.1.0 instead of redis-server", m.Redis)
	}

	if fonts["Latin, Greek, Cyrillic"] != "Latin One" || fonts["Japanese"] != "" {
		t.Errorf("got %+v, want a font for Latin and none for Japanese", m.Scripts)
	}

	if !slices.Contains(m.Problems, local.Problem{
		What: "no font for Chinese, Japanese, Korean: such text is printed as boxes", Fix: "apt install fonts-noto-cjk",
	}) {
		t.Errorf("got problems %+v, want the missing font", m.Problems)
	}
}
