package sections

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"presswork/internal/chromium/printable"
	"presswork/internal/fault"
	"presswork/internal/pdffile"
	"presswork/internal/pdffile/join"
	"presswork/themes"
)

// Print prints a document in sections and joins them. It returns nil without an error if the caller must print the
// document at once, because sections save no time or cannot be joined. Errors: those of the Printer, InvalidOption for
// pages that do not exist, and the cause of ctx.
func Print(ctx context.Context, p Plan, printer Printer) (*pdffile.File, error) {
	d := divide(p)
	if d == nil {
		return nil, nil
	}
	d.printer = printer

	whole, err := d.printAll(ctx)
	if err != nil && !d.failed.Load() && ctx.Err() == nil {
		printer.Log.WarnContext(ctx, "the document is printed in one piece: its sections could not be joined",
			"error", err)

		return nil, nil
	}

	return whole, err
}

// print prints a page. It marks the division as failed on an error, since printing in one piece would fail as well.
func (d *division) print(ctx context.Context, page printable.Page) ([]byte, error) {
	printed, err := d.printer.Print(ctx, page)
	if err != nil {
		d.failed.Store(true)
	}

	return printed, err
}

// printAll prints the sections, then the headers and footers of all pages, and joins everything.
func (d *division) printAll(ctx context.Context) (*pdffile.File, error) {
	err := d.eachIdle(ctx, len(d.blocks), func(ctx context.Context, _ int) error {
		s, err := d.nextSection(ctx)
		if s == nil || err != nil {
			return err
		}

		// A section that will be printed again needs no tags, which are almost half the cost of a page with tables. It
		// needs no visible text either, which is half the cost of contents.
		s.untagged = d.ranges != nil || (d.Numbers != nil || d.Running != nil) && len(s.held) > 0
		if s.pages > 0 {
			return nil // known by the layout pass that found its end
		}

		return d.printSection(ctx, s)
	})
	if err != nil {
		return nil, err
	}

	pages, total, err := d.printOutdated(ctx)
	if err != nil {
		return nil, err
	}

	if _, requested := d.requestedWithin(1, total); !requested {
		d.failed.Store(true)

		return nil, fault.Errorf(fault.InvalidOption, "page_ranges: the document has only %d pages", total).
			WithParam("options.page_ranges")
	}

	// A print with another number of pages than its layout pass means that the section would have ended elsewhere.
	for _, s := range d.sections {
		if s.wanted > 0 && s.wanted != s.pages {
			return nil, fmt.Errorf("a section has %d pages, and %d in the whole", s.pages, s.wanted)
		}
	}

	banners, err := d.printBanners(ctx, pages, total)
	if err != nil {
		return nil, err
	}

	prints, err := d.prints(ctx)
	if err != nil {
		return nil, err
	}

	whole, err := join.Files(files(prints), banners)
	if err != nil {
		return nil, err
	}
	d.printer.Log.DebugContext(ctx, "printed in sections", "sections", len(prints), "pages", total)

	return whole, nil
}

// printOutdated prints sections again until all page numbers in them are right. A number with more digits can move
// headings to other pages, so it may take several rounds. It returns the pages of all anchors and the number of pages.
func (d *division) printOutdated(ctx context.Context) (pages map[string]int, total int, err error) {
	const maxRounds = 3 // as in chromium.Browser.PrintRevised

	for round := 0; ; round++ {
		pages, total = d.pagesInWhole()

		todo := d.outdated(pages)
		if len(todo) == 0 {
			return pages, total, nil
		}

		if round == maxRounds {
			d.printer.Log.WarnContext(ctx,
				"some page numbers in the contents may be wrong: each print moved the headings")

			return pages, total, nil
		}

		err = d.eachIdle(ctx, len(todo), func(ctx context.Context, i int) error {
			s := todo[i]
			if s.ranges != "" && s.wanted > 0 { // a layout pass finds its anchors; only some pages are printed
				s.ranges, s.untagged = "", true

				err := d.printSection(ctx, s)
				if s.ranges, _ = d.requestedWithin(s.at, s.pages); err != nil {
					return err
				}
				s.untagged = false
			}

			return d.printSection(ctx, s)
		})
		if err != nil {
			return nil, 0, err
		}
	}
}

// prints returns the prints of all sections in order, with the requested blank pages between them.
func (d *division) prints(ctx context.Context) (all []*kept, err error) {
	var blank []byte

	for _, s := range d.sections {
		if _, requested := d.requestedWithin(s.at-1, 1); s.blankBefore && requested {
			if blank == nil {
				if blank, err = d.print(ctx, d.blankPage()); err != nil {
					return nil, err
				}
			}

			f, err := pdffile.Read(blank)
			if err != nil {
				return nil, err
			}
			all = append(all, d.keep(blank, f))
		}

		if s.printed != nil {
			all = append(all, s.printed)
			s.printed = nil
		}
	}

	return all, nil
}

