package themes

import (
	"cmp"
	"maps"
	"math"
	"strconv"
	"sync"

	"presswork/internal/lazyregexp"
)

// With returns the theme with other values for some tokens, and derives the other tokens again. The values must be safe
// CSS. Its Tokens must go after its CSS: see Changed.
func (t Theme) With(changes map[string]string) Theme {
	own := maps.Clone(t.own)
	maps.Copy(own, changes)
	t.own, t.all, t.changed = own, derive(own), true
	t.describe()

	return t
}

// Calm returns the theme with only its colours and fonts: without its styles, and without the rules of its stylesheet.
func (t Theme) Calm() Theme {
	own := tokens{}

	for _, name := range colorNames() {
		if value, set := t.own["--"+name]; set {
			own["--"+name] = value
		}
	}

	for _, name := range []string{
		"--label", "--description", "--tags", "--font-body", "--font-heading", "--font-mono", "--heading",
		"--cover-bg", "--cover-text", "--cover-accent",
	} {
		if value, set := t.own[name]; set {
			own[name] = value
		}
	}
	t.own, t.all, t.css, t.Custom = own, derive(own), "", false
	t.sheet = sync.OnceValue(func() *Stylesheet { return ParseStylesheet("") })
	t.describe()

	return t
}

// Changed reports whether With has changed tokens, which the theme's own stylesheet may set to their old values.
func (t Theme) Changed() bool { return t.changed }

// Densities returns the densities that Dense accepts.
func Densities() []string { return []string{"compact", "normal", "generous"} }

// Dense returns the theme with smaller text and less space for "compact", and with larger text and more space for
// "generous". For any other density it returns the theme unchanged.
func (t Theme) Dense(density string) Theme {
	var size, leading, scale float64

	switch density {
	case "compact":
		size, leading, scale = .9, .94, .96
	case "generous":
		size, leading, scale = 1.1, 1.08, 1.03
	default:
		return t
	}

	return t.With(map[string]string{
		"--text-size": multiplied(t.all["--text-size"], size),
		"--code-size": multiplied(cmp.Or(t.all["--code-size"], "8.2pt"), size),
		"--leading":   multiplied(t.all["--leading"], leading),
		"--scale":     multiplied(t.all["--scale"], scale),
	})
}

// amount matches a number with its unit.
var amount = lazyregexp.New(`^([0-9]*\.?[0-9]+)([a-z]*)$`)

// multiplied returns a number or a length times a factor, rounded to four decimals. It returns any other value
// unchanged.
func multiplied(value string, by float64) string {
	m := amount().FindStringSubmatch(value)
	if m == nil {
		return value
	}
	n, _ := strconv.ParseFloat(m[1], 64) // amount matches valid numbers only

	return strconv.FormatFloat(math.Round(n*by*1e4)/1e4, 'f', -1, 64) + m[2]
}
