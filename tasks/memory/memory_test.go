package memory_test

import (
	"strings"
	"testing"

	"presswork/internal/test/redistest"
	"presswork/tasks/memory"
	"presswork/tasks/redisdial"
)

func TestCheckEvictionNamesTheEvictionPolicy(t *testing.T) {
	t.Parallel()

	address := redistest.Start(t)

	client, err := redisdial.Dial(address, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })

	if err := memory.CheckEviction(t.Context(), client); err != nil {
		t.Error(err)
	}

	for _, policy := range []string{"allkeys-lru", "volatile-ttl"} {
		if err := client.ConfigSet(t.Context(), "maxmemory-policy", policy).Err(); err != nil {
			t.Fatal(err)
		}

		if err := memory.CheckEviction(t.Context(), client); err == nil || !strings.Contains(err.Error(), policy) {
			t.Errorf("got %v, want an error that names %s", err, policy)
		}
	}
}

func TestReachTellsAnOutageFromARefusal(t *testing.T) {
	t.Parallel()

	address := redistest.Start(t)

	client, err := redisdial.Dial(address, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })

	if final, err := memory.Reach(t.Context(), client); err != nil || final {
		t.Errorf("Reach of a working Redis = final %v, %v; want no error", final, err)
	}

	if err := client.ConfigSet(t.Context(), "requirepass", "hush").Err(); err != nil {
		t.Fatal(err)
	}

	for address, want := range map[string]bool{address: true, address + ".none": false} {
		rdb, err := redisdial.Dial(address, 0)
		if err != nil {
			t.Fatal(err)
		}

		if final, err := memory.Reach(t.Context(), rdb); err == nil || final != want {
			t.Errorf("Reach(%s) = final %v, %v; want final %v and an error", address, final, err, want)
		}
		rdb.Close()
	}
}
