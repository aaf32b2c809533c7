package themes

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"presswork/internal/fault"
	"presswork/internal/input"
)

//go:embed *.css
var builtinCSS embed.FS

// builtinNames lists the built-in themes in daisyUI's order.
func builtinNames() []string {
	return []string{
		"light", "dark", "cupcake", "bumblebee", "emerald", "corporate", "synthwave", "retro", "cyberpunk", "valentine",
		"halloween", "garden", "forest", "aqua", "lofi", "pastel", "fantasy", "wireframe", "black", "luxury", "dracula",
		"cmyk", "autumn", "business", "acid", "lemonade", "night", "coffee", "winter", "dim", "nord", "sunset",
		"caramellatte", "abyss", "silk",
	}
}

// Options configure a Catalogue.
type Options struct {
	// Dir is the folder of custom themes (NAME.css). It may be absent and may appear later. Default: no custom themes.
	Dir string
	// Log gets a line for each custom theme that is left out, has external references, or is hard to read. Default:
	// nothing is logged.
	Log *slog.Logger
}

// Catalogue finds themes by name. It is safe for concurrent use.
type Catalogue struct {
	options  Options
	log      *slog.Logger
	builtin  map[string]func() Theme  // by name; each is parsed at its first use
	current  atomic.Pointer[snapshot] // readers take no lock while the folder is read again
	mu       sync.Mutex               // guards watching
	watching *watch                   // nil before Start and after Stop
}

// snapshot has the custom themes as last read from the folder. It does not change.
type snapshot struct {
	custom map[string]Theme // by name
	// rejected has the reason for each custom theme that was left out, by name.
	rejected map[string]string
	edition  uint64
}

// Open returns a Catalogue with the themes of o.Dir. It ignores a missing folder. A folder that cannot be read, and
// an invalid theme, are logged and left out.
func Open(o Options) *Catalogue {
	c := &Catalogue{options: o, log: cmp.Or(o.Log, slog.New(slog.DiscardHandler)), builtin: map[string]func() Theme{}}
	for _, name := range builtinNames() {
		c.builtin[name] = sync.OnceValue(func() Theme {
			css, err := builtinCSS.ReadFile(name + ".css")
			if err != nil {
				panic(fmt.Sprintf("built-in theme: %v", err))
			}

			t, _, err := parse(name, string(css))
			if err != nil {
				panic(fmt.Sprintf("built-in theme %s: %v", name, err))
			}

			return t
		})
	}
	c.reload()

	return c
}

// List returns every theme: the built-in ones in daisyUI's order, then the custom ones by name. A custom theme replaces
// the built-in theme of its name.
func (c *Catalogue) List() []Theme {
	custom := c.current.Load().custom
	var list []Theme

	for _, name := range builtinNames() {
		t, own := custom[name]
		if !own {
			t = c.builtin[name]()
		}
		list = append(list, t)
	}

	for _, name := range slices.Sorted(maps.Keys(custom)) {
		if c.builtin[name] == nil {
			list = append(list, custom[name])
		}
	}

	return list
}

// Get returns the theme with this name, or with the name in lower case. It never uses a name as a path. The error is
// ThemeNotFound; its message has the reason for a custom theme that was left out, else similar or all names.
func (c *Catalogue) Get(name string) (Theme, error) {
	s := c.current.Load()
	for _, spelled := range []string{name, strings.ToLower(name)} {
		if t, ok := s.custom[spelled]; ok {
			return t, nil
		}

		if builtin := c.builtin[spelled]; builtin != nil {
			return builtin(), nil
		}
	}

	if reason, ok := s.rejected[name]; ok {
		return Theme{}, fault.Errorf(fault.ThemeNotFound, "theme %q cannot be used: %s", name, reason).
			WithParam("theme")
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(c.builtin)), maps.Keys(s.custom))
	slices.Sort(names)
	hint := cmp.Or(input.DidYouMean(name, names), "; allowed: "+strings.Join(slices.Compact(names), ", "))

	return Theme{}, fault.Errorf(fault.ThemeNotFound, "theme %q does not exist%s", clip(name), hint).WithParam("theme")
}

// Resolve returns the name of a document's theme in the spelling of the catalogue: the requested theme, else that of
// the front matter, else Default. Both may be Auto. An unknown theme in the front matter is skipped, and ignored has
// the reason. The error is ThemeNotFound for the requested theme.
func (c *Catalogue) Resolve(asked, frontMatter string) (name string, ignored, err error) {
	known := func(name string) (string, error) {
		switch {
		case name == "":
			return "", nil
		case strings.EqualFold(name, Auto):
			return Auto, nil
		}
		t, err := c.Get(name)

		return t.Name, err
	}

	frontMatter, ignored = known(frontMatter)
	if name, err = known(asked); err != nil {
		return asked, ignored, err
	}

	return cmp.Or(name, frontMatter, Default), ignored, nil
}

// reload reads the folder of custom themes again. Only one goroutine at a time may call it.
func (c *Catalogue) reload() {
	s := &snapshot{rejected: map[string]string{}}

	s.custom = c.readDir(s.rejected)
	if earlier := c.current.Load(); earlier != nil {
		s.edition = earlier.edition + 1
	}
	c.current.Store(s)
}

// Edition returns a number that changes whenever the themes may have changed, as a part of cache keys.
func (c *Catalogue) Edition() uint64 { return c.current.Load().edition }

// Start watches the folder of custom themes until Stop, so that a theme can be edited while the server runs. It does
// nothing without Options.Dir, and after an earlier Start. It returns an error if the system cannot watch folders.
func (c *Catalogue) Start(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.watching != nil || c.options.Dir == "" {
		return nil
	}

	w, err := newWatch(c.options.Dir, c.reload)
	if err != nil {
		return fmt.Errorf("watching the themes folder: %w", err)
	}
	c.watching = w

	return nil
}

// Stop stops watching and waits until a running reload has ended. A second call does nothing. It returns the error of
// closing the watcher.
func (c *Catalogue) Stop(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.watching == nil {
		return nil
	}
	err := c.watching.close()
	c.watching = nil

	return err
}
