package pdffile

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// creator is the Creator of every PDF: Chromium would give its user agent.
const creator = "Presswork"

// description is all metadata of a PDF. Info and XMP are both
// written from it, so that they agree, as PDF/A wants.
type description struct {
	Meta
	lang, producer string
	// date is of creation and of the last change, to the second.
	date time.Time
}

var (
	infoProducer = regexp.MustCompile(`/Producer \(([^()\\]*)\)`)
	infoDate     = regexp.MustCompile(`/CreationDate \(D:(\d{14}[+-]\d\d'\d\d)'\)`)
)

// describe lays our words over the producer and date that the original Info
// dictionary has. A date that is not zero wins over the original's.
func describe(original []byte, m Meta, lang string, date time.Time) (description, error) {
	producer, written := infoProducer.FindSubmatch(original), infoDate.FindSubmatch(original)
	if producer == nil || written == nil {
		return description{}, fmt.Errorf("info: %w", errObject)
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
			return description{}, fmt.Errorf("info: %w", errObject)
		}
		d.date = d.date.UTC()
	}

	return d, nil
}

func (d description) keywords() string { return strings.Join(d.Keywords, ", ") }

// info writes the Info dictionary.
func (d description) info() []byte {
	date := d.date.Format("(D:20060102150405+00'00')")
	var b bytes.Buffer
	b.WriteString("<<")

	for _, field := range [][2]string{
		{"Title", d.Title}, {"Author", d.Author}, {"Subject", d.Subject}, {"Keywords", d.keywords()}, {"Creator", creator}, {"Producer", d.producer},
	} {
		if field[1] != "" {
			fmt.Fprintf(&b, "/%s %s\n", field[0], textString(field[1]))
		}
	}
	fmt.Fprintf(&b, "/CreationDate %s\n/ModDate %s>>", date, date)

	return b.Bytes()
}

// xmlText replaces what XML 1.0 cannot hold, so that XMP and Info agree.
func xmlText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0xfffe || r == 0xffff {
			return utf8.RuneError
		}

		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
}

// textString writes a PDF text string: ASCII in brackets, anything else as
// UTF-16 in hex.
func textString(s string) string {
	ascii := true

	for _, r := range s {
		if r < ' ' || r > '~' {
			ascii = false
		}
	}

	if ascii {
		return "(" + strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(s) + ")"
	}
	var b strings.Builder
	b.WriteString("<FEFF")

	for _, u := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&b, "%04X", u)
	}
	b.WriteString(">")

	return b.String()
}

// MaxText is how many characters of a text the metadata hold.
const MaxText = 1000

// OneLine makes one line of a text for the metadata, of at most MaxText
// characters.
func OneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}

		return r
	}, strings.ToValidUTF8(s, "\ufffd"))

	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > MaxText {
		s = string(r[:MaxText])
	}

	return s
}
