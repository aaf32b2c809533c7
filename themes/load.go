package themes

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"strings"
	"sync"

	"presswork/internal/input"
	"presswork/internal/lazyregexp"
)

// readableRatio is the contrast ratio that WCAG AA requires of text.
const readableRatio = 4.5

// maxThemeBytes is the largest custom theme, in bytes.
const maxThemeBytes = 1 << 20

// themeName matches an allowed name of a theme.
var themeName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// parse returns the theme of a stylesheet. dropped lists the external references that were removed. The error, for the
// author of the theme, names a required colour that is missing or invalid, or an unknown word of a style.
func parse(name, css string) (t Theme, dropped []string, err error) {
	clean, dropped := FilterCSS(css)

	own := resolveVars(rootTokens(clean))
	for _, required := range []string{"--primary", "--base-100", "--base-content"} {
		value, ok := own[required]
		if !ok {
			return Theme{}, dropped, fmt.Errorf("it does not set %s in a :root rule", required)
		}

		if _, ok := parseColor(value); !ok {
			return Theme{}, dropped, fmt.Errorf(
				"%s is %q, which is not a colour; write #rrggbb, rgb(), hsl(), oklch() or a colour name",
				required, clip(value))
		}
	}

	if err := checkStyles(own); err != nil {
		return Theme{}, dropped, err
	}
	t = Theme{
		Name:  name,
		css:   clean,
		own:   own,
		all:   derive(own),
		sheet: sync.OnceValue(func() *Stylesheet { return ParseStylesheet(clean) }),
	}
	t.describe()

	return t, dropped, nil
}

// resolveVars replaces values of the form var(--other) by the value of --other, if the theme sets that. It changes own
// and returns it.
func resolveVars(own tokens) tokens {
	for name, value := range own {
		for range maxNesting {
			inner, ok := strings.CutPrefix(value, "var(")
			if !ok || !strings.HasSuffix(inner, ")") {
				break
			}
			target, _, _ := strings.Cut(strings.TrimSuffix(inner, ")"), ",")

			next, known := own[strings.TrimSpace(target)]
			if !known {
				break
			}
			value = next
		}
		own[name] = value
	}

	return own
}

// describe sets the exported fields, except Name and Custom, from the tokens.
func (t *Theme) describe() {
	get := t.all.get

	t.Colors = map[string]string{}
	for _, name := range colorNames() {
		t.Colors[strings.ReplaceAll(name, "-", "_")] = get("--" + name).hex()
	}
	page := get("--base-100")

	t.Scheme = "light"
	if contrast(page, white) > contrast(page, black) {
		t.Scheme = "dark"
	}
	text, link := t.contrasts()
	t.Contrast = Contrast{Text: math.Round(text*10) / 10, Link: math.Round(link*10) / 10}

	t.Fonts = Fonts{Body: t.all["--font-body"], Heading: t.all["--font-heading"], Mono: t.all["--font-mono"]}
	if t.Label = strings.Join(stringsOf(t.own["--label"]), " "); t.Label == "" {
		t.Label = title(t.Name)
	}
	t.Description = strings.Join(stringsOf(t.own["--description"]), " ")
	t.Tags = append([]string{}, stringsOf(t.own["--tags"])...)
}

// contrasts returns the contrast ratios of text and of links with the page.
func (t *Theme) contrasts() (text, link float64) {
	page := t.all.get("--base-100")
	return contrast(page, t.all.get("--base-content")), contrast(page, t.all.get("--link"))
}

// Readable reports whether text and links have the contrast ratio with the page that WCAG AA requires, 4.5.
func (t Theme) Readable() bool {
	text, link := t.contrasts()
	return min(text, link) >= readableRatio
}

// roundDown rounds down to two decimals: a value below a limit must not look like the limit.
func roundDown(v float64) float64 { return math.Floor(v*100) / 100 }

// stringsOf returns the quoted strings of a value.
func stringsOf(value string) []string {
	var found []string

	s := newCSSScanner(value)
	for t, ok := s.next(); ok; t, ok = s.next() {
		if t.kind == cssString {
			found = append(found, t.value)
		}
	}

	return found
}

// title returns the label for a file name: "My theme" for "my-theme".
func title(name string) string {
	name = strings.NewReplacer("-", " ", "_", " ").Replace(name)
	return strings.ToUpper(name[:1]) + name[1:]
}

// readDir returns the custom themes by name, and adds the reasons for those that are left out to rejected. It skips a
// file that equals the built-in theme of its name.
func (c *Catalogue) readDir(rejected map[string]string) map[string]Theme {
	custom := map[string]Theme{}
	if c.options.Dir == "" {
		return custom
	}

	root, err := os.OpenRoot(c.options.Dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			c.log.Warn("the themes folder cannot be read", "dir", c.options.Dir, "error", err)
		}

		return custom
	}
	defer root.Close()

	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		c.log.Warn("the themes folder cannot be read", "dir", c.options.Dir, "error", err)
		return custom
	}

	for _, entry := range entries {
		name, ok := strings.CutSuffix(entry.Name(), ".css")
		if !ok {
			continue
		}

		t, dropped, err := readTheme(root, name)
		if err != nil {
			c.log.Warn("custom theme left out",
				"theme", name, "file", path.Join(c.options.Dir, entry.Name()), "reason", err.Error())
			rejected[name] = err.Error()
			continue
		}

		if len(dropped) > 0 {
			c.log.Warn("removed external references from a custom theme", "theme", name, "dropped", dropped)
		}

		if !c.isBuiltin(t) {
			if text, link := t.contrasts(); !t.Readable() {
				c.log.Warn("custom theme is hard to read: WCAG AA requires a contrast of 4.5 with the page",
					"theme", name, "text", roundDown(text), "links", roundDown(link))
			}
			t.Custom = true
			custom[name] = t
		}
	}

	return custom
}

// readTheme reads a theme from the folder. It returns the references that parse removed. Its errors are for the
// author: the name or the size is not allowed, the file cannot be read, or those of parse.
func readTheme(root *os.Root, name string) (Theme, []string, error) {
	if !themeName().MatchString(name) {
		return Theme{}, nil, errors.New(
			"a theme's name has 1 to 64 letters, digits, - and _, and begins with a letter or digit")
	}

	f, err := root.OpenFile(name+".css", input.OpenFlags, 0)
	if err != nil {
		return Theme{}, nil, errors.New("the file cannot be read")
	}
	defer f.Close()

	css, err := input.ReadOpened(f, maxThemeBytes)
	switch {
	case errors.Is(err, input.ErrNotRegular):
		return Theme{}, nil, err
	case err != nil:
		return Theme{}, nil, fmt.Errorf("the file cannot be read, or is larger than %d KB", maxThemeBytes>>10)
	}

	return parse(name, string(css))
}

// isBuiltin reports whether a theme equals the built-in theme of its name.
func (c *Catalogue) isBuiltin(t Theme) bool {
	builtin := c.builtin[t.Name]
	return builtin != nil && builtin().css == t.css
}
