package app

import (
	"fmt"
	"testing"

	"presswork/storage"
)

// An API without its store still serves the states of jobs; a worker cannot work without it.
func TestOnlyAWorkerIsUnreadyWithoutTheStore(t *testing.T) {
	t.Parallel()

	disk, err := storage.OpenDisk(storage.DiskOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}

	for r, optional := range map[Roles]bool{{API: true}: true, {API: true, Worker: true}: true, {Worker: true}: false} {
		t.Run(fmt.Sprint(r), func(t *testing.T) {
			checks := dependencies(nil, disk, r)
			if len(checks) != 2 || checks[0].Name != "redis" || checks[0].Optional || checks[1].Name != "store" ||
				checks[1].Optional != optional {
				t.Errorf("%s: %+v", r.name(), checks)
			}

			if checks := dependencies(nil, storage.None{}, r); len(checks) != 1 {
				t.Errorf("%s without a store: %+v", r.name(), checks)
			}
		})
	}
}
