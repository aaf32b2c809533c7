package layout

import (
	"fmt"
	"strings"

	"presswork/internal/document/markup"
	"presswork/internal/document/sheet"
	"presswork/internal/markdown/frontmatter"
)

// The forms of letters. A and B are those of DIN 5008: the window of the envelope begins 27 mm (A) or 45 mm (B) below
// the upper edge. US is the block letter of the United States.
const formA, formB, formUS = "A", "B", "US"

// sender is who wrote a letter.
type sender struct {
	name    string
	address []string
	// contact are pairs of the key of a label and a value, such as a phone number.
	contact [][2]string
	url     string
}

// letter writes the head and the closing of a letter. form decides where the addresses stand.
func letter(b *builder) {
	from := b.sender()
	to := b.address(recipientKeys()...)
	form := b.form()

	if len(to) == 0 && from.name == "" {
		form = "" // there is nothing for the window
	}
	b.head.Open("div", "class", joined(" ", "letter-head", letterClass(form))).Raw("\n")

	switch form {
	case "":
		b.head.Line("p", b.Date, "class", "letter-date")
	case formUS:
		b.writeLines("letter-sender", append([]string{from.name}, append(from.address, from.reach()...)...))
		b.head.Line("p", b.Date, "class", "letter-date")
		b.writeLines("letter-recipient", to)
	default:
		b.head.Open("div", "class", "letter-sender").Line("p", from.name, "class", "letter-name")
		b.head.Line("p", joined(" · ", from.address...)).Close("div").Raw("\n")
		b.head.Open("div", "class", "letter-window").Raw("\n")
		b.head.Line("p", joined(" · ", append([]string{from.name}, from.address...)...), "class", "letter-return")
		b.writeLines("letter-recipient", to)
		b.head.Close("div").Raw("\n")
		b.writeInfo(from)
	}
	b.head.Close("div").Raw("\n")

	b.head.Line("p", firstOf(b.text("subject", "re"), b.Title), "class", "letter-subject")
	b.head.Line("p", b.text("opening", "salutation", "greeting"), "class", "letter-opening")
	b.writeClosing(from)
	b.parts.PageCSS = letterPages(form, b.Sheet)
}

// Addressed reports whether front matter has the sender or the recipient of a letter.
func Addressed(fields []frontmatter.Field) bool {
	b := builder{fields: byKey(fields)}
	return b.sender().name != "" || len(b.address(recipientKeys()...)) > 0
}

// recipientKeys returns the fields of front matter with the recipient.
func recipientKeys() []string { return []string{"recipient", "to", "address"} }

// letterClass returns the class of a form, "" for none.
func letterClass(form string) string {
	if form == "" {
		return ""
	}

	return "letter-form-" + strings.ToLower(form)
}

// form returns the form of a letter: that of the front matter, otherwise by the size of the paper.
func (b *builder) form() string {
	form := strings.ToUpper(b.text("form"))
	switch form {
	case formA, formB, formUS:
		return form
	case "":
	default:
		b.warn(b.fields["form"], "allowed are A and B of DIN 5008, and US")
	}

	const letterPaper = 215.9 // millimetres
	if b.Sheet.Width > letterPaper-1 && b.Sheet.Width < letterPaper+1 {
		return formUS
	}

	return formB
}

// sender returns who wrote the letter. The first line of a text is the name.
func (b *builder) sender() sender {
	s := sender{name: b.Author}

	list := b.entries("sender", "from", "returnaddress")
	e := entry{}

	if len(list) > 0 && list[0].more != nil {
		e = list[0]
		s.name = firstOf(e.get("name", "company", "organization"), s.name)
		s.address = addressOf(e)
		s.url = e.get("url", "website", "web", "homepage")
	} else if lines := names(list); len(lines) > 0 {
		// The first line is the name, unless the author is known and the lines are the address alone.
		if s.name == "" || len(lines) == 1 || lines[0] == s.name {
			s.name, lines = lines[0], lines[1:]
		}
		s.address = lines
	}

	s.contact = [][2]string{
		{"phone", firstOf(e.get("phone", "telephone", "tel", "mobile"), b.text("phone", "telephone"))},
		{"email", firstOf(e.get("email", "mail"), b.text("email"))},
	}

	return s
}

// reach returns how the sender can be reached, without labels.
func (s sender) reach() (lines []string) {
	for _, c := range s.contact {
		if c[1] != "" {
			lines = append(lines, c[1])
		}
	}

	if s.url != "" {
		lines = append(lines, s.url)
	}

	return lines
}

// address returns the lines of an address.
func (b *builder) address(keys ...string) []string {
	list := b.entries(keys...)
	if len(list) > 0 && list[0].more != nil {
		e := list[0]
		return append(compact(e.get("name"), e.get("company", "organization")), addressOf(e)...)
	}

	return names(list)
}

