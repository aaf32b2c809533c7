package markdown_test

import (
	"strings"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/markdown"
)

func TestCheckRejectsWhatCannotBeRendered(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		content string
		want    fault.Code
	}{
		"text":                      {"# Hi", ""},
		"empty":                     {"", fault.ContentEmpty},
		"blank":                     {" \n\t\r\n", fault.ContentEmpty},
		"only a byte order mark":    {"\ufeff\n", fault.ContentEmpty},
		"only front matter":         {"---\ntitle: x\n---\n\n", fault.ContentEmpty},
		"front matter and text":     {"---\ntitle: x\n---\nx", ""},
		"not UTF-8":                 {"ok \xff", fault.ContentNotUTF8},
		"UTF-16":                    {"\xff\xfe#\x00", fault.ContentNotUTF8},
		"NUL":                       {"a\x00b", fault.ContentNotUTF8},
		"10 000 quotes":             {strings.Repeat(">", 10_000), fault.ContentTooComplex},
		"10 000 quotes with spaces": {strings.Repeat("> ", 10_000) + "x", fault.ContentTooComplex},
		"100 quotes":                {strings.Repeat("> ", 100) + "x", ""},
		"101 quotes":                {strings.Repeat("> ", 101) + "x", fault.ContentTooComplex},
		"nested lists":              {strings.Repeat("- ", 5_000) + "x", fault.ContentTooComplex},
		"numbered lists":            {strings.Repeat("1. ", 5_000) + "x", fault.ContentTooComplex},
		"a list ladder":             {ladder(150), fault.ContentTooComplex},
		"open brackets":             {strings.Repeat("[", 50_000), fault.ContentTooComplex},
		"emphasis bomb":             {strings.Repeat("*a_ ", 50_000), fault.ContentTooComplex},
		"nested emphasis":           {strings.Repeat("*a ", 5_000) + strings.Repeat("b* ", 5_000), fault.ContentTooComplex},
		"nested images":             {strings.Repeat("![", 5_000) + strings.Repeat("](x)", 5_000), fault.ContentTooComplex},
		"link bomb":                 {strings.Repeat("[a](", 50_000), fault.ContentTooComplex},
		"nested divisions":          {strings.Repeat(":::a\n", 101), fault.ContentTooComplex},
		"divisions in a row":        {strings.Repeat(":::a\nb\n:::\n", 101), ""},
		"marks left open":           {strings.Repeat("==a ", 50_000), fault.ContentTooComplex},
		"a rule of dashes":          {strings.Repeat("-", 10_000) + "\n\ntext", ""},
		"a row of stars":            {strings.Repeat("*", 100_000) + "\n\ntext", ""},
		"a wide table":              {strings.Repeat("a|", 3_000) + "\n" + strings.Repeat("-|", 3_000) + "\n" + strings.Repeat("x\n", 3_000), fault.ContentTooComplex},
	} {
		t.Run(name, func(t *testing.T) {
			err := markdown.Check([]byte(c.content))
			if got := fault.CodeOf(err); got != c.want {
				t.Errorf("%s: got %v, want %q", name, err, c.want)
			}
		})
	}
}

// ladder returns lists that are nested depth times.
func ladder(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat("  ", i) + "- a\n")
	}

	return b.String()
}

// The test is not parallel, because it counts allocations.
func TestCheckDoesNotParseForRulesAndUnderlines(t *testing.T) {
	rows := map[string]string{
		"thematic break": strings.Repeat("-", 80),
		"underline":      "A title of more than twenty-five letters\n----------------------------------------",
		"row of stars":   strings.Repeat("*", 60),
	}
	for name, text := range rows {
		t.Run(name, func(t *testing.T) {
			src := []byte(strings.Repeat("Text.\n\n"+text+"\n\nMore text.\n", 20))
			// A parser makes a node of each block, so it allocates more than once for each.
			if got := testing.AllocsPerRun(3, func() { _ = markdown.Check(src) }); got > 20 {
				t.Errorf("Check allocates %.0f times, want at most 20: it must not parse", got)
			}
		})
	}
}
