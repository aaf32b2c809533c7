package markdown

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/styles"
)

// CodeStyles returns the names of the code themes, sorted.
func CodeStyles() []string {
	names := styles.Names()
	slices.Sort(names)
	return names
}

// CodeCSS returns a code theme as a stylesheet for the classes that Render
// writes; ok is false for a name not in CodeStyles.
func CodeCSS(name string) (css string, ok bool) {
	if !slices.Contains(styles.Names(), name) {
		return "", false
	}
	style := styles.Get(name)
	var b strings.Builder
	base := style.Get(chroma.Background)
	if !base.Colour.IsSet() {
		base.Colour = chroma.MustParseColour("#1a1a1a")
		if base.Background.IsSet() && base.Background.Brightness() < 0.5 {
			base.Colour = chroma.MustParseColour("#f5f5f5")
		}
	}
	// What the theme gives and the style does not goes first. The sheet derives
	// the colours of marked and changed lines from the variables.
	var variables strings.Builder
	fmt.Fprintf(&variables, "--code-text:%s", base.Colour)
	if base.Background.IsSet() {
		fmt.Fprintf(&variables, ";--code-bg:%s", base.Background)
	}
	for _, t := range []chroma.TokenType{chroma.Comment, chroma.Keyword} {
		if c := style.Get(t).Colour; c.IsSet() {
			fmt.Fprintf(&variables, ";--code-%s:%s", strings.ToLower(t.String()), c)
		}
	}
	fmt.Fprintf(&b, "pre.chroma,.code-figure{%s}\npre.chroma{%s}\npre.chroma span[class]{color:inherit;font-style:inherit}\n", &variables, declarations(base))
	types := make([]chroma.TokenType, 0, len(chroma.StandardTypes))
	for t := range chroma.StandardTypes {
		if t > 0 && tokenClass(t) != "" {
			types = append(types, t)
		}
	}
	slices.Sort(types)
	for _, t := range types {
		entry := style.Get(t).Sub(base)
		if d := declarations(entry); d != "" {
			fmt.Fprintf(&b, "pre.chroma span.%s{%s}\n", chroma.StandardTypes[t], d)
		}
	}
	return b.String(), true
}

func declarations(e chroma.StyleEntry) string {
	var d []string
	if e.Colour.IsSet() {
		d = append(d, "color:"+e.Colour.String())
	}
	if e.Background.IsSet() {
		d = append(d, "background-color:"+e.Background.String())
	}
	if e.Bold == chroma.Yes {
		d = append(d, "font-weight:bold")
	}
	if e.Italic == chroma.Yes {
		d = append(d, "font-style:italic")
	}
	if e.Underline == chroma.Yes {
		d = append(d, "text-decoration:underline")
	}
	return strings.Join(d, ";")
}