// addressOf returns the lines of an address in a map, without the name.
func addressOf(e entry) []string {
	if lines := names(e.list("address"), "name"); len(lines) > 0 {
		return lines
	}

	if list := e.list("address"); len(list) > 0 {
		e = list[0]
	}
	city := joined(" ", e.get("postalcode", "zip", "postcode"), e.get("city", "town"))

	if region := e.get("region", "state"); region != "" {
		city = joined(" ", joined(", ", e.get("city", "town"), region), e.get("postalcode", "zip", "postcode"))
	}

	return compact(e.get("street", "streetaddress"), city, e.get("country"))
}

// compact returns the texts that are not empty.
func compact(texts ...string) (set []string) {
	for _, text := range texts {
		if text != "" {
			set = append(set, text)
		}
	}

	return set
}

// firstOf returns the first text that is not empty.
func firstOf(texts ...string) string {
	if set := compact(texts...); len(set) > 0 {
		return set[0]
	}

	return ""
}

// writeLines writes lines as one paragraph. Without lines it writes nothing.
func (b *builder) writeLines(class string, lines []string) {
	if lines = compact(lines...); len(lines) == 0 {
		return
	}
	b.head.Open("p", "class", class)
	writeBroken(&b.head, lines)
	b.head.Close("p").Raw("\n")
}

// writeBroken writes lines with breaks between them.
func writeBroken(w *markup.Writer, lines []string) {
	for i, line := range lines {
		if i > 0 {
			w.Raw("<br>")
		}
		w.Text(line)
	}
}

// writeInfo writes the block of references, contact and date.
func (b *builder) writeInfo(from sender) {
	rows := [][2]string{
		{b.label("yourreference"), b.text("yourreference", "yourref")},
		{b.label("ourreference"), b.text("reference", "ourreference", "ourref", "ref")},
	}
	for _, c := range from.contact {
		rows = append(rows, [2]string{b.label(c[0]), c[1]})
	}

	if from.url != "" {
		rows = append(rows, [2]string{"Web", from.url})
	}
	rows = append(rows, [2]string{b.label("date"), joined(", ", b.text("place", "location"), b.Date)})
	writeFacts(&b.head, "letter-info", rows)
}

// writeFacts writes a list of labels and values. Rows without a value are left out.
func writeFacts(w *markup.Writer, class string, rows [][2]string) {
	opened := false

	for _, row := range rows {
		if row[1] == "" {
			continue
		}

		if !opened {
			w.Open("dl", "class", class).Raw("\n")
			opened = true
		}
		w.Open("div").Element("dt", row[0]).Element("dd", row[1]).Close("div").Raw("\n")
	}

	if opened {
		w.Close("dl").Raw("\n")
	}
}

// writeClosing writes what stands below the text of a letter: closing, name, postscript, enclosures and copies.
func (b *builder) writeClosing(from sender) {
	name := firstOf(b.text("signature", "signed"), from.name)

	closing := b.text("closing", "valediction")
	if closing != "" {
		b.foot.Open("div", "class", "letter-closing").Line("p", closing)
		b.foot.Line("p", name, "class", "letter-signature").Close("div").Raw("\n")
	}
	b.foot.Line("p", b.text("ps", "postscript"), "class", "letter-note")

	for _, note := range [][]string{{"enclosures", "encl", "enclosure", "attachments"}, {"copies", "cc", "copy"}} {
		if list := names(b.entries(note...), "name", "title"); len(list) > 0 {
			b.foot.Open("p", "class", "letter-note").
				Element("strong", b.label(note[0])+":").
				Text(" " + joined("; ", list...))
			b.foot.Close("p").Raw("\n")
		}
	}
}

// letterPages returns the @page rules of a letter. The first page has no number. A letter of form A or B on A4 has two
// marks for folding and one for punching at its left edge. Chromium draws no backgrounds at a place of the page itself.
// So the marks are the background of a box in the margin, which is as high as the text.
func letterPages(form string, s sheet.Sheet) string {
	side, above, below := s.Strips()
	width, top := s.Left-side, s.Top-above

	const paperWidth, paperHeight, room = 210, 297, 11 // millimetres: A4, and the least margin for the marks
	if form != formA && form != formB || s.Width != paperWidth || s.Height != paperHeight || s.Bleed > 0 ||
		width < room {
		return unnumberedFirst
	}

	folds := [2]float64{105, 210}
	if form == formA {
		folds = [2]float64{87, 192}
	}
	// mark draws a line of this length. at is its distance from the upper edge of the paper. All are in millimetres.
	mark := func(at, length float64) string {
		return fmt.Sprintf("linear-gradient(var(--muted),var(--muted)) 5mm %gmm/%gmm .3mm no-repeat",
			sheet.Round(at-top), length)
	}

	return unnumberedFirst + fmt.Sprintf(
		"@page:first{@left-middle{content:\"\";width:%gmm;height:%gmm;background:%s,%s,%s}}\n",
		sheet.Round(width), sheet.Round(s.Height-top-(s.Bottom-below)),
		mark(folds[0], 4), mark(paperHeight/2, 6), mark(folds[1], 4))
}
