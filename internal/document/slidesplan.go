package document

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"presswork/internal/chromium/printable"
	"presswork/internal/fault"
	"presswork/internal/markdown/ext/direction"
	"presswork/internal/pdffile"
)

// slidesPlan is the plan of slides that are printed as a PDF.
type slidesPlan struct {
	paper

	// lines are where the slides begin in the source, 0 for a generated one.
	lines []int
	// noted has the numbers of the slides that are followed by a page of notes.
	noted map[int]bool
}

// deck cuts a document into slides, and gives it a title slide if it needs one.
func (s source) deck() deck {
	marp := s.matter.Deck
	d := deckOf(s.page, s.head, marp, s.body)
	titled := s.matter.Options.Title != "" || isTrue(s.page.options.Cover)

	if len(d.slides) == 0 || d.slides[0].kind != "cover" && marp.Marp != "true" && titled {
		d.addCover()
	}

	return d
}

// setSlides sets the body to slides. They have their own cover.
func (p *page) setSlides(body string) {
	p.options.Cover, p.body, p.rightToLeft = nil, body, direction.HasRTL(body)
}

// composeWebSlides composes slides as an HTML file.
func (c *Converter) composeWebSlides(s source) Composed {
	p := s.page
	p.setSlides(s.deck().body(false))

	return c.webPage(s, p)
}

// composeSlides composes slides for paper.
func (c *Converter) composeSlides(s source) Composed {
	p, deck := s.page, s.deck()
	noted := map[int]bool{}

	if p.options.SpeakerNotes == "pages" {
		for _, s := range deck.slides {
			if s.Notes != "" {
				noted[s.number] = true
			}
		}
	}
	p.setSlides(deck.body(len(noted) > 0))

	composed := s.composed()
	composed.Page = printable.Page{Sheet: p.sheet.ForPrinter(), Prepare: fitSlides}
	composed.Page.HTML, composed.layout, _ = p.html()

	plan := slidesPlan{paper: c.paper(s, p), noted: noted}
	for _, slide := range deck.slides {
		plan.lines = append(plan.lines, slide.Line)
	}

	if p.options.SpeakerNotes == "" || p.options.SpeakerNotes == "comments" {
		plan.finish.Notes = deck.notes()
	}

	return c.planned(composed, plan, plan.finish, p.options)
}

func (slidesPlan) make(ctx context.Context, c *Converter, d Composed) (Made, error) {
	return c.makePDF(ctx, d)
}

// print prints the slides and warns of those that take more than a page.
func (p slidesPlan) print(ctx context.Context, c *Converter, d Composed) (Result, error) {
	printed, err := c.printer.Print(ctx, d.Page)
	if err != nil {
		return Result{}, err
	}

	r, err := c.pack(ctx, printed, d.Meta, p.finish)
	if err != nil {
		return Result{}, err
	}

	found := p.check(ctx, c, d, func() (*pdffile.File, error) { return pdffile.Read(printed) })
	if r.Pages > len(p.lines)+len(p.noted) && d.Page.Sheet.PageRanges == "" {
		found = append(found, p.crowded(printed, r.Pages)...)
	}
	r.Warnings = slices.Concat(found, r.Warnings)

	return r, nil
}

// crowded returns warnings about slides that continue on another page. total is the number of pages of the print.
func (p slidesPlan) crowded(printed []byte, total int) (warnings []fault.Warning) {
	f, err := pdffile.Read(printed)
	if err != nil {
		return nil
	}

	pages, err := f.Anchors()
	if err != nil {
		return nil
	}

	for n := 1; n <= len(p.lines); n++ {
		begins, ends := max(1, pages["slide-"+strconv.Itoa(n)]), total+1
		if n < len(p.lines) {
			ends = pages["slide-"+strconv.Itoa(n+1)]
		}

		if p.noted[n] {
			ends--
		}

		if ends-begins > 1 {
			warnings = append(warnings, fault.Warning{
				Code: fault.SlideOverflow,
				Line: p.lines[n-1],
				Message: fmt.Sprintf(
					"slide %d holds more than a page; it is printed on %d pages (--- divides it elsewhere)",
					n,
					ends-begins,
				),
			})
		}
	}

	return warnings
}
