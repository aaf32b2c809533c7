package keyfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

const (
	digest  = "7f4e865860a21ee70e1ccfbcb20e0fa59fb03efdb1c5a01c1cef46a7c58d6265"
	another = "0f4e865860a21ee70e1ccfbcb20e0fa59fb03efdb1c5a01c1cef46a7c58d6265"
	line    = "{name: new, sha256: " + digest + ", models: [openai/*], tiers: [flex], rpm: 5, concurrency: 2}"
)

func entry() Entry {
	return Entry{
		Name:        "new",
		SHA256:      digest,
		Models:      []string{"openai/*"},
		Tiers:       []string{"flex"},
		RPM:         5,
		Concurrency: 2,
	}
}

// keys writes a file of keys and returns its path.
func keys(t *testing.T, text string) string {
	t.Helper()

	path := filepath.Join(t.TempDir(), "keys.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}

	return path
}

func text(t *testing.T, path string) string {
	t.Helper()

	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	return string(data)
}

func TestAddAndRemoveKeepTheRestOfTheFile(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct{ before, added, removed string }{
		"empty":       {"", "keys:\n  - " + line + "\n", "keys:\n"},
		"comment":     {"# ours\n", "# ours\nkeys:\n  - " + line + "\n", "# ours\nkeys:\n"},
		"no entry":    {"keys: # ours\n# end\n", "keys: # ours\n  - " + line + "\n# end\n", ""},
		"empty list":  {"keys: []\n", "keys: [" + line + "]\n", ""},
		"one line":    {"keys: [{name: a, key: x}]", "keys: [{name: a, key: x}, " + line + "]", ""},
		"no line end": {"keys:\n- {name: a, key: x}", "keys:\n- {name: a, key: x}\n- " + line + "\n", "keys:\n- {name: a, key: x}\n"},
		"block": {
			"# ours\nkeys:\n    # of α\n    - name: a # first\n      key: ${NOPE}\n      models:\n        - m\n    # of b\n    - {name: b, key: y}\n\n# end\n",
			"# ours\nkeys:\n    # of α\n    - name: a # first\n      key: ${NOPE}\n      models:\n        - m\n    # of b\n    - {name: b, key: y}\n    - " + line + "\n\n# end\n", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			path := keys(t, tc.before)
			if err := Add(path, entry()); err != nil {
				t.Fatal(err)
			}

			if got := text(t, path); got != tc.added {
				t.Errorf("added:\n%s\nwant\n%s", got, tc.added)
			}

			if n, err := Remove(path, "new"); err != nil || n != 1 {
				t.Fatal(n, err)
			}

			want := tc.removed
			if want == "" {
				want = tc.before
			}

			if got := text(t, path); got != want {
				t.Errorf("removed:\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestEveryEntryOfANameIsRemoved(t *testing.T) {
	t.Parallel()

	for before, want := range map[string]string{
		"keys:\n  - {name: a, key: x}\n  - {name: b, key: y} # gone\n  # of a\n  - name: a\n    key: z\n":            "keys:\n  - {name: b, key: y} # gone\n  # of a\n",
		"keys: [{name: a, key: x}, {name: b, key: y}, {name: a, key: z}]\n":                                          "keys: [{name: b, key: y}]\n",
		"keys:\n  # rotation\n  - {name: a, key: x}\n  - {name: a, sha256: " + digest + "}\n\n  - {name: b, key: y}": "keys:\n  # rotation\n\n  - {name: b, key: y}",
	} {
		t.Run(before, func(t *testing.T) {
			path := keys(t, before)
			if n, err := Remove(path, "a"); n != 2 || err != nil {
				t.Errorf("%q: %d, %v", before, n, err)
			}

			if got := text(t, path); got != want {
				t.Errorf("%q becomes %q, want %q", before, got, want)
			}
		})
	}
}

func TestARejectedEditLeavesTheFileUnchanged(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		before, says string
		do           func(path string) error
	}{
		"a name that exists": {"keys: [{name: new, key: x}]", "already", func(p string) error { return Add(p, entry()) }},
		"an unknown name": {"keys: [{name: anna, key: x}]", `no key "ann"; did you mean "anna"?`, func(p string) error {
			_, err := Remove(p, "ann")
			return err
		}},
		"a wrong name":                   {"", "name must be", func(p string) error { return Add(p, Entry{Name: "a b", SHA256: digest}) }},
		"a wrong tier":                   {"", "allowed: flex, performance", func(p string) error { return Add(p, Entry{Name: "a", SHA256: digest, Tiers: []string{"fast"}}) }},
		"a wrong limit":                  {"", "negative", func(p string) error { return Add(p, Entry{Name: "a", SHA256: digest, RPM: -1}) }},
		"a wrong file":                   {"keys: [", "keys.yaml", func(p string) error { return Add(p, entry()) }},
		"a comment at the end of a list": {"keys: [\n  {name: a, key: x}, # b\n]\n", "form", func(p string) error { return Add(p, entry()) }},
		"an odd form": {"keys:\n  -\n    name: a\n    key: x\n", "form", func(p string) error {
			_, err := Remove(p, "a")
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := keys(t, tc.before)

			err := tc.do(path)
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%v", err)
			}

			if got := text(t, path); got != tc.before {
				t.Errorf("the file is %q", got)
			}

			if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); err != nil || len(left) > 0 {
				t.Errorf("left over: %q, %v", left, err)
			}
		})
	}
}

func TestSimultaneousEditsLoseNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys.yaml")

	var adding sync.WaitGroup
	for i := range 20 {
		adding.Go(func() {
			e := Entry{Name: fmt.Sprintf("k%d", i), SHA256: fmt.Sprintf("%02x", i) + digest[2:]}
			if err := Add(path, e); err != nil {
				t.Error(err)
			}
		})
	}
	adding.Wait()

	if entries, err := List(path); err != nil || len(entries) != 20 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}

func TestAnEditFollowsALink(t *testing.T) {
	t.Parallel()
	path := keys(t, "keys: []\n")

	link := filepath.Join(t.TempDir(), "keys.yaml")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}

	if err := Add(link, Entry{Name: "a", SHA256: another}); err != nil {
		t.Fatal(err)
	}

	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}

	if got := text(t, path); !strings.Contains(got, another) {
		t.Errorf("%s", got)
	}
}

// The server may run as another user and read the file by its group or mode.
func TestAnEditKeepsOwnerAndMode(t *testing.T) {
	t.Parallel()

	for _, mode := range []os.FileMode{0o600, 0o640, 0o644} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			path := keys(t, "keys: []\n")

			group := os.Getegid()
			if os.Geteuid() == 0 {
				group = 4242
			}

			if err := errors.Join(os.Chown(path, -1, group), os.Chmod(path, mode)); err != nil {
				t.Fatal(err)
			}

			if err := Add(path, entry()); err != nil {
				t.Fatal(err)
			}

			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}

			if got := int(info.Sys().(*syscall.Stat_t).Gid); info.Mode() != mode || got != group {
				t.Errorf("mode %v and group %d, want %v and %d", info.Mode(), got, mode, group)
			}
		})
	}
}
