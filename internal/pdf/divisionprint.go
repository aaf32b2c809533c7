package pdf

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"presswork"
	"presswork/internal/markdown"
	"presswork/internal/pdf/file"
	"presswork/themes"
)

// errUndivided is that of a document that is to be printed in one piece.
var errUndivided = errors.New("it is not divided")

// printSections prints a document in sections. Errors: the Printer's, errUndivided.
func (c *Converter) printSections(ctx context.Context, composed Composed) (r Result, found []presswork.Warning, err error) {
	// How many tabs are free depends on the moment, but with an epoch no bytes may.
	if !composed.divisible || composed.parts <= markdown.MaxParts && (!c.epoch.IsZero() || c.idle() < 2) {
		return Result{}, nil, errUndivided
	}
	d := divide(composed)
	if d == nil {
		return Result{}, nil, errUndivided
	}
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.timeout,
			presswork.Errorf(presswork.RenderTimeout, "the document took longer than %s to print", c.timeout))
		defer cancel()
	}
	whole, err := c.printDivided(ctx, composed, d)
	if err != nil {
		if errors.Is(err, errUndivided) && !errors.Is(err, errNoPageEnd) {
			c.log.WarnContext(ctx, "the document is printed in one piece: its sections could not be joined", "error", err)
		}
		return Result{}, nil, err
	}
	if composed.footnotes {
		if pages, err := whole.Anchors(); err == nil {
			if moved := movedNotesAt(pages); len(moved) > 0 {
				c.endNotes(ctx, &composed, moved)
				return c.printSections(ctx, composed)
			}
		}
	}
	found, err = composed.preflight.inspect(ctx, composed.Page.HTML, func() (*file.File, error) { return whole, nil })
	if err != nil {
		c.log.WarnContext(ctx, "the print could not be checked", "error", err)
	}
	p, err := whole.Pack(composed.Meta, composed.Finish)
	if err != nil {
		return Result{}, nil, unfinished(composed.Finish, err)
	}
	return resultOf(p, composed.Finish), found, nil
}

// printDivided prints the sections until the numbers in them are those of their
// pages, then header and footer of all pages, and joins them.
func (c *Converter) printDivided(ctx context.Context, composed Composed, d *division) (*file.File, error) {
	err := c.eachIdle(ctx, len(d.blocks), func(ctx context.Context, _ int) error {
		s, err := c.nextSection(ctx, d)
		if s == nil || err != nil {
			return err
		}
		s.draft = d.ranges != nil || composed.revision != nil && len(s.held) > 0
		if s.pages > 0 {
			return nil // known by the draft that found its end
		}
		return c.printSection(ctx, d, s)
	})
	var pages map[string]int
	var total int
	for tries := 0; err == nil; tries++ {
		pages, total = d.pagesInWhole()
		todo := d.outdated(composed.revision, pages)
		const most = 3 // as chromium.Browser.PrintRevised has it
		if len(todo) == 0 {
			break
		}
		if tries == most {
			c.log.WarnContext(ctx, "some page numbers in the contents may be wrong: each print moved the headings")
			break
		}
		err = c.eachIdle(ctx, len(todo), func(ctx context.Context, i int) error {
			s := todo[i]
			if s.ranges != "" && s.wanted > 0 { // not all of it will be seen
				s.ranges, s.draft = "", true
				err := c.printSection(ctx, d, s)
				if s.ranges, _ = d.asked(s.at, s.pages); err != nil {
					return err
				}
				s.draft = false
			}
			return c.printSection(ctx, d, s)
		})
	}
	if err != nil {
		return nil, err
	}
	if _, asked := d.asked(1, total); !asked {
		return nil, fmt.Errorf("there are only %d pages: %w", total, errUndivided)
	}
	for _, s := range d.sections {
		if s.wanted > 0 && s.wanted != s.pages {
			return nil, fmt.Errorf("a section has %d pages, and %d in the whole: %w", s.pages, s.wanted, errUndivided)
		}
	}
	banners, err := c.printBanners(ctx, composed, d, pages, total)
	if err != nil {
		return nil, err
	}
	sections, err := c.joined(ctx, d)
	if err != nil {
		return nil, err
	}
	whole, err := file.Join(sections, banners)
	if err != nil {
		return nil, errors.Join(errUndivided, err)
	}
	c.log.DebugContext(ctx, "printed in sections", "sections", len(sections), "pages", total)
	return whole, nil
}

// joined are the prints that make the whole.
func (c *Converter) joined(ctx context.Context, d *division) (prints []*file.File, err error) {
	var white []byte
	for _, s := range d.sections {
		if _, asked := d.asked(s.at-1, 1); s.white && asked {
			if white == nil {
				if white, err = c.printer.Print(ctx, d.whitePage()); err != nil {
					return nil, err
				}
			}
			f, err := file.Read(white)
			if err != nil {
				return nil, errors.Join(errUndivided, err)
			}
			prints = append(prints, f)
		}
		if s.file != nil {
			prints = append(prints, s.file)
		}
	}
	return prints, nil
}

