package e2e_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// results holds the rows of the table that `make bench` writes to docs/lab/benchmarks.md.
var results struct {
	sync.Mutex
	rows []string
}

// report logs a measurement and adds it to the table. It replaces an earlier row with the same text in what.
func report(b *testing.B, what, measured, target string) {
	b.Helper()
	b.Logf("%s: %s (target %s)", what, measured, target)
	results.Lock()
	defer results.Unlock()
	row := fmt.Sprintf("| %s | %s | %s |", what, measured, target)
	results.rows = append(
		slices.DeleteFunc(results.rows, func(r string) bool { return strings.HasPrefix(r, "| "+what+" |") }),
		row,
	)
}

func TestMain(m *testing.M) {
	if address := os.Getenv(machineRedis); address != "" {
		if err := runMachine(address); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}

		return
	}

	code := m.Run()
	if path := os.Getenv("PRESSWORK_BENCH_TABLE"); path != "" && code == 0 {
		old, err := os.ReadFile(path)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = os.WriteFile(path, []byte(page(string(old))), 0o644)
		}

		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// page returns the page of benchmarks with the new table. It keeps the text below the table of the old page.
func page(old string) string {
	const columns = "|---|---|---|\n"
	_, below, _ := strings.Cut(old, columns)
	_, below, _ = strings.Cut(below, "\n\n")

	return fmt.Sprintf(`# Benchmarks

Printed by `+"`make bench`"+` on %s, on %d CPU cores with %s of memory that other programs shared, %s, %s.
Each line is one run. Ratios compare with the named program in alternating blocks of the same run. The raw browser is the same
program over bare DevTools protocol, without its sandbox. Redis syncs every write to disk.

| what | measured | target |
%s%s

%s`, time.Now().UTC().Format("2006-01-02"), runtime.NumCPU(), memory(), runtime.Version(), browserVersion(), columns, strings.Join(results.rows, "\n"), below)
}

// memory returns the memory of the machine in GiB.
func memory() string {
	b, err := os.ReadFile("/proc/meminfo")
	var kib int

	if err != nil {
		return "an unknown amount"
	}

	if _, err := fmt.Sscanf(string(b), "MemTotal: %d kB", &kib); err != nil {
		return "an unknown amount"
	}

	return fmt.Sprintf("%d GiB", (kib+(1<<19))>>20)
}

// browserVersion returns the name and the version of the browser, or its name if the version is not known.
func browserVersion() string {
	out, err := exec.Command("chromium-headless-shell", "--version").Output()
	if err != nil {
		return "Chromium"
	}

	return strings.TrimSpace(string(out))
}

// compareSpeeds returns the ratio of two speeds, and the speeds. It measures them in alternating blocks and takes the
// medians. The first block of each is not counted, because it warms the caches.
func compareSpeeds(blocks int, theirs, ours func() float64) string {
	ours()
	theirs()
	var ratios, mine, floors []float64

	for range blocks {
		floor, speed := theirs(), ours()
		mine, floors, ratios = append(mine, speed), append(floors, floor), append(ratios, speed/floor)
	}

	return fmt.Sprintf("%.2f × (%.1f/s against %.1f/s)", median(ratios), median(mine), median(floors))
}

// percentiles describes the median and the 99th percentile of durations, rounded to a unit.
func percentiles(d []time.Duration, unit time.Duration) string {
	return fmt.Sprintf("p50 %s, p99 %s", quantile(d, 0.5).Round(unit), quantile(d, 0.99).Round(unit))
}

// quantile returns the q-quantile of durations, which it sorts.
func quantile(d []time.Duration, q float64) time.Duration {
	slices.Sort(d)
	return d[min(int(q*float64(len(d))), len(d)-1)]
}

// median returns the median of numbers, which it sorts.
func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// treeMemory returns the proportional memory (PSS) of a process and its descendants, in MiB.
func treeMemory(b *testing.B, pid int) float64 {
	b.Helper()

	total := 0.0
	for _, id := range tree(b, pid) {
		total += proportionalMemory(id)
	}

	return total
}

// treeCPU returns the CPU time that a process and its descendants have used so far.
func treeCPU(b *testing.B, pid int) (total time.Duration) {
	b.Helper()

	for _, id := range tree(b, pid) {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id)) // the process may have ended
		_, fields, _ := strings.Cut(string(stat), ") ")
		var state string

		var skipped, user, system int64

		_, err := fmt.Sscan(fields, &state, &skipped, &skipped, &skipped, &skipped, &skipped, &skipped,
			&skipped, &skipped, &skipped, &skipped, &user, &system)
		if err == nil {
			total += time.Duration(user+system) * time.Second / 100 // the kernel counts hundredths of a second
		}
	}

	return total
}

// ownCPU returns the CPU time that this process has used so far.
func ownCPU(b *testing.B) time.Duration {
	b.Helper()

	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}

	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// tree returns pid and the ids of its descendants.
func tree(t testing.TB, pid int) (all []int) {
	t.Helper()

	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	children := map[int][]int{}

	for _, name := range stats {
		b, _ := os.ReadFile(name) // the process may have ended

		var state string
		var parent int
		_, fields, _ := strings.Cut(string(b), ") ")

		if n, _ := fmt.Sscan(fields, &state, &parent); n == 2 {
			id, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			children[parent] = append(children[parent], id)
		}
	}

	for todo := []int{pid}; len(todo) > 0; {
		id := todo[0]
		todo = append(todo[1:], children[id]...)
		all = append(all, id)
	}

	return all
}

// proportionalMemory returns the proportional memory (PSS) of a process in MiB, or 0 if it has ended.
func proportionalMemory(pid int) float64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0
	}

	for line := range strings.Lines(string(b)) {
		var kib float64
		if n, _ := fmt.Sscanf(line, "Pss: %f kB", &kib); n == 1 {
			return kib / 1024
		}
	}

	return 0
}
