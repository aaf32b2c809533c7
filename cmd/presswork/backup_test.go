package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"presswork/internal/test/redistest"
	"presswork/storage"
	"presswork/storage/retention"
)

// site is a deployment that keeps its objects on disk.
type site struct {
	env   map[string]string
	store *storage.Disk
	dir   string // the folder of its objects
}

func newSite(t *testing.T) site {
	t.Helper()
	dir := t.TempDir()
	env := map[string]string{"HOME": t.TempDir(), "REDIS_URL": redistest.Start(t), "PDF_OUTPUT_DIR": dir}

	return site{env, openDisk(t, dir), dir}
}

func openDisk(t *testing.T, dir string) *storage.Disk {
	t.Helper()

	d, err := storage.OpenDisk(storage.DiskOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}

	return d
}

func (s site) put(t *testing.T, keys ...string) {
	t.Helper()

	for _, key := range keys {
		if _, err := s.store.Put(t.Context(), key, strings.NewReader("content"), -1, storage.Attrs{}); err != nil {
			t.Fatal(err)
		}
	}
}

// damageFile changes the first byte of a file.
func damageFile(t *testing.T, file string) {
	t.Helper()

	b, err := os.ReadFile(file)
	if err == nil {
		b[0] ^= 1
		err = os.WriteFile(file, b, 0o600)
	}

	if err != nil {
		t.Fatal(err)
	}
}

// keysIn returns the keys of the objects of a disk store.
func keysIn(t *testing.T, dir string) string {
	t.Helper()
	var keys []string

	for info, err := range openDisk(t, dir).List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, info.Key)
	}

	return strings.Join(keys, " ")
}

func TestBackupContinuesAfterADamagedObjectAndFails(t *testing.T) {
	t.Parallel()
	s, dir := newSite(t), t.TempDir()
	s.put(t, "artifacts/a.pdf", "artifacts/b.pdf", "sources/c/content.md")
	damageFile(t, filepath.Join(s.dir, "artifacts/a.pdf"))

	got := askIn(t, s.env, "backup", dir)
	if got.code != exitFailed || !strings.Contains(got.stderr, "artifacts/a.pdf") ||
		strings.Contains(got.stderr, "b.pdf") {
		t.Errorf("%+v", got)
	}

	if keys := keysIn(t, dir+"/store"); keys != "artifacts/b.pdf sources/c/content.md" {
		t.Errorf("the backup has %s", keys)
	}

	if _, err := os.Stat(dir + "/redis.rdb"); err != nil {
		t.Error(err)
	}
}

func TestRestoreLeavesOutADamagedObjectAndFails(t *testing.T) {
	t.Parallel()
	s, dir := newSite(t), t.TempDir()
	s.put(t, "artifacts/a.pdf", "artifacts/b.pdf")

	if got := askIn(t, s.env, "backup", dir); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	damageFile(t, filepath.Join(dir, "store/artifacts/a.pdf"))
	to := t.TempDir()

	got := askIn(t, map[string]string{"HOME": to, "PDF_OUTPUT_DIR": to}, "restore", dir, t.TempDir()+"/redis")
	if got.code != exitFailed || !strings.Contains(got.stderr, "artifacts/a.pdf") {
		t.Errorf("%+v", got)
	}

	if keys := keysIn(t, to); keys != "artifacts/b.pdf" {
		t.Errorf("the restored store has %s", keys)
	}
}

func TestBackupDropsObjectsDeletedSinceTheLastOne(t *testing.T) {
	t.Parallel()
	s, dir := newSite(t), t.TempDir()
	s.put(t, "artifacts/a.pdf", "artifacts/b.pdf", "sources/c/content.md")

	for _, deleted := range []string{"", "artifacts/a.pdf", "sources/c/content.md"} {
		t.Run("deleted "+deleted, func(t *testing.T) {
			if deleted != "" {
				if err := s.store.Delete(t.Context(), deleted); err != nil {
					t.Fatal(err)
				}
			}

			if got := askIn(t, s.env, "backup", dir); got.code != exitOK {
				t.Fatalf("%+v", got)
			}
		})
	}

	if keys := keysIn(t, dir+"/store"); keys != "artifacts/b.pdf" {
		t.Errorf("the backup has %s", keys)
	}

	if err := s.store.Delete(t.Context(), "artifacts/b.pdf"); err != nil {
		t.Fatal(err)
	}

	got := askIn(t, s.env, "backup", dir)
	if keys := keysIn(t, dir+"/store"); got.code != exitFailed || !strings.Contains(got.stderr, "the store is empty") ||
		keys != "artifacts/b.pdf" {
		t.Errorf("backup of an empty store: %+v; the backup has %q", got, keys)
	}
}

