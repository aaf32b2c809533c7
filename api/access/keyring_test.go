package access

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestKeysAreRequiredIfTheFileMayExist reads an optional file with each error. A lack of descriptors says nothing about
// the file, so it changes nothing.
func TestKeysAreRequiredIfTheFileMayExist(t *testing.T) {
	t.Parallel()

	for readErr, required := range map[syscall.Errno]bool{
		syscall.ENOENT: false, syscall.EMFILE: false, syscall.ENFILE: false, syscall.EACCES: true, syscall.EIO: true,
	} {
		t.Run(readErr.Error(), func(t *testing.T) {
			r := &Keyring{KeyringOptions: KeyringOptions{FileOptional: true}}

			_, err := r.load(nil, fmt.Errorf("keys.yaml: %w", readErr))
			if r.Required() != required || (err == nil) != (readErr == syscall.ENOENT) {
				t.Errorf("keys are required: %v, want %v; error %v", r.Required(), required, err)
			}
		})
	}
}

func TestPartlyWrittenKeysFileIsIgnored(t *testing.T) {
	t.Parallel()
	const (
		ann  = "keys:\n  - {name: ann, key: anns}\n"
		both = ann + "  - {name: bob, key: bobs}\n"
	)

	path := filepath.Join(t.TempDir(), "keys.yaml")
	if err := os.WriteFile(path, []byte(both), 0o600); err != nil {
		t.Fatal(err)
	}

	r, err := NewKeyring(KeyringOptions{File: path, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}

	for i, step := range []struct {
		text    string // in the file at this poll
		changed bool   // the keys have changed
		keys    int    // in use after the poll
	}{
		// The file is written in place with the same keys.
		{both, false, 2},
		{"", false, 2},
		{ann, false, 2},
		{both, false, 2},
		{both, false, 2},
		// It is written in place with other keys. They count at the second poll with the same text.
		{"", false, 2},
		{ann, false, 2},
		{ann, true, 1},
		{ann, false, 1},
		{"keys: [", false, 1},
		{both, false, 1},
		{both, true, 2},
	} {
		if err := os.WriteFile(path, []byte(step.text), 0o600); err != nil {
			t.Fatal(err)
		}

		changed, err := r.poll()
		if err != nil || changed != step.changed || len(*r.named.Load()) != step.keys {
			t.Fatalf("poll %d of %q: changed %v, %d keys, %v; want changed %v, %d keys", i, step.text, changed,
				len(*r.named.Load()), err, step.changed, step.keys)
		}
	}
}

func TestInvalidKeysFileChangesNothing(t *testing.T) {
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
		t.Errorf("the invalid file: changed %v, %v; want an error", changed, err)
	}

	if _, ok := r.Find("anns"); !ok {
		t.Error("the earlier key is rejected")
	}
	write("keys: [{name: bob, key: bobs}]\n")

	if changed, err := r.reload(); !changed || err != nil {
		t.Errorf("the corrected file: changed %v, %v; want a change", changed, err)
	}

	if _, ok := r.Find("anns"); ok {
		t.Error("the revoked key is accepted")
	}
}

func TestKeyMayUseListedModels(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		models []string
		want   bool
	}{
		"no list":         {nil, true},
		"a star":          {[]string{"*"}, true},
		"a pattern":       {[]string{"x", "openai/*"}, true},
		"a name":          {[]string{"openai/whisper"}, true},
		"an alias":        {[]string{"ann/ears"}, true},
		"another name":    {[]string{"whisper"}, false},
		"another pattern": {[]string{"meta/*"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := (Caller{Models: tc.models}).MayUse("openai/whisper", "ann/ears"); got != tc.want {
				t.Errorf("MayUse with the models %q = %v, want %v", tc.models, got, tc.want)
			}
		})
	}
}

func TestOwnerOfTwoKeysIsListedOnce(t *testing.T) {
	t.Parallel()
	const keys = "keys: [{name: zoe, key: z}, {name: ann, key: a}, {name: zoe, key: y}]"

	path := filepath.Join(t.TempDir(), "keys.yaml")
	if err := os.WriteFile(path, []byte(keys), 0o600); err != nil {
		t.Fatal(err)
	}

	r, err := NewKeyring(KeyringOptions{Shared: []string{"k"}, File: path, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}

	var names []string
	for _, c := range r.Callers() {
		names = append(names, c.Name)
	}

	if len(names) != 3 || names[0] != "ann" || !strings.HasPrefix(names[1], "key:") || names[2] != "zoe" {
		t.Errorf("the callers are %q, want ann, the shared key and zoe", names)
	}

	for _, secret := range []string{"a", "y", "z", "k"} {
		if _, ok := r.Find(secret); !ok {
			t.Errorf("the key %s is rejected", secret)
		}
	}
}
