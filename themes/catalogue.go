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
		"light",
		"dark",
		"cupcake",
		"bumblebee",
		"emerald",
		"corporate",
		"synthwave",
		"retro",
		"cyberpunk",
		"valentine",
		"halloween",
		"garden",
		"forest",
		"aqua",
		"lofi",
		"pastel",
		"fantasy",
		"wireframe",
		"black",
		"luxury",
		"dracula",
		"cmyk",
		"autumn",
		"business",
		"acid",
		"lemonade",
		"night",
		"coffee",
		"winter",
		"dim",
		"nord",
		"sunset",
		"caramellatte",
		"abyss",
		"silk",
	}
}

// Options configure a Catalogue.
type Options struct {
	// Dir is the folder of custom themes (NAME.css). It may be absent and may
	// appear later. Default: no custom themes.
	Dir string
	// Log gets a line for each custom theme that is left out, and for each with
	// external references. Default: discard.
	Log *slog.Logger
}

// Catalogue finds themes by name. It is safe for concurrent use.
type Catalogue struct {
	options  Options
	log      *slog.Logger
	builtin  map[string]func() Theme // each is parsed at its first use
	present  atomic.Pointer[snapshot]
	mu       sync.Mutex // guards watching
	watching *watch
}

// snapshot is the catalogue at one moment.
type snapshot struct {
	custom map[string]Theme
	// rejected holds the reason of each custom theme that was left out.
	rejected map[string]string
	edition  uint64
}

// Open reads the themes of o.Dir. A missing folder or a broken theme is no error: it is logged and left out.
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

// List returns every theme: the built-in ones in daisyUI's order, then the
// custom ones by name.
func (c *Catalogue) List() []Theme {
	custom := c.present.Load().custom
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

// Get returns the theme with this name, or with the name in lower case. It never uses
// a name as a path. Errors: ThemeNotFound.
func (c *Catalogue) Get(name string) (Theme, error) {
	s := c.present.Load()
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

// Resolve returns the name of a document's theme as the catalogue has it: the requested theme, else that of the
// front matter, else Default. Auto is allowed. An unknown theme in the front matter is skipped, and ignored has
// the reason. Errors: ThemeNotFound, for the requested theme.
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

// reload reads the folder of custom themes again.
func (c *Catalogue) reload() {
	s := &snapshot{rejected: map[string]string{}}

	s.custom = c.readDir(s.rejected)
	if earlier := c.present.Load(); earlier != nil {
		s.edition = earlier.edition + 1
	}
	c.present.Store(s)
}

// Edition returns a number that changes whenever the themes may have changed.
func (c *Catalogue) Edition() uint64 { return c.present.Load().edition }

// Start watches the folder of custom themes until Stop, so that a theme can be
// edited while the server runs. Without a folder, and when it watches already, it does nothing. It fails when the
// system cannot watch the folder.
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

// Stop ends the watching. A second call does nothing.
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
