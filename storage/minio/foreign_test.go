package minio_test

import (
	"strings"
	"testing"

	client "github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"presswork/storage"
	"presswork/storage/storagetest"
)

func TestABackupSkipsForeignKeysOfABucket(t *testing.T) {
	t.Parallel()
	server := storagetest.StartMinIO(t)
	o := options(server)
	s := startStore(t, o)

	other, err := client.New(
		server.Address,
		&client.Options{Creds: credentials.NewStaticV4(server.AccessKey, server.SecretKey, "")},
	)
	if err != nil {
		t.Fatal(err)
	}

	for _, key := range []string{"artifacts/", "artifacts/my file.pdf"} {
		_, err := other.PutObject(t.Context(), o.Bucket, key, strings.NewReader(""), 0, client.PutObjectOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	put(t, s, "artifacts/z.pdf", "bytes")

	to, err := storage.OpenDisk(storage.DiskOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}

	c, err := storage.CopyTo(t.Context(), to, s)
	if err != nil || c.Objects != 1 || len(c.Skipped) != 2 ||
		!strings.Contains(c.Skipped[1].Error(), `"artifacts/my file.pdf"`) {
		t.Errorf("CopyTo = %+v, %v; want one object and both foreign keys skipped", c, err)
	}
}
