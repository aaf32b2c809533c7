package minio_test

import (
	"bytes"
	"crypto/rand"
	"strings"
	"testing"

	"presswork/storage"
	"presswork/storage/minio"
	"presswork/storage/storagetest"
)

func TestMinIOConforms(t *testing.T) {
	server := storagetest.StartMinIO(t)
	storagetest.Run(t, func(t *testing.T) storage.Store { return startStore(t, options(server)) })
}

// options returns options with a bucket of their own.
func options(server storagetest.Endpoint) minio.Options {
	return minio.Options{
		Endpoint: server.Address, AccessKey: server.AccessKey, SecretKey: server.SecretKey,
		Bucket: "t" + strings.ToLower(rand.Text()),
	}
}

func BenchmarkMinIO(b *testing.B) {
	server := storagetest.StartMinIO(b)

	s, err := minio.New(options(server))
	if err != nil {
		b.Fatal(err)
	}

	if err := s.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	body := bytes.Repeat([]byte("0123456789"), 3000)
	b.Run("Put 30 KB", func(b *testing.B) {
		for b.Loop() {
			_, err := s.Put(b.Context(), "artifacts/"+rand.Text(), bytes.NewReader(body), int64(len(body)),
				storage.Attrs{})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Copy 30 KB", func(b *testing.B) {
		if _, err := s.Put(b.Context(), "a", bytes.NewReader(body), int64(len(body)), storage.Attrs{}); err != nil {
			b.Fatal(err)
		}

		for b.Loop() {
			if _, err := s.Copy(b.Context(), "a", "renders/"+rand.Text()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
