package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestKeysAreCreatedListedAndRevoked(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys.yaml")
	env := map[string]string{"KEYS_CONFIG": path}

	created := askIn(t, env, "keys", "create", "app", "--admin", "--models", "openai/*,m", "--tiers",
		"flex,performance", "--rpm", "60", "--rpd", "5000", "--tpm", "100000", "--tpd", "2000000", "--concurrency",
		"20")
	if created.code != 0 || !regexp.MustCompile(`^pw_[A-Za-z0-9_-]{43}\n$`).MatchString(created.stdout) {
		t.Fatalf("%+v", created)
	}
	key := strings.TrimSpace(created.stdout)
	sum := sha256.Sum256([]byte(key))

	want := "keys:\n  - {name: app, sha256: " + hex.EncodeToString(sum[:]) + ", admin: true, models: [openai/*, m], " +
		"tiers: [flex, performance], rpm: 60, rpd: 5000, tpm: 100000, tpd: 2000000, concurrency: 20}\n"
	if got := content(t, path); got != want {
		t.Errorf("the file is\n%s, want\n%s", got, want)
	}

	if got := askIn(t, env, "keys", "create", "app"); got.code != 2 || got.stdout != "" ||
		!strings.Contains(got.stderr, `has a key "app" already`) {
		t.Errorf("the same name: %+v", got)
	}

	if got := askIn(t, env, "keys", "create", "few"); got.code != 0 {
		t.Errorf("%+v", got)
	}

	listed := askIn(t, env, "keys", "list")
	for _, row := range []string{`app +true +openai/\*,m +flex,performance +60 +5000 +100000 +2000000 +20`, `few +false +all +- +- +- +- +- +-`} {
		if !regexp.MustCompile(`(?m)^` + row + `$`).MatchString(listed.stdout) {
			t.Errorf("the list lacks %s:\n%s", row, listed.stdout)
		}
	}

	if got := askIn(t, env, "keys", "revoke", "ap"); got.code != 2 ||
		!strings.Contains(got.stderr, `did you mean "app"?`) {
		t.Errorf("an unknown name: %+v", got)
	}

	if got := askIn(t, env, "keys", "revoke", "app"); got.code != 0 || strings.Contains(content(t, path), "app") {
		t.Errorf("%+v: %s", got, content(t, path))
	}

	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestInvalidKeyFlagsAreRejected(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "keys.yaml")
	for says, args := range map[string][]string{
		"the NAME of a key":          {"create"},
		"name must be":               {"create", "a b"},
		"allowed: flex, performance": {"create", "a", "--tiers", "fast"},
		"negative limit":             {"create", "a", "--rpm=-1"},
		"allowed: a whole number":    {"create", "a", "--rpm=many"},
		"neither a name":             {"create", "a", "--models", "["},
		`unknown command "creat"`:    {"creat", "a"},
		`no key "a"`:                 {"revoke", "a"},
	} {
		t.Run(says, func(t *testing.T) {
			got := askIn(t, map[string]string{"KEYS_CONFIG": path}, append([]string{"keys"}, args...)...)
			if got.code != 2 || got.stdout != "" || !strings.Contains(got.stderr, says) {
				t.Errorf("%q: %+v, want %q", args, got, says)
			}
		})
	}

	if _, err := os.Stat(path); err == nil {
		t.Error("a file was written")
	}
}
