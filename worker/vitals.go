package worker

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	"presswork/internal/chromium"
	"presswork/tasks"
)

// Vitals returns a function that reports the state of this process. browsers has the Stats methods of its browsers
// by use: ForDocuments and ForPages. A use that is missing is left out of the report.
func Vitals(version string, browsers map[string]func() chromium.Stats) func() tasks.Vitals {
	return func() tasks.Vitals {
		v := tasks.Vitals{Version: version, MemoryBytes: residentBytes()}

		for _, use := range []string{ForDocuments, ForPages} {
			stats, ok := browsers[use]
			if !ok {
				continue
			}
			s := stats()
			v.Browsers = append(v.Browsers, tasks.BrowserVitals{
				Use:         use,
				Since:       s.Started,
				MemoryBytes: s.MemoryBytes,
				Prints:      s.Prints,
				Busy:        s.Busy,
				Waiting:     s.Waiting,
			})
		}

		return v
	}
}

// The uses of a worker's browsers.
const (
	ForDocuments = "documents"
	ForPages     = "pages"
)

// residentBytes returns the memory of this process: the kernel's count on Linux, elsewhere the memory that
// Go has from the system.
func residentBytes() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if fields := strings.Fields(string(text)); err == nil && len(fields) > 1 {
		if pages, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
			return pages * int64(os.Getpagesize())
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)

	return int64(m.Sys)
}
