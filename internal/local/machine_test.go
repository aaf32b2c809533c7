package local_test

import (
	"strings"
	"testing"

	"presswork/internal/local"
)

func TestInspectTellsWhatIsThere(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs Chromium, Redis and fonts; `make test` runs this test")
	}
	m, err := local.Inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if m.Chromium.Path == "" || !strings.Contains(m.Chromium.Version, "Chrome/") || m.Redis.Path == "" || m.Redis.Version == "" {
		t.Errorf("%+v", m)
	}
	for _, s := range m.Scripts {
		if s.Font == "" {
			t.Errorf("no font for %s", s.Name)
		}
	}
}

func TestInspectTellsWhatIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if testing.Short() {
		t.Skip("needs Chromium; `make test` runs this test")
	}
	m, err := local.Inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"redis-server is not installed", "fc-list is not installed"} {
		found := false
		for _, p := range m.Problems {
			found = found || strings.Contains(p.What, want) && strings.Contains(p.Fix, "apt install")
		}
		if !found {
			t.Errorf("%q is not among %v", want, m.Problems)
		}
	}
}
