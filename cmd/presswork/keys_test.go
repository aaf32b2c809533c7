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

	created := runWithEnv(t, env, "keys", "create", "app", "--admin", "--models", "openai/*,m", "--tiers",
		"flex,performance", "--rpm", "60", "--rpd", "5000", "--tpm", "100000", "--tpd", "2000000", "--concurrency",
		"20")
	if created.code != exitOK || !regexp.MustCompile(`^pw_[A-Za-z0-9_-]{43}\n$`).MatchString(created.stdout) {
		t.Fatalf("got %v; want a key of the form pw_…", created)
	}
	key := strings.TrimSpace(created.stdout)
	sum := sha256.Sum256([]byte(key))

	want := "keys:\n  - {name: app, sha256: " + hex.EncodeToString(sum[:]) +
		", admin: true, models: [openai/*, m], " +
		"tiers: [flex, performance], rpm: 60, rpd: 5000, tpm: 100000, tpd: 2000000, concurrency: 20}\n"
	if got := readFile(t, path); got != want {
		t.Errorf("the file is\n%s, want\n%s", got, want)
	}

	got := runWithEnv(t, env, "keys", "create", "app")
	got.check(t, exitUsage, `has a key "app" already`)
	got.checkNoOutput(t)

	runWithEnv(t, env, "keys", "create", "few").checkOK(t)

	listed := runWithEnv(t, env, "keys", "list")
	for _, row := range []string{`app +true +openai/\*,m +flex,performance +60 +5000 +100000 +2000000 +20`, `few +false +all +- +- +- +- +- +-`} {
		if !regexp.MustCompile(`(?m)^` + row + `$`).MatchString(listed.stdout) {
			t.Errorf("the list lacks %s:\n%s", row, listed.stdout)
		}
	}

	got = runWithEnv(t, env, "keys", "revoke", "ap")
	got.check(t, exitUsage, `did you mean "app"?`)

	got = runWithEnv(t, env, "keys", "revoke", "app")
	if got.code != exitOK || strings.Contains(readFile(t, path), "app") {
		t.Errorf("got %v and the file %s; want a file without the key app", got, readFile(t, path))
	}

	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v, %v; want 600", info.Mode(), err)
	}
}

func TestInvalidKeyFlagsAreRejected(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "keys.yaml")
	for wantStderr, args := range map[string][]string{
		"the NAME of a key":          {"create"},
		"name must be":               {"create", "a b"},
		"allowed: flex, performance": {"create", "a", "--tiers", "fast"},
		"negative limit":             {"create", "a", "--rpm=-1"},
		"allowed: a whole number":    {"create", "a", "--rpm=many"},
		"neither a name":             {"create", "a", "--models", "["},
		`unknown command "creat"`:    {"creat", "a"},
		`no key "a"`:                 {"revoke", "a"},
	} {
		t.Run(wantStderr, func(t *testing.T) {
			got := runWithEnv(t, map[string]string{"KEYS_CONFIG": path}, append([]string{"keys"}, args...)...)
			got.check(t, exitUsage, wantStderr)
			got.checkNoOutput(t)
		})
	}

	if _, err := os.Stat(path); err == nil {
		t.Error("a file was written")
	}
}
