package worker_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"presswork/storage"
	"presswork/tasks"
	"presswork/tasks/redisdial"
)

// services returns what every worker needs: a connection to Redis, a store for this test, and a client of the
// queue that is not started.
func services(t *testing.T, address string) (redis.UniversalClient, *storage.Disk, *tasks.Client) {
	t.Helper()

	rdb, err := redisdial.Dial(address, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rdb.Close() })

	disk, err := storage.OpenDisk(storage.DiskOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}

	client, err := tasks.NewClient(address, tasks.Options{})
	if err != nil {
		t.Fatal(err)
	}

	return rdb, disk, client
}
