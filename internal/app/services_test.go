package app

import (
	"testing"

	"presswork/storage"
)

// Without its store, an API still serves the states of jobs. A worker cannot do anything.
func TestOnlyAWorkerIsUnreadyWithoutTheStore(t *testing.T) {
	t.Parallel()

	disk, err := storage.OpenDisk(storage.DiskOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}

	for r, optional := range map[Roles]bool{{API: true}: true, {API: true, Worker: true}: true, {Worker: true}: false} {
		t.Run(r.name(), func(t *testing.T) {
			checks := dependencies(nil, disk, r)
			if len(checks) != 2 || checks[0].Name != "redis" || checks[0].Optional || checks[1].Name != "store" ||
				checks[1].Optional != optional {
				t.Errorf("got checks %+v, want redis, and the store as optional: %t", checks, optional)
			}

			if checks := dependencies(nil, storage.None{}, r); len(checks) != 1 {
				t.Errorf("without a store: got checks %+v, want redis alone", checks)
			}
		})
	}
}
