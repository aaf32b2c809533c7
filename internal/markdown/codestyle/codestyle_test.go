package codestyle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/styles"

	"presswork/internal/markdown/ext/codeblock"
	"presswork/internal/test/golden"
)

// TestCodeStylesEqualThoseOfChroma also writes codestyles.css (`make golden`).
func TestCodeStylesEqualThoseOfChroma(t *testing.T) {
	t.Parallel()
	names := styles.Names()
	slices.Sort(names)

	var all strings.Builder
	for _, name := range names {
		fmt.Fprintf(&all, "/* %s */\n%s", name, styleCSS(styles.Get(name)))
	}
	golden.Check(t, "../codestyles.css", []byte(all.String()))

	if codeStyles != all.String() {
		return // the file has changed since the test was built
	}

	if got := Names(); !slices.Equal(got, names) {
		t.Errorf("Names: %v, want %v", got, names)
	}

	for _, name := range names {
		if css, ok := CSS(name); !ok || css != styleCSS(styles.Get(name)) {
			t.Errorf("CSS(%q): %t, %s", name, ok, css)
		}
	}

	if css, ok := CSS("abap */\npre"); ok || css != "" {
		t.Errorf("an unknown name gives %q", css)
	}
}

// styleCSS returns a style of Chroma as the variables of a theme.
func styleCSS(style *chroma.Style) string {
	var b strings.Builder

	base := style.Get(chroma.Background)
	if !base.Colour.IsSet() {
		base.Colour = chroma.MustParseColour("#1a1a1a")
		if base.Background.IsSet() && base.Background.Brightness() < 0.5 {
			base.Colour = chroma.MustParseColour("#f5f5f5")
		}
	}
	// Values of the theme that the style does not set come first. The style sheet derives the colours of marked
	// and changed lines from the variables.
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
	fmt.Fprintf(
		&b,
		"pre.chroma,.code-figure{%s}\npre.chroma{%s}\npre.chroma span[class]{color:inherit;font-style:inherit}\n",
		&variables,
		declarations(base),
	)

	types := make([]chroma.TokenType, 0, len(chroma.StandardTypes))
	for t := range chroma.StandardTypes {
		if t > 0 && codeblock.TokenClass(t) != "" {
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

	return b.String()
}

// declarations returns the CSS of a style entry.
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
