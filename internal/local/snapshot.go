package local

import (
	"context"
	"maps"
	"os"
	"time"
)

// Snapshot is what files looked like at one moment, by path. A file that is not
// there is part of it.
type Snapshot map[string]Stamp

// Stamp distinguishes one content of a file from another without reading it.
// The zero Stamp is a file that is not there.
type Stamp struct {
	modified time.Time
	size     int64
}

// Take looks at files now.
func Take(paths ...string) Snapshot {
	s := Snapshot{}
	for _, p := range paths {
		s.add(p)
	}

	return s
}

// add records the state of one more file. Call it before reading the file, so that every later change is noticed.
func (s Snapshot) add(path string) {
	if _, known := s[path]; !known {
		s[path] = stampOf(path)
	}
}

func stampOf(path string) Stamp {
	info, err := os.Stat(path)
	if err != nil {
		return Stamp{}
	}

	return Stamp{info.ModTime(), info.Size()}
}

// Changed reports whether the files differ from the snapshot now.
func (s Snapshot) Changed() bool {
	for path, then := range s {
		if stampOf(path) != then {
			return true
		}
	}

	return false
}

// The rhythm of Await: editors write a file in several steps, or remove it and
// put another in its place.
const (
	pollEvery  = 100 * time.Millisecond
	settledFor = 2  // polls without a change
	missingFor = 10 // the same, while a file is missing that was there
)

// Await returns when files have changed against one of the snapshots, and have
// settled since. The error is ctx's cause.
func Await(ctx context.Context, snapshots ...Snapshot) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	var last Snapshot
	quiet := 0

	for {
		now := Snapshot{}

		for _, s := range snapshots {
			for path := range s {
				now.add(path)
			}
		}

		if quiet++; !maps.Equal(now, last) {
			last, quiet = now, 0
		}

		changed, lost := compare(snapshots, now)
		if changed && quiet >= settledFor && (!lost || quiet >= missingFor) {
			return nil
		}

		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// compare reports whether files differ from a snapshot now, and whether one is
// gone.
func compare(snapshots []Snapshot, now Snapshot) (changed, lost bool) {
	for _, s := range snapshots {
		for path, then := range s {
			changed = changed || now[path] != then
			lost = lost || now[path] == (Stamp{}) && then != (Stamp{})
		}
	}

	return changed, lost
}
