package local

import (
	"context"
	"maps"
	"os"
	"time"
)

// Snapshot is the state of files at one time, by path. It includes missing files.
type Snapshot map[string]Stamp

// Stamp identifies the content of a file without reading it. The zero Stamp is that of a missing file.
type Stamp struct {
	modified time.Time
	size     int64
}

// Take returns the current state of files.
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

// stampOf returns the time and the size of a file; zero if it does not exist.
func stampOf(path string) Stamp {
	info, err := os.Stat(path)
	if err != nil {
		return Stamp{}
	}

	return Stamp{info.ModTime(), info.Size()}
}

// Changed reports whether the files now differ from the snapshot.
func (s Snapshot) Changed() bool {
	for path, then := range s {
		if stampOf(path) != then {
			return true
		}
	}

	return false
}

// The times of Await: editors write a file in several steps, or replace it by another.
const (
	pollEvery  = 100 * time.Millisecond
	settledFor = 2  // polls without a change after which the files count as written
	missingFor = 10 // the same, while a file is missing that was there before
)

// Await returns when files differ from one of the snapshots and have stopped changing. The error is the cause of
// ctx.
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
		// An editor may write a file in pieces, or remove it for a moment to replace it.
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

// compare reports whether files now differ from a snapshot, and whether one is missing.
func compare(snapshots []Snapshot, now Snapshot) (changed, lost bool) {
	for _, s := range snapshots {
		for path, then := range s {
			changed = changed || now[path] != then
			lost = lost || now[path] == (Stamp{}) && then != (Stamp{})
		}
	}

	return changed, lost
}
