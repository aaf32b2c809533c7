package pack

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"presswork/internal/lazyregexp"
	"presswork/internal/pdffile"
)

// creator is the Creator entry of every PDF. Chromium would write its user agent there.
const creator = "Presswork"

// description is the complete metadata of a PDF. Info and XMP are both written from it, because PDF/A requires
// that they agree.
type description struct {
	Meta
	lang, producer string
	// date is the time of creation and last change, to the second.
	date time.Time
}

var (
	// infoProducer and infoDate match entries of the Info dictionary that Chromium writes.
	infoProducer = lazyregexp.New(`/Producer \(([^()\\]*)\)`)
	infoDate     = lazyregexp.New(`/CreationDate \(D:(\d{14}[+-]\d\d'\d\d)'\)`)
)

// describe combines m with the producer and the date of the original Info dictionary. A date that is not zero
// replaces the original's. Errors: ErrObject for an Info dictionary that Chromium does not write.
func describe(original []byte, m Meta, lang string, date time.Time) (description, error) {
	producer, written := infoProducer().FindSubmatch(original), infoDate().FindSubmatch(original)
	if producer == nil || written == nil {
		return description{}, fmt.Errorf("info: %w", pdffile.ErrObject)
	}

	d := description{
		Meta: Meta{
			Title:   xmlText(m.Title),
			Author:  xmlText(m.Author),
			Subject: xmlText(m.Subject),
			Date:    m.Date,
		},
		lang:     lang,
		producer: string(producer[1]),
		date:     date.UTC().Truncate(time.Second),
	}
	for _, word := range m.Keywords {
		d.Keywords = append(d.Keywords, xmlText(word))
	}

	if date.IsZero() {
		var err error
		if d.date, err = time.Parse("20060102150405-07'00", string(written[1])); err != nil {
			return description{}, fmt.Errorf("info: %w", pdffile.ErrObject)
		}
		d.date = d.date.UTC()
	}

	return d, nil
}

// keywords returns the keywords as Info and pdf:Keywords write them: separated by commas.
func (d description) keywords() string { return strings.Join(d.Keywords, ", ") }

// info returns the Info dictionary.
func (d description) info() []byte {
	date := d.date.Format("(D:20060102150405+00'00')")
	var b bytes.Buffer
	b.WriteString("<<")

	for _, field := range [][2]string{
		{"Title", d.Title},
		{"Author", d.Author},
		{"Subject", d.Subject},
		{"Keywords", d.keywords()},
		{"Creator", creator},
		{"Producer", d.producer},
	} {
		if field[1] != "" {
			fmt.Fprintf(&b, "/%s %s\n", field[0], pdffile.TextString(field[1]))
		}
	}
	fmt.Fprintf(&b, "/CreationDate %s\n/ModDate %s>>", date, date)

	return b.Bytes()
}

// xmlText replaces characters that XML 1.0 cannot contain, so that Info and XMP agree.
func xmlText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0xfffe || r == 0xffff {
			return utf8.RuneError
		}

		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
}
