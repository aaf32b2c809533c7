// Package hostmemory measures the memory of the machine in tests.
package hostmemory

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// MiB returns the memory of the machine that belongs to no single process. It counts socket buffers, other objects
// of the kernel, shared memory, and files in memory. It leaves out anonymous memory and caches, which other
// programs change by gigabytes.
func MiB(t testing.TB) int64 {
	t.Helper()

	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		t.Fatal(err)
	}
	kib := map[string]int64{}

	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(line, ":")

		var n int64
		if _, err := fmt.Sscan(value, &n); err == nil {
			kib[name] = n
		}
	}

	if kib["MemTotal"] == 0 || kib["MemFree"] == 0 {
		t.Fatalf("/proc/meminfo has no totals:\n%s", b)
	}
	caches := kib["Buffers"] + kib["Cached"] - kib["Shmem"] + kib["SReclaimable"]

	return (kib["MemTotal"] - kib["MemFree"] - caches - kib["AnonPages"]) >> 10
}
