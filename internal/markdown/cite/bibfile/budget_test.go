package bibfile_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"presswork/internal/markdown/cite/bibfile"
	"presswork/internal/test/cputime"
)

func TestCostOfBibliographiesIsBounded(t *testing.T) {
	t.Parallel()

	size := 8 << 20
	if testing.Short() {
		size = 1 << 20
	}
	long := strings.Repeat("x", 16_000)

	var fields, strings16 strings.Builder
	for i := range size / 40 {
		fmt.Fprintf(&fields, "f%d=b,", i)
		fmt.Fprintf(&strings16, "@string{s%d=b#b}\n", i)
	}

	for name, c := range map[string]struct{ src, want string }{
		"unclosed braces": {strings.Repeat("@a{k,t={\n", size/10), "over 20 of its brackets or quotation " +
			"marks are not closed; the first, in line 1"},
		"quotation marks": {strings.Repeat("@a{k,t=\"{\n", size/11), "a quotation mark is not closed"},
		"entries without a key": {strings.Repeat("@a{}\n", size/5), "over 10000 of its entries cannot be read; " +
			"the first, in line 1"},
		"abbreviations of long texts": {
			"@string{b={" + long + "}}\n" + strings16.String(),
			"stand for more than 8 MB of text",
		},
		"fields of long texts": {
			"@string{b={" + long + "}}\n@a{k," + fields.String() + "}",
			"stand for more than 8 MB of text",
		},
		"entries that inherit": {
			"@book{p,title={" + long + "}}\n" + inheriting(min(40_000, size/30)),
			"stand for more than 8 MB of text",
		},
		"accents": {
			strings.Repeat("@a{k,title={"+strings.Repeat(`\'e`, 5000)+"}}\n", size/16_000+1),
			"",
		},
		"nested accents": {
			strings.Repeat("@a{k,title={"+strings.Repeat(`\'{`, 2500)+strings.Repeat("}", 2500)+"}}\n", size/11_000),
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const limit = 30 * time.Second
			var err error

			if took := cputime.Of(func() { _, err = bibfile.Read([]byte(c.src), "") }); took > limit {
				t.Errorf("it took %s", took)
			}

			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) || c.want == "" && err != nil {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// inheriting returns n entries that all inherit from a missing one.
func inheriting(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "@inbook{c%d,crossref=p}\n", i)
	}

	return b.String()
}
