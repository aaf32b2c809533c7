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

// deployment is a deployment that keeps its objects on disk.
type deployment struct {
	env   map[string]string
	store *storage.Disk
	dir   string // the folder of its objects
}

func newDeployment(t *testing.T) deployment {
	t.Helper()
	dir := t.TempDir()
	env := map[string]string{"HOME": t.TempDir(), "REDIS_URL": redistest.Start(t), "PDF_OUTPUT_DIR": dir}

	return deployment{env, openDisk(t, dir), dir}
}

func openDisk(t *testing.T, dir string) *storage.Disk {
	t.Helper()

	d, err := storage.OpenDisk(storage.DiskOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}

	return d
}

func (s deployment) put(t *testing.T, keys ...string) {
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

// storedKeys returns the keys of the objects of a disk store.
func storedKeys(t *testing.T, dir string) string {
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
	s, dir := newDeployment(t), t.TempDir()
	s.put(t, "artifacts/a.pdf", "artifacts/b.pdf", "sources/c/content.md")
	damageFile(t, filepath.Join(s.dir, "artifacts/a.pdf"))

	got := runWithEnv(t, s.env, "backup", dir)
	if got.code != exitFailed || !strings.Contains(got.stderr, "artifacts/a.pdf") ||
		strings.Contains(got.stderr, "b.pdf") {
		t.Errorf("got %v; want a failure that names a.pdf only", got)
	}

	if keys := storedKeys(t, dir+"/store"); keys != "artifacts/b.pdf sources/c/content.md" {
		t.Errorf("the backup has %s, want only undamaged objects of the store", keys)
	}

	if _, err := os.Stat(dir + "/redis.rdb"); err != nil {
		t.Error(err)
	}
}

func TestRestoreLeavesOutADamagedObjectAndFails(t *testing.T) {
	t.Parallel()
	s, dir := newDeployment(t), t.TempDir()
	s.put(t, "artifacts/a.pdf", "artifacts/b.pdf")

	runWithEnv(t, s.env, "backup", dir).checkOK(t)
	damageFile(t, filepath.Join(dir, "store/artifacts/a.pdf"))
	to := t.TempDir()

	got := runWithEnv(t, map[string]string{"HOME": to, "PDF_OUTPUT_DIR": to}, "restore", dir, t.TempDir()+"/redis")
	got.check(t, exitFailed, "artifacts/a.pdf")

	if keys := storedKeys(t, to); keys != "artifacts/b.pdf" {
		t.Errorf("the restored store has %s, want b.pdf only", keys)
	}
}

func TestBackupDropsObjectsDeletedSinceTheLastOne(t *testing.T) {
	t.Parallel()
	s, dir := newDeployment(t), t.TempDir()
	s.put(t, "artifacts/a.pdf", "artifacts/b.pdf", "sources/c/content.md")

	runWithEnv(t, s.env, "backup", dir).checkOK(t)

	for _, key := range []string{"artifacts/a.pdf", "sources/c/content.md"} {
		if err := s.store.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}

		runWithEnv(t, s.env, "backup", dir).checkOK(t)
	}

	if keys := storedKeys(t, dir+"/store"); keys != "artifacts/b.pdf" {
		t.Errorf("the backup has %s, want only undamaged objects of the store", keys)
	}

	if err := s.store.Delete(t.Context(), "artifacts/b.pdf"); err != nil {
		t.Fatal(err)
	}

	got := runWithEnv(t, s.env, "backup", dir)

	keys := storedKeys(t, dir+"/store")
	if got.code != exitFailed || !strings.Contains(got.stderr, "the store is empty") || keys != "artifacts/b.pdf" {
		t.Errorf("got %v and a backup with %q; want a failure that keeps b.pdf in the backup", got, keys)
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

	s := newDeployment(t)
	runWithEnv(t, s.env, "backup", dir).checkOK(t)

	if got := readFile(t, filepath.Join(bin, "mode")); strings.TrimSpace(got) != "600" {
		t.Errorf("redis-cli found a file of mode %q, want 600", got)
	}

	info, err := os.Stat(filepath.Join(dir, "redis.rdb"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the snapshot: got %v, %v; want a file of mode 600", info, err)
	}
}

func TestBackupHoldsKeysAndModels(t *testing.T) {
	t.Parallel()
	s, dir := newDeployment(t), t.TempDir()
	files := writeFiles(t, map[string]string{"k.yaml": "keys: []\n", "m.yaml": "models: {}\n"})

	s.env["KEYS_CONFIG"], s.env["INFERENCE_CONFIG"] = filepath.Join(files, "k.yaml"), filepath.Join(files, "m.yaml")
	for range 2 { // the second backup replaces the first
		runWithEnv(t, s.env, "backup", dir).checkOK(t)
	}

	for name, want := range map[string]string{"keys.yaml": "keys: []\n", "models.yaml": "models: {}\n"} {
		file := filepath.Join(dir, name)

		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != 0o600 || readFile(t, file) != want {
			t.Errorf("%s: got %v, %v and %q; want a file of mode 600 with %q", name, info, err, readFile(t, file), want)
		}
	}
	to := t.TempDir()

	got := runWithEnv(t, map[string]string{"HOME": to, "PDF_OUTPUT_DIR": to}, "restore", dir, t.TempDir()+"/redis")
	got.checkPrints(t, filepath.Join(dir, "keys.yaml"))

	s.env["KEYS_CONFIG"] = filepath.Join(files, "none.yaml")
	runWithEnv(t, s.env, "backup", dir).check(t, exitFailed, "KEYS_CONFIG")
}

func TestARestoredRedisIsAnotherDeployment(t *testing.T) {
	t.Parallel()
	s, dir := newDeployment(t), t.TempDir()
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

	runWithEnv(t, s.env, "backup", dir).checkOK(t)

	got := runWithEnv(t, s.env, "restore", dir, t.TempDir()+"/redis")
	got.check(t, exitFailed, "the live Redis", "fence/000000000001")

	s.env["PDF_OUTPUT_DIR"] = t.TempDir()

	redisDir := t.TempDir()
	runWithEnv(t, s.env, "restore", dir, redisDir).checkOK(t)

	restored := redistest.StartDurableIn(t, redisDir).Client()
	defer restored.Close()
	ctx := t.Context()
	pipe := restored.Pipeline()
	pipe.Do(ctx, "SELECT", 1)

	fences, index := pipe.Exists(ctx, retention.FenceKey), pipe.Exists(ctx, "pw:{keep}:size")
	if _, err := pipe.Exec(ctx); err != nil || fences.Val() != 0 || index.Val() != 1 {
		t.Errorf("got %v, %d fences and %d size keys in the restored Redis; want no fence and the size", err,
			fences.Val(), index.Val())
	}
}