// A fake redis-cli records the mode of the file that it is asked to write. The mode shows that other users cannot
// read the snapshot while it is written.
func TestASnapshotIsReadableByItsOwnerOnlyFromTheBeginning(t *testing.T) {
	real, err := exec.LookPath("redis-cli")
	if err != nil {
		t.Fatal(err)
	}
	bin, dir := t.TempDir(), t.TempDir()

	script := fmt.Sprintf("#!/bin/sh\nfor file; do :; done\nstat -c %%a \"$file\" >%s/mode\nexec %s \"$@\"\n", bin,
		real)
	if err := os.WriteFile(filepath.Join(bin, "redis-cli"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))

	s := newSite(t)
	if got := askIn(t, s.env, "backup", dir); got.code != exitOK {
		t.Fatalf("%+v", got)
	}

	if got := content(t, filepath.Join(bin, "mode")); strings.TrimSpace(got) != "600" {
		t.Errorf("redis-cli found a file of mode %q, want 600", got)
	}

	info, err := os.Stat(filepath.Join(dir, "redis.rdb"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the snapshot: %v, %v", info, err)
	}
}

func TestBackupHoldsKeysAndModels(t *testing.T) {
	t.Parallel()
	s, dir := newSite(t), t.TempDir()
	files := folder(t, map[string]string{"k.yaml": "keys: []\n", "m.yaml": "models: {}\n"})

	s.env["KEYS_CONFIG"], s.env["INFERENCE_CONFIG"] = filepath.Join(files, "k.yaml"), filepath.Join(files, "m.yaml")
	for range 2 { // the second backup replaces the first
		if got := askIn(t, s.env, "backup", dir); got.code != exitOK {
			t.Fatalf("%+v", got)
		}
	}

	for name, want := range map[string]string{"keys.yaml": "keys: []\n", "models.yaml": "models: {}\n"} {
		file := filepath.Join(dir, name)

		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != 0o600 || content(t, file) != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	to := t.TempDir()

	got := askIn(t, map[string]string{"HOME": to, "PDF_OUTPUT_DIR": to}, "restore", dir, t.TempDir()+"/redis")
	if got.code != exitOK || !strings.Contains(got.stdout, filepath.Join(dir, "keys.yaml")) {
		t.Errorf("restore: %+v", got)
	}

	s.env["KEYS_CONFIG"] = filepath.Join(files, "none.yaml")
	if got := askIn(t, s.env, "backup", dir); got.code != exitFailed || !strings.Contains(got.stderr, "KEYS_CONFIG") {
		t.Errorf("backup with a missing KEYS_CONFIG: %+v", got)
	}
}

func TestARestoredRedisIsAnotherDeployment(t *testing.T) {
	t.Parallel()
	s, dir := newSite(t), t.TempDir()
	s.env["REDIS_URL"] += "?db=1"

	o, err := redis.ParseURL(s.env["REDIS_URL"])
	if err != nil {
		t.Fatal(err)
	}

	live := redis.NewClient(o)
	defer live.Close()
	s.put(t, "artifacts/a.pdf")

	if err := retention.New(retention.Options{Store: s.store, Redis: live, RedisName: "the live Redis"}).
		Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}

	if got := askIn(t, s.env, "backup", dir); got.code != exitOK {
		t.Fatalf("%+v", got)
	}

	got := askIn(t, s.env, "restore", dir, t.TempDir()+"/redis")
	if got.code != exitFailed || !strings.Contains(got.stderr, "the live Redis") ||
		!strings.Contains(got.stderr, "fence/000000000001") {
		t.Errorf("restore to the store of the live deployment: %+v", got)
	}

	s.env["PDF_OUTPUT_DIR"] = t.TempDir()

	redisDir := t.TempDir()
	if got := askIn(t, s.env, "restore", dir, redisDir); got.code != exitOK {
		t.Fatalf("%+v", got)
	}

	restored := redistest.StartDurableIn(t, redisDir).Client()
	defer restored.Close()
	ctx := t.Context()
	pipe := restored.Pipeline()
	pipe.Do(ctx, "SELECT", 1)

	fences, index := pipe.Exists(ctx, retention.FenceKey), pipe.Exists(ctx, "pw:{keep}:size")
	if _, err := pipe.Exec(ctx); err != nil || fences.Val() != 0 || index.Val() != 1 {
		t.Errorf("%v; the restored Redis knows the fence: %d, has the rest: %d", err, fences.Val(), index.Val())
	}
}
