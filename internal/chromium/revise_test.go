package chromium_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"presswork/internal/chromium"
	"presswork/internal/chromium/printable"
	"presswork/internal/fault"
	"presswork/internal/test/browsertest"
)

func TestPagesAreFilledInAndPrintedAgain(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t, chromium.Options{Tabs: 1})
	p := page(
		"<img name=querySelectorAll><form name=prototype></form>one <b data-fill></b> and <b data-fill></b><p style='break-before:page'>two",
	)
	p.Sheet = printable.Sheet{Tagged: true, Outline: true, PageRanges: "1"}

	t.Run("fills in the texts", func(t *testing.T) {
		var layouts []string

		out, err := b.PrintRevised(t.Context(), p, func(printed []byte) ([]string, error) {
			layouts = append(layouts, info(t, printed, "Pages")+" tagged "+info(t, printed, "Tagged"))
			return []string{"</b><i>1</i>\u2028", `"2"`, "3: no such element"}, nil
		})
		if err != nil {
			t.Fatal(err)
		}

		if got, want := text(t, out), `one </b><i>1</i> and "2"`; got != want {
			t.Errorf("text %q, want %q", got, want)
		}

		if info(t, out, "Tagged") != "yes" || !slices.Equal(layouts, []string{"2 tagged no"}) {
			t.Errorf("tagged: %s, layout passes %q; want yes, and one untagged pass of 2 pages",
				info(t, out, "Tagged"), layouts)
		}
	})
	t.Run("prints again until the texts are settled", func(t *testing.T) {
		whole := p
		whole.Sheet.PageRanges = ""

		for settledAfter, prints := range map[int]int{1: 2, 2: 3, 99: 4} {
			t.Run(fmt.Sprint(settledAfter), func(t *testing.T) {
				var seen []string

				out, err := b.PrintRevised(t.Context(), whole, func(printed []byte) ([]string, error) {
					seen = append(seen, text(t, printed))
					return []string{fmt.Sprint(min(len(seen), settledAfter))}, nil
				})
				if err != nil {
					t.Fatal(err)
				}

				want := fmt.Sprintf("one %d and", min(settledAfter, prints-1))
				if len(seen) != prints || !strings.HasPrefix(text(t, out), want) {
					t.Errorf("settled after %d: %d prints %q, then %q, want %q", settledAfter, len(seen), seen,
						text(t, out), want)
				}
			})
		}
	})
	t.Run("empties elements without a text", func(t *testing.T) {
		out, err := b.PrintRevised(t.Context(), p, func([]byte) ([]string, error) { return nil, nil })
		if err != nil || text(t, out) != "one and" {
			t.Errorf("text %q, %v; want one and", text(t, out), err)
		}
	})
	t.Run("returns the error of revise", func(t *testing.T) {
		cause := fault.Errorf(fault.RenderFailed, "no")

		_, err := b.PrintRevised(t.Context(), p, func([]byte) ([]string, error) { return nil, cause })
		if !errors.Is(err, cause) {
			t.Errorf("error %v, want %v", err, cause)
		}

		if got := text(t, mustPrint(t, b, page("after"))); got != "after" {
			t.Errorf("text of the next page %q, want after", got)
		}
	})
}
