package themes

import (
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presswork/internal/test/golden"
)

// TestDocumentationListsEveryTheme checks the generated parts of docs/themes.md. PRESSWORK_UPDATE=1 rewrites
// them.
func TestDocumentationListsEveryTheme(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "docs", "themes.md")

	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	want := printed(t, printed(t, string(text), "themes", themeTable(t)), "styles", styleTable())
	if os.Getenv("PRESSWORK_UPDATE") == "1" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Error("the tables of themes and styles in docs/themes.md are out of date; " +
			"PRESSWORK_UPDATE=1 go test -run TestDocumentation ./themes rewrites them")
	}
}

// printed replaces the text between the two comments of a part.
func printed(t *testing.T, text, part, content string) string {
	t.Helper()
	before, rest, ok := strings.Cut(text, "<!-- "+part+":")
	line, rest, _ := strings.Cut(rest, "\n")

	_, after, closed := strings.Cut(rest, "<!-- /"+part+" -->")
	if !ok || !closed {
		t.Fatalf("docs/themes.md has no place for the %s", part)
	}

	return before + "<!-- " + part + ":" + line + "\n\n" + content + "\n<!-- /" + part + " -->" + after
}

// themeTable lists the themes with their pictures, four in a row.
func themeTable(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| | | | |\n|---|---|---|---|\n")

	for row := range slices.Chunk(Open(Options{}).List(), 4) {
		for _, theme := range row {
			fmt.Fprintf(&b, `| <img src="themes/%s.png" width="210" alt="%s"><br>`, theme.Name, theme.Label)
			fmt.Fprintf(&b, "`%s` ", theme.Name)
		}
		b.WriteString(strings.Repeat("| ", 4-len(row)) + "|\n")
	}

	return b.String()
}

// styleTable returns the table of styles for docs/themes.md.
func styleTable() string {
	var b strings.Builder
	b.WriteString("| token | words |\n|---|---|\n")
	all := styles()

	for _, part := range []string{"--headings", "--tables", "--quotes", "--alerts", "--code", "--dividers", "--folios", "--margins", "--contents"} {
		var words []string
		for _, s := range all[part] {
			words = append(words, "`"+s.name+"`")
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", part, strings.Join(words, " "))
	}

	return b.String()
}

// The pictures themselves are held by the test that draws them, in internal/document.
func TestEveryThemeHasItsPicture(t *testing.T) {
	t.Parallel()
	c := Open(Options{})

	dir, total := filepath.Join("..", "docs", "themes"), int64(0)
	for _, theme := range c.List() {
		f, err := os.Open(filepath.Join(dir, theme.Name+".png"))
		if err != nil {
			t.Errorf("%v (`make gallery` draws it)", err)
			continue
		}
		defer f.Close()

		if _, err := png.DecodeConfig(f); err != nil {
			t.Errorf("%s: %v", theme.Name, err)
		}

		if info, err := f.Stat(); err == nil {
			total += info.Size()
		}
	}

	if total > 4<<20 {
		t.Errorf("the pictures are %d KB, more than 4096", total>>10)
	}

	if entries, err := os.ReadDir(dir); err != nil || len(entries) != len(c.List()) {
		t.Errorf("%d files in docs/themes for %d themes, %v", len(entries), len(c.List()), err)
	}
}

// TestTokensGolden holds what is derived for each theme; what a theme sets
// itself stands in its file.
func TestTokensGolden(t *testing.T) {
	t.Parallel()
	c := Open(Options{})
	var b strings.Builder

	for _, theme := range c.List() {
		ink := theme.InkSaver()
		fmt.Fprintf(
			&b,
			"# %s: %s, text %.1f, link %.1f; ink_saver text %s, link %s, heading %s\n",
			theme.Name,
			theme.Scheme,
			theme.Contrast.Text,
			theme.Contrast.Link,
			ink.Token("--base-content"),
			ink.Token("--link"),
			ink.Token("--heading"),
		)
		var line []string

		for part := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(theme.all.rule(theme.Scheme), ":root{"), ";}\n"), ";--") {
			if name, _, _ := strings.Cut(part, ":"); theme.own["--"+name] == "" && name != "color-scheme" {
				line = append(line, part)
			}
		}
		b.WriteString(strings.Join(line, "\n") + "\n\n")
	}
	golden.Check(t, "tokens.golden", []byte(b.String()))
}
