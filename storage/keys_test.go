package storage_test

import (
	"path"
	"path/filepath"
	"strings"
	"testing"

	"presswork/storage"
)

func TestTheLayoutsKeysAreValid(t *testing.T) {
	t.Parallel()

	const id = "01JD4N0Z8RZ8Q4J0V3T3H5K6WX"
	for _, key := range []string{
		storage.ArtifactKeyOf(id, ""), storage.SourceKey(id, id), storage.AssetKey(id, id, "12"), storage.RenderKey(strings.Repeat("0a", 32)),
		storage.PassingKey(id, id), storage.TranscriptKey(id, 2879),
		storage.PreviewKey(strings.Repeat("0a", 32), "png"),
	} {
		t.Run(key, func(t *testing.T) {
			if err := storage.CheckKey(key); err != nil {
				t.Error(err)
			}
		})
	}
}

func FuzzAnAcceptedKeyStaysInsideAnyDirectory(f *testing.F) {
	for _, seed := range []string{"artifacts/01J.pdf", "../x", "a/./b", "a//b", "/", ".tmp/x", "a\x00", "a/..", "å"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, key string) {
		if storage.CheckKey(key) != nil {
			return
		}

		if !filepath.IsLocal(key) || path.Clean(key) != key || len(key) > 512 || strings.Contains("/"+key, "/.") {
			t.Errorf("CheckKey(%q) returned no error", key)
		}

		if err := storage.CheckPrefix(key); err != nil {
			t.Errorf("CheckPrefix of a valid key: %v", err)
		}
	})
}
