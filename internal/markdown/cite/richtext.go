package cite

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/cite/bibfile"
)

// look is a set of font styles and other marks of a run.
type look uint16

const (
	italic look = 1 << iota
	bold
	smallCaps
	underline
	raised
	lowered
	// fixed is text whose case text-case does not change.
	fixed
	// flipped is italic text within an item. It becomes upright if the style is italic.
	flipped
	// upright is text in a normal font, also if the style sets another.
	upright
	// word is a term of the locale, such as "ibid.".
	word
)

// run is a text with one look.
type run struct {
	text string
	look look
	// display is the value of the attribute: "block", "left-margin", "right-inline" or "indent". See
	// "Display".
	display string
}

// rich is a text as runs. No run is empty.
type rich []run

// plain returns a text without a look, nil for "".
func plain(text string) rich {
	if text == "" {
		return nil
	}

	return rich{{text: text}}
}

// plain returns the text without its looks.
func (r rich) plain() string {
	var b strings.Builder
	for _, x := range r {
		b.WriteString(x.text)
	}

	return b.String()
}

// mapped returns a copy whose runs have the texts that change returns. It drops empty runs.
func (r rich) mapped(change func(run) string) rich {
	out := make(rich, 0, len(r))
	for _, x := range r {
		if x.text = change(x); x.text != "" {
			out = append(out, x)
		}
	}

	return out
}

// with adds a look to all runs. It changes r.
func (r rich) with(l look) rich {
	for i := range r {
		r[i].look |= l
	}

	return r
}

// parseText calls the function parseText and charges for it.
func (p *processor) parseText(text string) rich {
	if strings.Contains(text, "<") {
		p.charge(len(text))
	}

	return parseText(text)
}

// parseText reads the markup of CSL-JSON: <i>, <b>, <sup>, <sub>, small capitals, <span class="nocase"> and
// <span class="nodecor">. All other tags are text.
func parseText(text string) rich {
	if !strings.Contains(text, "<") {
		return plain(text)
	}
	var out rich
	var open []look // the looks outside of each open tag
	var now look
	add := func(piece string) {
		if piece != "" {
			out = append(out, run{text: piece, look: now})
		}
	}

	at := 0
	for _, m := range bibfile.Tags(text) {
		add(text[at:m[0]])
		at = m[1]

		tag := strings.ToLower(text[m[0]:m[1]])
		if strings.HasPrefix(tag, "</") {
			if n := len(open); n > 0 {
				now, open = open[n-1], open[:n-1]
			}
			continue
		}
		open = append(open, now)

		switch name := strings.FieldsFunc(tag[1:len(tag)-1], unicode.IsSpace)[0]; {
		case name == "i" || name == "em":
			now ^= flipped
		case name == "b" || name == "strong":
			now |= bold
		case name == "sup":
			now |= raised
		case name == "sub":
			now |= lowered
		case strings.Contains(tag, "nocase"):
			now |= fixed
		case strings.Contains(tag, "nodecor"):
			now |= upright
		case name == "sc" || strings.Contains(tag, "small-caps"):
			now |= smallCaps
		}
	}
	add(text[at:])

	return out
}

// typeset replaces the straight quotation marks and apostrophes of an item by those of the language. It returns a copy.
func (l *locale) typeset(out rich) rich {
	before := ' '
	open := l.term("open-quote", "", false)
	innerOpen, innerShut := l.term("open-inner-quote", "", false), l.term("close-inner-quote", "", false)

	return out.mapped(func(x run) string {
		if !strings.ContainsAny(x.text, `"'`) {
			before, _ = utf8.DecodeLastRuneInString(x.text)
			return x.text
		}
		var b strings.Builder

		last, quoting := strings.LastIndexByte(x.text, '\''), false
		for i, c := range x.text {
			after, _ := utf8.DecodeRuneInString(x.text[i+utf8.RuneLen(c):])

			// A quotation mark opens after a space, a bracket, a dash or another opening mark.
			opens := unicode.IsSpace(before) || strings.ContainsRune("([{—–-“‘", before)
			switch {
			case c == '"' && opens:
				b.WriteString(open)
			case c == '"':
				b.WriteString(l.closeQuote)
			case c == '\'' && opens && !unicode.IsDigit(after) && i < last:
				b.WriteString(innerOpen)
				quoting = true
			case c == '\'' && (unicode.IsLetter(before) && unicode.IsLetter(after) || unicode.IsDigit(after)):
				b.WriteString("’")
			case c == '\'' && quoting:
				b.WriteString(innerShut)
			case c == '\'':
				b.WriteString("’")
			default:
				b.WriteRune(c)
			}
			before = c
		}

		return b.String()
	})
}

