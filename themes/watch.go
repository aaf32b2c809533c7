package themes

import (
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settle is how long the folder must be quiet before it is read: editors write
// a file in several steps.
const settle = 100 * time.Millisecond

// watch calls a function when a folder changes. A folder that is not there yet
// is awaited through its nearest existing parent.
type watch struct {
	dir     string
	changed func()
	watcher *fsnotify.Watcher
	done    sync.WaitGroup
}

func newWatch(dir string, changed func()) (*watch, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}

	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &watch{dir: dir, changed: changed, watcher: watcher}
	w.aim()
	// Changes before the start of the watch are read now.
	changed()
	w.done.Go(w.run)

	return w, nil
}

// aim watches the folder, or the nearest parent in which it may appear. Adding
// a path again is harmless.
func (w *watch) aim() {
	for path := w.dir; w.watcher.Add(path) != nil && path != filepath.Dir(path); {
		path = filepath.Dir(path)
	}
	// The folder may have appeared while only its parent was tried, and its own
	// removal shows in the parent.
	_ = w.watcher.Add(w.dir)
	_ = w.watcher.Add(filepath.Dir(w.dir))
}

func (w *watch) run() {
	quiet := time.NewTimer(settle)

	quiet.Stop()
	defer quiet.Stop()

	for {
		select {
		case event, ok := <-w.watcher.Events:
			if !ok {
				return
			}

			if w.concerns(event.Name) {
				quiet.Reset(settle)
			}
		case _, ok := <-w.watcher.Errors:
			if !ok {
				return
			}
			quiet.Reset(settle) // events may have been lost: look
		case <-quiet.C:
			w.aim()
			w.changed()
		}
	}
}

// concerns distinguishes the folder, its files and its parents from their other
// content.
func (w *watch) concerns(path string) bool {
	if filepath.Dir(path) == w.dir || path == w.dir {
		return true
	}
	rel, err := filepath.Rel(path, w.dir)

	return err == nil && filepath.IsLocal(rel)
}

func (w *watch) close() error {
	err := w.watcher.Close()
	w.done.Wait()

	return err
}
