package access

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestOnlyAFileShowsThatKeysAreNeeded(t *testing.T) {
	t.Parallel()

	for lack, needed := range map[syscall.Errno]bool{syscall.ENOENT: false, syscall.EMFILE: false, syscall.ENFILE: false, syscall.EACCES: true, syscall.EIO: true} {
		t.Run(lack.Error(), func(t *testing.T) {
			r := &Keyring{KeyringOptions: KeyringOptions{FileOptional: true}}

			_, err := r.load(nil, fmt.Errorf("keys.yaml: %w", lack))
			if r.Required() != needed || (err == nil) != (lack == syscall.ENOENT) {
				t.Errorf("keys are needed: %v (%v)", r.Required(), err)
			}
		})
	}
}

func TestAFileOfKeysThatIsBeingWrittenIsNotTaken(t *testing.T) {
	t.Parallel()
	const ann, both = "keys:\n  - {name: ann, key: anns}\n", "keys:\n  - {name: ann, key: anns}\n  - {name: bob, key: bobs}\n"

	path := filepath.Join(t.TempDir(), "keys.yaml")
	if err := os.WriteFile(path, []byte(both), 0o600); err != nil {
		t.Fatal(err)
	}

	r, err := NewKeyring(KeyringOptions{File: path, Log: slog.New(slog.DiscardHandler)})
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
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			if err := os.WriteFile(path, []byte(step.text), 0o600); err != nil {
				t.Fatal(err)
			}

			changed, err := r.look()
			if err != nil || changed != step.changed || len(*r.named.Load()) != step.keys {
				t.Fatalf("look %d, at %q: changed %v, %d keys, %v", i, step.text, changed, len(*r.named.Load()), err)
			}
		})
	}
}

func TestAWrongFileOfKeysChangesNothing(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "keys.yaml")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("keys: [{name: ann, key: anns}]\n")

	r, err := NewKeyring(KeyringOptions{File: path, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	write("keys: [{name: bob, key: bobs, rpm: -1}]\n")

	if changed, err := r.reload(); changed || err == nil {
		t.Errorf("changed %v, %v", changed, err)
	}

	if _, ok := r.Find("anns"); !ok {
		t.Error("the key before it is refused")
	}
	write("keys: [{name: bob, key: bobs}]\n")

	if changed, err := r.reload(); !changed || err != nil {
		t.Errorf("the mended file: changed %v, %v", changed, err)
	}

	if _, ok := r.Find("anns"); ok {
		t.Error("the revoked key is accepted")
	}
}