// join appends b to a, which it may change. Of two punctuation marks that meet, it drops one: "?" and "." become "?".
// It moves a full stop or a comma into the quotation marks before it if the locale says so. See "Affixes" and
// "Localized Options".
func (l *locale) join(a, b rich) rich {
	if len(a) == 0 {
		return b
	}

	for len(b) > 0 {
		last, first := a[len(a)-1].text, b[0].text
		x, size := utf8.DecodeLastRuneInString(last)

		y, width := utf8.DecodeRuneInString(first)
		// After a quotation mark, the character before the mark decides: “Why?”. becomes “Why?”
		if l.quoted(last) && (y == '.' || y == ',') {
			before, _ := utf8.DecodeLastRuneInString(strings.TrimSuffix(last, l.closeQuote))
			if before == utf8.RuneError && len(a) > 1 {
				before, _ = utf8.DecodeLastRuneInString(a[len(a)-2].text)
			}

			_, second := keep(before, y)
			switch {
			case !second:
			case l.punctuationInQuote:
				a[len(a)-1].text = strings.TrimSuffix(last, l.closeQuote) + string(y) + l.closeQuote
			default:
				return append(a, b...)
			}
			b = drop(b, width)
			continue
		}

		stays, second := keep(x, y)
		if !stays {
			a[len(a)-1].text = last[:len(last)-size]
		}

		if second {
			break
		}
		b = drop(b, width)
	}

	return append(a, b...)
}

// drop returns r without its first n bytes, which are in the first run. It does not change r.
func drop(r rich, n int) rich {
	if len(r[0].text) <= n {
		return r[1:]
	}
	out := append(rich{}, r...)
	out[0].text = out[0].text[n:]

	return out
}

// keep reports which of two characters stay when they meet at the border of two texts.
func keep(a, b rune) (first, second bool) {
	switch a {
	case ' ':
		return true, b != ' '
	case '!', '?':
		return true, b != '.' && b != ':' && b != a
	case ':', ';':
		if b == '!' || b == '?' {
			return false, true
		}

		return true, b != ':' && b != '.' && b != a
	case '.', ',':
		return true, b != a
	case '…':
		return true, b != '.'
	}

	return true, true
}

// quoted reports whether a text ends with a closing quotation mark.
func (l *locale) quoted(text string) bool {
	return l.closeQuote != "" && strings.HasSuffix(text, l.closeQuote)
}

// cut returns the runs in the left margin, and the rest. Unless margin is set, all runs are the rest.
func (r rich) cut(margin bool) (label, rest rich) {
	for _, x := range r {
		if margin && x.display == "left-margin" {
			label = append(label, x)
		} else {
			rest = append(rest, x)
		}
	}

	return label, rest
}

// escape escapes a text for HTML.
func escape(text string) string { return html.EscapeString(text) }

// html returns the text as escaped HTML. Neighbouring runs of one look share an element.
func (r rich) html() string {
	var b strings.Builder
	display := ""

	for i := 0; i < len(r); i++ {
		x := r[i]
		for i+1 < len(r) && (r[i+1].look^x.look)&^(fixed|word) == 0 && r[i+1].display == x.display {
			i++
			x.text += r[i].text
		}

		if x.display != display {
			if display == "block" || display == "indent" {
				b.WriteString("</div>")
			}

			if display = x.display; display == "block" || display == "indent" {
				b.WriteString(`<div class="csl-` + display + `">`)
			}
		}
		b.WriteString(x.html())
	}

	if display == "block" || display == "indent" {
		b.WriteString("</div>")
	}

	return b.String()
}

// html returns a run as HTML.
func (x run) html() string {
	l := x.look
	if l&upright != 0 {
		l &^= italic | bold | smallCaps | underline
	}

	if l&flipped != 0 {
		l ^= italic
	}

	if strings.TrimSpace(x.text) == "" {
		return escape(x.text)
	}

	out, shut := "", ""
	for _, tag := range []struct {
		look       look
		open, shut string
	}{
		{italic, "<em>", "</em>"},
		{bold, "<strong>", "</strong>"},
		{smallCaps, `<span class="csl-caps">`, "</span>"},
		{underline, "<u>", "</u>"},
		{raised, "<sup>", "</sup>"},
		{lowered, "<sub>", "</sub>"},
	} {
		if l&tag.look != 0 {
			out, shut = out+tag.open, tag.shut+shut
		}
	}

	return out + escape(x.text) + shut
}

// address matches a URL in the text of an entry.
var address = lazyregexp.New(`https?://[^\s<>"]+`)

// linkURLs turns the URLs in the HTML of an entry into links, without punctuation after them.
func linkURLs(entry string) string {
	return address().ReplaceAllStringFunc(entry, func(url string) string {
		trimmed := strings.TrimRight(url, ".,;:)]")
		if strings.Count(trimmed, "(") > strings.Count(trimmed, ")") && strings.HasPrefix(url[len(trimmed):], ")") {
			trimmed += ")"
		}

		return `<a href="` + trimmed + `">` + trimmed + "</a>" + url[len(trimmed):]
	})
}
