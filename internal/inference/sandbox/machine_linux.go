//go:build amd64 || arm64

package sandbox

import (
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// cgroupRoot is where systemd and container runtimes mount the control groups.
const cgroupRoot = "/sys/fs/cgroup"

// machineMemory returns the memory of this machine in bytes, or the lowest limit of this process's control groups.
// It returns 0 if neither is known.
func machineMemory() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	own, _ := os.ReadFile("/proc/self/cgroup") // none without control groups

	return memoryWithin(int64(info.Totalram)*int64(info.Unit), cgroupRoot, string(own))
}

// memoryWithin returns the least of total and the memory limits of the process's control groups and their parents.
// The groups are below root; own is the content of /proc/self/cgroup.
func memoryWithin(total int64, root, own string) int64 {
	for line := range strings.Lines(own) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}

		folder, file := root, "memory.max"
		if fields[1] == "memory" { // version 1
			folder, file = root+"/memory", "memory.limit_in_bytes"
		} else if fields[1] != "" {
			continue
		}

		for group := path.Clean("/" + fields[2]); ; group = path.Dir(group) {
			b, _ := os.ReadFile(path.Join(folder, group, file)) // a group may have no limit
			if limit, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil {
				total = min(total, limit)
			}

			if group == "/" {
				break
			}
		}
	}

	return total
}
