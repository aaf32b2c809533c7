// Package pack makes the final file from a print. It adds metadata and better tags, makes it PDF/A or PDF/UA,
// attaches files, encrypts and compresses it.
package pack

import (
	"fmt"
	"time"

	"presswork/internal/pdffile"
	"presswork/internal/pdffile/pack/text"
)

// Meta is the metadata of a PDF.
type Meta struct {
	Title, Author, Subject string
	// Date is the document's own day, 2006-01-02, "" without one.
	Date     string
	Keywords []string
}

// Finish describes the requested form of a file.
type Finish struct {
	// PDFA is the level of PDF/A: "2b", "2u" or "3b". Default: none.
	PDFA string
	// PDFUA asks for PDF/UA-1, as far as the document allows.
	PDFUA bool
	// Undescribed is how many images have no alternative text in the source.
	// Chromium takes them for decoration, which their author did not declare.
	Undescribed int
	// Headings give the outline its words: Chromium's own lack spaces and repeat
	// formulas. Those it does not list are left as they are.
	Headings []Heading
	// Hyphenated reports that the page holds soft hyphens.
	Hyphenated bool
	// RightToLeft reports that the page may hold Arabic letters.
	RightToLeft bool
	// DropCaps reports that the page has drop caps.
	DropCaps bool
	// Boxes say how the pages are cut.
	Boxes Boxes
	// Sources are attached, as what the document was made from.
	Sources []Attachment
	// Password encrypts the file; "" does not.
	Password string
	// Notes are comments on pages. PDF/A and PDF/UA do without.
	Notes []Note
	// Date is written as that of creation. Zero: the print's own.
	Date time.Time
}

// Attachment is a file within the PDF.
type Attachment struct {
	Name string
	Data []byte
}

// Note is a comment on the page of an anchor.
type Note struct{ Anchor, Text string }

// Heading is a heading of the document, in reading order.
type Heading struct {
	// Level is 1 to 6.
	Level int
	// Text is with the number, if it has one.
	Text string
}

// Packed is what Pack makes of a print.
type Packed struct {
	// Data is the file.
	Data []byte
	// Pages is how many there are. It is right even when Pack fails, unless it
	// is 0.
	Pages int
	// Missing is what keeps the document from being PDF/UA, in words. None:
	// it claims PDF/UA if that was asked for.
	Missing []string
}

// packFrom is the number of bytes of plain objects from which they are compressed. Below it, compression saves
// less than 25 KB and takes half a millisecond.
const packFrom = 32 << 10

// Pack rewrites a PDF of Chromium with our metadata and in the requested form. It compresses objects that are not
// streams when that saves space. Most object bytes are copied without interpretation, so tags, links and the
// outline stay.
func Pack(printed []byte, m Meta, finish Finish) (Packed, error) {
	f, err := pdffile.Read(printed)
	if err != nil {
		return Packed{}, err
	}

	return Write(f, m, finish)
}

// Write is Pack for a file that has been read or joined. The file must not be used
// afterwards.
func Write(f *pdffile.File, m Meta, finish Finish) (p Packed, err error) {
	if p.Pages, err = f.Pages(); err != nil {
		return p, err
	}

	if p.Missing, err = apply(f, m, finish); err != nil {
		return p, err
	}
	plain, packed := 0, 0

	for _, o := range f.Objects {
		if pdffile.IsStream(o) {
			packed += len(o)
		} else {
			plain += len(o)
		}
	}
	w := &writer{file: f, offsets: make([]location, len(f.Objects))}
	w.out.Grow(packed + plain/4 + 4096)

	switch {
	case finish.Password != "":
		if err := w.encrypted(finish.Password); err != nil {
			return p, err
		}
	case plain < packFrom:
		w.id = fingerprint(f)
		w.classic()
	default:
		w.id = fingerprint(f)
		w.header()
		w.compressed()
	}
	p.Data = w.out.Bytes()

	return p, nil
}

// apply puts the metadata into the file and makes it what was asked for. It
// returns what is missing for PDF/UA.
func apply(f *pdffile.File, m Meta, finish Finish) (missing []string, err error) {
	catalog, _, err := pdffile.ReadDict(f.Objects[f.Root])
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}

	about, err := describe(f.Objects[f.Info], m, string(pdffile.StringBytes(catalog.Get("Lang"))), finish.Date)
	if err != nil {
		return nil, err
	}

	if err := improveTags(f, catalog); err != nil {
		return nil, err
	}

	if err := titleOutline(f, catalog, finish.Headings); err != nil {
		return nil, fmt.Errorf("outline: %w", err)
	}

	if finish.PDFA == "" && !finish.PDFUA && len(finish.Notes) > 0 {
		if err := comment(f, finish.Notes); err != nil {
			return nil, fmt.Errorf("notes: %w", err)
		}
	}

	if err := tameDestinations(f, catalog); err != nil {
		return nil, fmt.Errorf("destinations: %w", err)
	}

	if err := scaleShadings(f); err != nil {
		return nil, fmt.Errorf("gradients: %w", err)
	}

	if finish.Hyphenated {
		if err := text.JoinWords(f); err != nil {
			return nil, fmt.Errorf("soft hyphens: %w", err)
		}
	}

	if finish.RightToLeft {
		if err := text.ReadRightToLeft(f); err != nil {
			return nil, fmt.Errorf("text from right to left: %w", err)
		}
	}

	if finish.DropCaps {
		if err := text.JoinDropCaps(f); err != nil {
			return nil, fmt.Errorf("drop caps: %w", err)
		}
	}
	notdef := false

	if finish.PDFUA || finish.PDFA != "" {
		if err := text.MapAllGlyphs(f); err != nil {
			return nil, err
		}

		if notdef, err = showsNotdef(f); err != nil {
			return nil, err
		}
	}

	if finish.PDFUA {
		missing = accessible(f, catalog, finish.Undescribed, notdef)
	}

	if finish.PDFA != "" {
		if err := archive(f, &catalog, notdef); err != nil {
			return missing, err
		}
	}

	if err := trim(f, finish.Boxes); err != nil {
		return missing, fmt.Errorf("boxes: %w", err)
	}
	attach(f, &catalog, finish.Sources, about.date)
	xmp := about.xmp(finish.PDFA, finish.PDFUA && len(missing) == 0)
	catalog.Set(
		"Metadata",
		pdffile.RefTo(
			f.Add(
				fmt.Appendf(nil, "<</Type /Metadata\n/Subtype /XML\n/Length %d>> stream\n%s\nendstream", len(xmp), xmp),
			),
		),
	)
	catalog.Set("ViewerPreferences", "<</DisplayDocTitle true>>")
	f.Objects[f.Root], f.Objects[f.Info] = catalog.Bytes(), about.info()

	return missing, nil
}
