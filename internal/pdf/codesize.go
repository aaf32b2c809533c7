package pdf

import (
	"fmt"
	"strconv"
	"strings"

	"presswork/internal/lazyregexp"
)

const (
	// normalCode and smallestCode are sizes of type in points: that of code where the
	// theme has none of its own, as in print.css, and the least that is read with ease.
	normalCode, smallestCode = 8.2, 7
	// columnWidth is how wide a letter of the typefaces for code is, in em, and
	// codePadding what print.css leaves beside the lines.
	columnWidth, codePadding = 0.602, 1.9
)

// columnsNoted begins what markdown notes of a code block with long lines.
const columnsNoted = ` data-columns="`

var codeSize = lazyregexp.New(`^([0-9]{1,2}(?:\.[0-9]+)?)pt$`)

// fitCode sets the code blocks of a body smaller whose longest lines are then whole.
// Those of more columns than fit in the smallest type are as large as others, and
// wrapped. size is the theme's ("8.8pt"), "" if it has none.
func fitCode(body string, s sheet, size string) string {
	if !strings.Contains(body, columnsNoted) {
		return body
	}
	normal := normalCode
	if m := codeSize().FindStringSubmatch(size); m != nil {
		normal, _ = strconv.ParseFloat(m[1], 64) // digits
	}
	area := (s.width - s.left - s.right) / s.scale / pointInMM
	var out strings.Builder
	out.Grow(len(body))
	for {
		before, rest, found := strings.Cut(body, columnsNoted)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		number, after, _ := strings.Cut(rest, `"`)
		body = after
		columns, _ := strconv.Atoi(number) // markdown's own digits; else 0, which fits
		if fits := area / (float64(columns)*columnWidth + codePadding); fits < normal && fits*s.scale >= smallestCode {
			fmt.Fprintf(&out, ` style="font-size:%.2fpt"`, fits-0.005)
		}
	}
}
