package themes

import (
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// quietTime is the time that the folder must stay unchanged before it is read, because editors write a file in several
// steps.
const quietTime = 100 * time.Millisecond

// watch calls a function when a folder changes. While the folder does not exist, it watches the nearest existing
// parent.
type watch struct {
	dir     string // absolute
	changed func()
	watcher *fsnotify.Watcher
	done    sync.WaitGroup // of run
}

// newWatch watches a folder, which need not exist yet. It calls changed once before it returns, then from one other
// goroutine until close. It returns an error if the system cannot watch folders.
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
	w.watchNearest()
	changed() // the folder may have changed before the watch began
	w.done.Go(w.run)

	return w, nil
}

// watchNearest watches the folder, or the nearest parent in which it may appear. It may be called again: adding a path
// twice has no effect.
func (w *watch) watchNearest() {
	for path := w.dir; w.watcher.Add(path) != nil && path != filepath.Dir(path); {
		path = filepath.Dir(path)
	}
	// Watch the parent as well: it reports when the folder appears or is removed.
	_ = w.watcher.Add(w.dir)
	_ = w.watcher.Add(filepath.Dir(w.dir))
}

// run calls changed after a change, when the folder has been unchanged for quietTime. It returns after close.
func (w *watch) run() {
	quiet := time.NewTimer(quietTime)

	quiet.Stop()
	defer quiet.Stop()

	for {
		select {
		case event, ok := <-w.watcher.Events:
			if !ok {
				return
			}

			if w.isRelevant(event.Name) {
				quiet.Reset(quietTime)
			}
		case _, ok := <-w.watcher.Errors:
			if !ok {
				return
			}
			quiet.Reset(quietTime) // events may have been lost, so read the folder
		case <-quiet.C:
			w.watchNearest()
			w.changed()
		}
	}
}

// isRelevant reports whether a path is the folder, one of its files or one of its parents. Other entries of a parent,
// which is watched as well, are not relevant.
func (w *watch) isRelevant(path string) bool {
	if filepath.Dir(path) == w.dir || path == w.dir {
		return true
	}
	rel, err := filepath.Rel(path, w.dir)

	return err == nil && filepath.IsLocal(rel)
}

// close stops the watch and waits for run.
func (w *watch) close() error {
	err := w.watcher.Close()
	w.done.Wait()

	return err
}
