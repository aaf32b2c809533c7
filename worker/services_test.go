package worker_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"presswork/storage"
	"presswork/tasks"
	"presswork/tasks/redisdial"
)

// services are what every worker works with: a connection to the Redis at an address,
// a store of the test's own, and a client of the queue that is not started.
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
