// Package pack produces the final file from a printed PDF. It adds metadata and better tags, converts to PDF/A or
// PDF/UA, attaches files, encrypts and compresses.
//
// Pack reads the print and calls Write. Finish says which steps of Write apply:
//
//  1. tags and links, titles of the outline, comments, names of destinations, gradients
//  2. extracted text, by package text
//  3. PDF/UA, then PDF/A
//  4. page boxes, attachments, metadata, compression, encryption
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
	// Date is the date that the document states, as 2006-01-02; "" if it states none.
	Date     string
	Keywords []string
}

// Finish describes the requested form of the file. The zero value adds only metadata and tags.
type Finish struct {
	// PDFA is the PDF/A level: "2b", "2u" or "3b". Default: no PDF/A.
	PDFA string
	// PDFUA requests PDF/UA-1. A document that does not qualify is still written, without the claim; see
	// Packed.Missing.
	PDFUA bool
	// Undescribed is the number of images without alternative text in the source. Chromium tags such images as
	// decoration, so the tags of the PDF do not show them.
	Undescribed int
	// Headings replace the titles in the outline, because Chromium's titles lack spaces and repeat formulas.
	// Entries without a matching heading keep their title.
	Headings []Heading
	// Hyphenated is true if pages contain soft hyphens. This and the next two fields cost a pass over all content.
	Hyphenated bool
	// RightToLeft is true if pages may contain Arabic letters.
	RightToLeft bool
	// DropCaps is true if pages contain drop caps.
	DropCaps bool
	// Boxes describe how pages are trimmed. Default: as printed.
	Boxes Boxes
	// Sources are the files that the document was made from. They are attached to the PDF.
	Sources []Attachment
	// Password encrypts the file; pdffile.CheckPassword must accept it. Default "": no encryption.
	Password string
	// Notes are comments on pages. They are omitted from PDF/A and PDF/UA files.
	Notes []Note
	// Date is the date of creation and last change in the file. Default: the date that Chromium wrote.
	Date time.Time
}

// Attachment is a file to embed in the PDF.
type Attachment struct {
	Name string
	Data []byte
}

// Note is a comment on the page of an anchor.
type Note struct{ Anchor, Text string }

// Heading is one heading of the document. Lists of headings are in reading order.
type Heading struct {
	// Level is 1 to 6.
	Level int
	// Text includes the heading's number, if it has one.
	Text string
}

// Packed is the result of Pack and Write.
type Packed struct {
	// Data is the final PDF.
	Data []byte
	// Pages is the number of pages. Even when Pack fails it is either right or 0.
	Pages int
	// Missing lists, in words for the author, why the document is not PDF/UA. If it is empty and PDF/UA was
	// requested, the file claims PDF/UA.
	Missing []string
}

// compressFrom is the size of all plain objects, in bytes, from which they are compressed. Below it, compression saves
// less than 25 KB and takes half a millisecond.
const compressFrom = 32 << 10

// Pack adds metadata to a PDF from Chromium and gives it the requested form. It compresses objects that are not
// streams if that saves space. It copies most objects without interpreting them, so tags, links and the outline
// stay. Errors: a file that is not in Skia's form, and content that the requested form forbids.
func Pack(printed []byte, m Meta, finish Finish) (Packed, error) {
	f, err := pdffile.Read(printed)
	if err != nil {
		return Packed{}, err
	}

	return Write(f, m, finish)
}

// Write is Pack for a file that was read or joined before, with the same errors. The caller must not use the file
// afterwards.
func Write(f *pdffile.File, m Meta, finish Finish) (p Packed, err error) {
	if p.Pages, err = f.Pages(); err != nil {
		return p, err
	}

	if p.Missing, err = apply(f, m, finish); err != nil {
		return p, err
	}
	plain := 0

	for _, o := range f.Objects {
		if !pdffile.IsStream(o) {
			plain += len(o)
		}
	}
	layout := pdffile.Layout{Compress: plain >= compressFrom}

	if finish.Password != "" {
		layout.Protection = &pdffile.Protection{User: finish.Password, Permissions: pdffile.AllPermissions}
	}
	p.Data, err = f.Bytes(layout)

	return p, err
}

// apply adds the metadata and changes the file to the requested form. It returns what the document lacks for
// PDF/UA.
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
		if err := annotate(f, finish.Notes); err != nil {
			return nil, fmt.Errorf("notes: %w", err)
		}
	}

	if err := renameDestinations(f, catalog); err != nil {
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
	notdef := false // the pages show glyph 0, which both standards forbid

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
	catalog.Set("Metadata", pdffile.RefTo(f.Add(pdffile.NewStream(pdffile.Dict{
		{Key: "Type", Value: []byte("/Metadata")}, {Key: "Subtype", Value: []byte("/XML")},
	}, xmp))))
	catalog.Set("ViewerPreferences", "<</DisplayDocTitle true>>")
	f.Objects[f.Root], f.Objects[f.Info] = catalog.Bytes(), about.info()

	return missing, nil
}
