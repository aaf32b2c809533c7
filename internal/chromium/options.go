package chromium

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"time"
)

// Options are the settings of a Browser. The zero value of each field means its
// default.
type Options struct {
	// Path is the browser's program: a file, or a name in PATH. Default: the first
	// browser that Find knows, the headless shell first.
	Path string
	// Tabs is how many pages print at a time. Default: the number of CPUs. More do not
	// print faster.
	Tabs int
	// QueueLimit is how many prints may wait for a tab. Further prints fail with
	// BrowserUnavailable. Default 64; negative: none may wait.
	QueueLimit int
	// RecycleAfter is the number of prints after which the browser is replaced. Default
	// 1000.
	RecycleAfter int
	// RecycleAge is the age after which a browser that has printed is replaced.
	// Default 1 h.
	RecycleAge time.Duration
	// MaxMemory is the memory of all the browser's processes, in bytes, above which the
	// browser is replaced. A single renderer that takes three times as much is killed. Its
	// page is tried once more and then fails. Default 2 GiB. Linux only.
	MaxMemory int64
	// MaxPDFBytes is the size of the largest PDF, in bytes. A larger one fails with
	// RenderFailed. Default 512 MiB.
	MaxPDFBytes int64
	// StartTimeout limits a launch, until the first tab answers. Default 20 s.
	StartTimeout time.Duration
	// PrintTimeout limits one print, from the moment that it has a slot. Default 120 s.
	PrintTimeout time.Duration
	// ScriptTimeout limits one expression of Script. Default 20 s, many times the time of
	// the largest diagram, because the machine may be busy.
	ScriptTimeout time.Duration
	// FontConfig is a fontconfig file for the browser. The browser's user must be able to
	// read it and the files that it names. Default: the system's.
	FontConfig string
	// Dir is where profiles are created. Every user must be able to pass through it.
	// Default: the system's temporary directory.
	Dir string
	// UID is the user and group that a process running as root gives to the browser. It
	// needs no entry in /etc/passwd. Default 60910, which neither distributions nor systemd
	// assign. Without root it is not used.
	UID int
	// Log receives starts, ends and failures of the browser. Default: nothing is logged.
	Log *slog.Logger

	// foreign is true for the browser of an Exporter, which shows pages of other people. It starts with the first export
	// and ends idleAfter after the last one.
	foreign   bool
	idleAfter time.Duration
}

// Users of the browsers. Foreign pages are shown under another user than composed pages.
const (
	defaultUID = 60910
	foreignUID = 60911
)

// rendererMemory is the memory that one renderer of composed pages may take, as a multiple of MaxMemory: by default
// 6 GiB. A tagged document of 8000 pages (10 MB of Markdown) needs 4.8 GiB.
const rendererMemory = 3

// foreignMemory is the memory at which a browser of foreign pages is killed with the pages that it shows, as a multiple
// of MaxMemory. Many processes or much stored data can cause that.
const foreignMemory = 2

// rendererLimit returns the memory that one renderer may take, in bytes.
func (o Options) rendererLimit() int64 {
	if o.foreign {
		return o.MaxMemory
	}

	return rendererMemory * o.MaxMemory
}

// messageLimit returns the size of the longest message of the browser, in bytes.
func (o Options) messageLimit() int64 {
	if o.foreign {
		// A foreign page can cause any event. Its PDF arrives in pieces.
		return 64 << 20
	}
	// A PDF arrives as base64 inside JSON.
	return o.MaxPDFBytes/3*4 + 4096
}

// withDefaults replaces zero values by their defaults.
func (o Options) withDefaults() Options {
	o.Tabs = cmp.Or(o.Tabs, runtime.NumCPU())
	o.QueueLimit = max(cmp.Or(o.QueueLimit, 64), 0)
	o.RecycleAfter = cmp.Or(o.RecycleAfter, 1000)
	o.RecycleAge = cmp.Or(o.RecycleAge, time.Hour)
	o.MaxMemory = cmp.Or(o.MaxMemory, 2<<30)
	o.MaxPDFBytes = cmp.Or(o.MaxPDFBytes, 512<<20)
	o.StartTimeout = cmp.Or(o.StartTimeout, 20*time.Second)
	o.PrintTimeout = cmp.Or(o.PrintTimeout, 120*time.Second)
	o.ScriptTimeout = cmp.Or(o.ScriptTimeout, 20*time.Second)
	o.Dir = cmp.Or(o.Dir, os.TempDir())
	o.UID = cmp.Or(o.UID, defaultUID)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))

	return o
}

// validate returns an error that names every invalid setting.
func (o Options) validate() error {
	var errs []error

	for _, f := range []struct {
		name  string
		value int64
	}{
		{"Tabs", int64(o.Tabs)},
		{"RecycleAfter", int64(o.RecycleAfter)},
		{"RecycleAge", int64(o.RecycleAge)},
		{"MaxMemory", o.MaxMemory},
		{"MaxPDFBytes", o.MaxPDFBytes},
		{"StartTimeout", int64(o.StartTimeout)},
		{"PrintTimeout", int64(o.PrintTimeout)},
		{"ScriptTimeout", int64(o.ScriptTimeout)},
		{"UID", int64(o.UID)},
	} {
		if f.value <= 0 {
			errs = append(errs, fmt.Errorf("chromium: %s is %d; it must be positive", f.name, f.value))
		}
	}

	if o.FontConfig != "" {
		if _, err := os.Stat(o.FontConfig); err != nil {
			errs = append(errs, fmt.Errorf("chromium: FontConfig: %w", err))
		}
	}

	return errors.Join(errs...)
}
