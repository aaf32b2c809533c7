package api

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestOnlyAFileShowsThatKeysAreNeeded(t *testing.T) {
	t.Parallel()
	for lack, needed := range map[syscall.Errno]bool{syscall.ENOENT: false, syscall.EMFILE: false, syscall.ENFILE: false, syscall.EACCES: true, syscall.EIO: true} {
		r := &keyring{optional: true}
		if _, err := r.take(nil, fmt.Errorf("keys.yaml: %w", lack)); r.required() != needed || (err == nil) != (lack == syscall.ENOENT) {
			t.Errorf("%v: keys are needed: %v (%v)", lack, r.required(), err)
		}
	}
}

func TestAFileOfKeysThatIsBeingWrittenIsNotTaken(t *testing.T) {
	t.Parallel()
	const ann, both = "keys:\n  - {name: ann, key: anns}\n", "keys:\n  - {name: ann, key: anns}\n  - {name: bob, key: bobs}\n"
	path := filepath.Join(t.TempDir(), "keys.yaml")
	if err := os.WriteFile(path, []byte(both), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := newKeyring(Options{KeysFile: path, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		text    string // in the file when it is looked at
		changed bool
		keys    int
	}{
		{both, false, 2}, {"", false, 2}, {ann, false, 2}, {both, false, 2}, {both, false, 2}, // written in place, to the same
		{"", false, 2}, {ann, false, 2}, {ann, true, 1}, {ann, false, 1}, // and to another
		{"keys: [", false, 1}, {both, false, 1}, {both, true, 2},
	} {
		if err := os.WriteFile(path, []byte(step.text), 0o600); err != nil {
			t.Fatal(err)
		}
		changed, err := r.look()
		if err != nil || changed != step.changed || len(*r.named.Load()) != step.keys {
			t.Fatalf("look %d, at %q: changed %v, %d keys, %v", i, step.text, changed, len(*r.named.Load()), err)
		}
	}
}

// A file of keys is read whole, or refused in one line that names the file and
// quotes no secret of it.
func FuzzKeysFile(f *testing.F) {
	for _, seed := range []string{
		"keys:\n  - {name: ann, key: SECRET, models: [openai/*], rpm: 5}\n  - name: ops@example.com\n    sha256: " + strings.Repeat("0a", 32) + "\n    admin: true\n",
		"keys:\n  - {name: ann, key: '${KEY}'}\n  - {name: bob, key: ${NONE}}\n", "keys:\n  - {name: ann, key: SECRET}\n  - {name: bob, key: SECRET}\n",
		"keys: [{name: a, key: [SECRET]}]", "keys: [{name: a, key: SECRET, rpm: -1}]", "keys: &a [*a]", "a: &a [x]\nkeys: [{name: a, key: SECRET, models: *a}]",
		"keys:\n  - name: a\n    key SECRET\n", "keys: {name: \"a", "keys:\n\t- name: a", "keys: [{name: a, key: SECRET, models: ['[']}]", "---\n---\n", "keys: [{<<: {name: a}, key: SECRET}]",
	} {
		f.Add(seed)
	}
	const secret = "9rYq7"
	f.Fuzz(func(t *testing.T, text string) {
		data := strings.ReplaceAll(text, "key: SECRET", "key: "+secret)
		keys, err := parseKeys("keys.yaml", []byte(data), func(name string) string {
			return map[string]string{"KEY": secret}[name]
		})
		if err != nil {
			if said := err.Error(); !strings.HasPrefix(said, "keys.yaml") || strings.Contains(said, secret) {
				t.Errorf("%q: %s", data, said)
			}
			return
		}
		seen := map[[32]byte]bool{}
		for _, k := range keys {
			if !keyName.MatchString(k.name) || seen[k.sum] || min(k.limits.RPM, k.limits.RPD, k.limits.TPM, k.limits.TPD, k.limits.Concurrency) < 0 {
				t.Errorf("%q: %+v", data, k)
			}
			seen[k.sum] = true
		}
	})
}