// eachIdle does so many prints, as many at a time as there are tabs to spare.
func (c *Converter) eachIdle(ctx context.Context, count int, print func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(max(c.idle(), 1), count) {
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

func (c *Converter) printSection(ctx context.Context, d *division, s *section) error {
	printed, err := c.printer.Print(ctx, d.page(s))
	if err != nil {
		return err
	}
	f, err := file.Read(printed)
	if err == nil && s.ranges == "" {
		s.places, err = f.Anchors()
	}
	if err == nil && s.ranges == "" {
		s.pages, err = f.Pages()
	}
	if d.ranges == nil || s.ranges != "" {
		s.file = f
	}
	if err != nil {
		return errors.Join(errUndivided, err)
	}
	return nil
}

// bannersAtOnce is how many pages of banners are printed at once: what one takes
// grows with how many there are. Even, so that left pages are left ones in each print.
const bannersAtOnce = 64

// numberStyle is the counter style of page numbers in a print of some pages.
const numberStyle = "presswork-number"

// printBanners prints the headers and footers of all pages upon nothing; none when
// there are none. Only now is it known how many pages there are, and which chapters
// are on them.
func (c *Converter) printBanners(ctx context.Context, composed Composed, d *division, pages map[string]int, total int) ([]*file.File, error) {
	printed := composed.banners(thisPage, allPages)
	if printed == noBanners {
		return nil, nil
	}
	// In their place: another rule for all pages would win over those with a name.
	head := strings.Replace(d.head, printed, composed.banners("counter(page,"+numberStyle+")", themes.QuoteCSS(strconv.Itoa(total))), 1)
	classes := slices.Repeat([]string{"banner"}, total)
	blank := map[int]bool{}
	for _, s := range d.sections {
		if s.white {
			blank[s.at-1] = true
			classes[s.at-2] = "banner blank"
		}
		if s.file == nil {
			continue
		}
		sizes, err := s.file.Sizes()
		if err != nil {
			return nil, errors.Join(errUndivided, err)
		}
		for i := range s.pages {
			if _, asked := d.asked(s.at+i, 1); !asked {
				continue
			}
			if len(sizes) == 0 {
				return nil, fmt.Errorf("pages are missing: %w", errUndivided)
			}
			if (sizes[0][0] > sizes[0][1]) != (d.sheet.Width > d.sheet.Height) {
				classes[s.at-1+i] = "banner turned"
			}
			sizes = sizes[1:]
		}
	}
	if d.cover != "" {
		classes[0] = "banner first"
		if d.blocks[0].leaf && total > 1 {
			classes[1], blank[2] = "banner blank", true
		}
	}
	sheet := d.sheet
	sheet.Tagged, sheet.Outline = false, false
	var chapters, heads []string
	if r := composed.revision; r != nil && len(r.chapters) > 0 {
		chapters = runningTitles(r.chapters, pages, total)
	}
	if r := composed.revision; r != nil && len(r.sections) > 0 {
		heads = r.runningHeads(pages, total, blank)
	}
	banners := make([]*file.File, (total+bannersAtOnce-1)/bannersAtOnce)
	err := c.eachIdle(ctx, len(banners), func(ctx context.Context, i int) error {
		first := i * bannersAtOnce
		last := min(first+bannersAtOnce, total)
		ranges, asked := d.asked(first+1, last-first)
		if !asked {
			return nil
		}
		var out strings.Builder
		numbers := make([]string, last-first)
		for n := range numbers {
			numbers[n] = strconv.Itoa(first + n + 1)
		}
		out.WriteString(head + "<style>" + pageStyle(numberStyle, numbers))
		if chapters != nil {
			out.WriteString(pageStyle(chapterStyle, chapters[first:last]))
		}
		if heads != nil {
			out.WriteString(pageStyle(runningStyle, heads[first:last]))
		}
		out.WriteString("@page{background:none}@page cover{background:none}.banner{height:1mm;break-after:page}" +
			".banner.turned{page:turned}.banner.blank{page:leaf}.banner.first{page:cover}.banner:last-child{break-after:auto}</style>\n</head>\n<body>\n")
		for _, class := range classes[first:last] {
			out.WriteString(`<div class="` + class + "\"></div>\n")
		}
		out.WriteString("</body>\n</html>\n")
		sheet := sheet
		sheet.PageRanges = ranges
		data, err := c.printer.Print(ctx, presswork.Page{HTML: out.String(), Sheet: sheet})
		if err != nil {
			return err
		}
		if banners[i], err = file.Read(data); err != nil {
			return errors.Join(errUndivided, err)
		}
		return nil
	})
	return slices.DeleteFunc(banners, func(f *file.File) bool { return f == nil }), err
}
