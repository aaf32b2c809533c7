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
	var chapters []markdown.Heading
	if r := composed.revision; r != nil {
		chapters = slices.Concat(r.chapters, r.sections)
	}
	err := c.eachIdle(ctx, len(d.blocks), func(ctx context.Context, _ int) error {
		s, err := c.nextSection(ctx, d)
		if s == nil || err != nil {
			return err
		}
		s.draft = composed.revision != nil && len(s.held) > 0
		return c.printSection(ctx, d, s, chapters)
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
		err = c.eachIdle(ctx, len(todo), func(ctx context.Context, i int) error { return c.printSection(ctx, d, todo[i], chapters) })
	}
	if err != nil {
		return nil, err
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
		if s.white {
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
		prints = append(prints, s.file)
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

func (c *Converter) printSection(ctx context.Context, d *division, s *section, chapters []markdown.Heading) error {
	printed, err := c.printer.Print(ctx, d.page(s, chapters))
	if err != nil {
		return err
	}
	if s.file, err = file.Read(printed); err == nil {
		s.places, err = s.file.Anchors()
	}
	if err == nil {
		s.pages, err = s.file.Pages()
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
	var classes []string
	blank := map[int]bool{}
	for _, s := range d.sections {
		if s.white {
			blank[s.at-1] = true
			classes = append(classes, "banner blank")
		}
		sizes, err := s.file.Sizes()
		if err != nil {
			return nil, errors.Join(errUndivided, err)
		}
		for _, size := range sizes {
			class := "banner"
			switch {
			case len(classes) == 0 && d.cover != "":
				class = "banner first"
			case len(classes) == 1 && d.cover != "" && d.blocks[0].leaf:
				class = "banner blank"
				blank[len(classes)+1] = true
			case (size[0] > size[1]) != (d.sheet.Width > d.sheet.Height):
				class = "banner turned"
			}
			classes = append(classes, class)
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
		data, err := c.printer.Print(ctx, presswork.Page{HTML: out.String(), Sheet: sheet})
		if err != nil {
			return err
		}
		if banners[i], err = file.Read(data); err != nil {
			return errors.Join(errUndivided, err)
		}
		return nil
	})
	return banners, err
}