// eachIdle calls print with the numbers from 0 to count-1, as many at once as the browser has idle tabs, and at least
// one. After an error it starts no more prints and returns the first error.
func (d *division) eachIdle(ctx context.Context, count int, print func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64

	var wg sync.WaitGroup
	for range min(max(d.printer.Idle(), 1), count) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < count && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := print(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()

	return context.Cause(ctx)
}

// printSection prints a section. It reads the anchors and pages from the first, complete print; prints of page ranges
// come later.
func (d *division) printSection(ctx context.Context, s *section) error {
	printed, err := d.print(ctx, d.page(s))
	if err != nil {
		return err
	}

	f, err := pdffile.Read(printed)
	if err == nil && s.ranges == "" {
		s.places, err = f.Anchors()
	}

	if err == nil && s.ranges == "" {
		s.pages, err = f.Pages()
	}

	if err == nil && (d.ranges == nil || s.ranges != "") {
		s.printed = d.keep(printed, f)
		s.sizes, err = f.Sizes()
	}

	return err
}

// bannersAtOnce is the number of pages with headers and footers in one print. The cost of a page grows with the number
// of pages before it. The number is even, so that left pages are left pages in each print.
const bannersAtOnce = 64

// numberStyle is the counter style of page numbers in a print of some pages.
const numberStyle = "presswork-number"

// printBanners prints the headers and footers of all pages on empty pages. It returns nil if there are none. It runs
// last, when the number of pages and the chapter of each page are known.
func (d *division) printBanners(ctx context.Context, pages map[string]int, total int) ([]*pdffile.File, error) {
	if d.Head.Banners == d.NoBanners {
		return nil, nil
	}
	// The rules replace those of the head: rules that come later would win over the rules of named pages.
	rules := d.Banners("counter(page,"+numberStyle+")", themes.QuoteCSS(strconv.Itoa(total)))
	head := d.Head.Before + d.Head.Facing + rules + d.Head.After

	classes, blank, err := d.bannerClasses(total)
	if err != nil {
		return nil, err
	}
	var running []CounterStyle

	if d.Running != nil {
		running = d.Running(pages, total, blank)
	}
	banners := make([]*pdffile.File, (total+bannersAtOnce-1)/bannersAtOnce)
	err = d.eachIdle(ctx, len(banners), func(ctx context.Context, i int) error {
		first := i * bannersAtOnce
		last := min(first+bannersAtOnce, total)

		ranges, requested := d.requestedWithin(first+1, last-first)
		if !requested {
			return nil
		}
		sheet := d.Sheet
		sheet.Tagged, sheet.Outline, sheet.PageRanges = false, false, ranges

		data, err := d.print(ctx, printable.Page{HTML: bannerPages(head, classes, running, first, last), Sheet: sheet})
		if err != nil {
			return err
		}
		banners[i], err = pdffile.Read(data)

		return err
	})

	return slices.DeleteFunc(banners, func(f *pdffile.File) bool { return f == nil }), err
}

// bannerClasses returns the classes of the element that stands for each page. They give it the orientation and the
// rules of the page on which it is drawn. blank has the numbers of the blank pages.
func (d *division) bannerClasses(total int) (classes []string, blank map[int]bool, err error) {
	classes = slices.Repeat([]string{"banner"}, total)
	blank = map[int]bool{}

	for _, s := range d.sections {
		if s.blankBefore {
			blank[s.at-1] = true
			classes[s.at-2] = "banner blank"
		}

		if s.printed == nil {
			continue
		}
		sizes := s.sizes

		for i := range s.pages {
			if _, requested := d.requestedWithin(s.at+i, 1); !requested {
				continue
			}

			if len(sizes) == 0 {
				return nil, nil, errors.New("pages are missing")
			}

			if (sizes[0][0] > sizes[0][1]) != (d.Sheet.Width > d.Sheet.Height) {
				classes[s.at-1+i] = "banner turned"
			}
			sizes = sizes[1:]
		}
	}

	if d.Cover != "" {
		classes[0] = "banner first"
		if d.blocks[0].Leaf && total > 1 {
			classes[1], blank[2] = "banner blank", true
		}
	}

	return classes, blank, nil
}

// bannerPages returns the HTML of empty pages with the headers and footers of the pages after first up to last.
func bannerPages(head string, classes []string, running []CounterStyle, first, last int) string {
	var out strings.Builder

	numbers := make([]string, last-first)
	for n := range numbers {
		numbers[n] = strconv.Itoa(first + n + 1)
	}
	out.WriteString(head + "<style>" + CounterStyle{numberStyle, numbers}.CSS())

	for _, r := range running {
		out.WriteString(CounterStyle{r.Name, r.Texts[first:last]}.CSS())
	}
	out.WriteString("@page{background:none}@page cover{background:none}.banner{height:1mm;break-after:page}" +
		".banner.turned{page:turned}.banner.blank{page:leaf}.banner.first{page:cover}" +
		".banner:last-child{break-after:auto}</style>\n</head>\n<body>\n")

	for _, class := range classes[first:last] {
		out.WriteString(`<div class="` + class + "\"></div>\n")
	}
	out.WriteString("</body>\n</html>\n")

	return out.String()
}

// CSS returns the rule that defines the counter style. Chromium does not support string-set, by which CSS takes texts
// into margin boxes, but counter(page) takes a style.
func (c CounterStyle) CSS() string {
	var b strings.Builder
	b.WriteString("@counter-style " + c.Name + "{system:fixed 1;symbols:")

	for _, text := range c.Texts {
		b.WriteString(themes.QuoteCSS(text))
	}
	b.WriteString("}")

	return b.String()
}
