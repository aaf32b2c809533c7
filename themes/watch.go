package themes

import (
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settle is how long the folder must stay unchanged before it is read, because
// editors write a file in several steps.
const settle = 100 * time.Millisecond

// watch calls a function when a folder changes. While the folder does not exist,
// it watches the nearest existing parent.
type watch struct {
	dir     string
	changed func()
	watcher *fsnotify.Watcher
	done    sync.WaitGroup
}

// newWatch watches a folder, which need not exist yet. It calls changed once before it returns.
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
	// Changes before the start of the watch are read now.
	changed()
	w.done.Go(w.run)

	return w, nil
}

// watchNearest watches the folder, or the nearest parent in which it may appear.
// Adding a path again is harmless.
func (w *watch) watchNearest() {
	for path := w.dir; w.watcher.Add(path) != nil && path != filepath.Dir(path); {
		path = filepath.Dir(path)
	}
	// Watch the parent as well: it reports when the folder appears or is removed.
	_ = w.watcher.Add(w.dir)
	_ = w.watcher.Add(filepath.Dir(w.dir))
}

// run calls changed after the folder has been quiet for the time settle.
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

			if w.isRelevant(event.Name) {
				quiet.Reset(settle)
			}
		case _, ok := <-w.watcher.Errors:
			if !ok {
				return
			}
			quiet.Reset(settle) // events may have been lost: read the folder
		case <-quiet.C:
			w.watchNearest()
			w.changed()
		}
	}
}

// isRelevant reports whether a path is the folder, one of its files or one of its
// parents, and not another entry of a parent.
func (w *watch) isRelevant(path string) bool {
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
