package cite

import (
	"strconv"
	"strings"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/numeral"
)

// itoa returns a number in decimal digits.
func itoa(n int) string { return strconv.Itoa(n) }

var (
	// numeric matches content that CSL treats as a number: "12a", "1–3", "2 & 5". See "Choose".
	numeric = lazyregexp.New(`^\s*[\pL]{0,3}\d+[\pL]{0,4}(?:\s*[-–,&]\s*[\pL]{0,3}\d+[\pL]{0,4})*\s*$`)
	digits  = lazyregexp.New(`\d+`)
	// pageRangePattern matches a range such as N110-N115. Its groups are the prefixes and numbers.
	pageRangePattern = lazyregexp.New(`^(\pL*)(\d+)\s*(?:--?-?|–|—|‒)\s*(\pL*)(\d+)$`)
	// several matches a value that has several numbers or pages.
	several = lazyregexp.New(`\d\s*[-–—,&]|\sand\s|[ivxlc]\s*[-–—]`)
)

// maxNumber is the longest number or range of numbers, in bytes. Longer content is text.
const maxNumber = 100

// isNumeric reports whether CSL treats a text as a number.
func isNumeric(text string) bool { return len(text) <= maxNumber && numeric().MatchString(text) }

// isNumeric calls the function isNumeric and charges its cost to the document.
func (p *processor) isNumeric(text string) bool {
	p.charge(min(len(text), maxNumber))
	return isNumeric(text)
}

// firstNumber returns the first number in a text, "" for none.
func firstNumber(text string) string { return digits().FindString(text) }

// isPlural reports whether the label of a value is plural. For a variable such as "number-of-volumes" it is plural for
// any number except 1, for others if the value has several numbers. See "Label".
func isPlural(variable, value string) bool {
	if strings.HasPrefix(variable, "number-of-") {
		n, err := strconv.Atoi(firstNumber(value))
		return err == nil && n != 1
	}

	return several().MatchString(value)
}

// number renders a number element. Text that is not numeric stays as it is, and so do numbers over 9999. See "Number".
func (r *renderer) number(n *node) (rich, state) {
	text := r.variable(n.attr["variable"], "")
	if len(text) == 0 {
		return nil, empty
	}

	value := text.plain()
	if !r.isNumeric(value) {
		return text, filled
	}
	form := n.attr["form"]
	value = digits().ReplaceAllStringFunc(value, func(d string) string {
		v, err := strconv.Atoi(d)
		switch {
		case err != nil || v > 9999:
			return d
		case form == "ordinal":
			return r.locale.ordinal(v, n.attr["variable"])
		case form == "long-ordinal":
			if word := r.locale.term("long-ordinal-"+pad(v), "", false); word != "" && v <= 10 {
				return word
			}

			return r.locale.ordinal(v, n.attr["variable"])
		case form == "roman":
			return numeral.Roman(v)
		}

		return d
	})

	return plain(strings.ReplaceAll(value, "-", "–")), filled
}

// pad returns a number with at least two digits.
func pad(n int) string {
	if n < 10 {
		return "0" + itoa(n)
	}

	return itoa(n)
}

// ordinal returns an ordinal number such as "1st". It has the gender of the term counted, which is a variable or a
// month. See "Ordinal Suffixes" and "Gender-specific Ordinals".
func (l *locale) ordinal(n int, counted string) string {
	gender := l.terms[termKey(counted, "")].gender

	find := func(name string) (string, bool) {
		if gender != "" {
			if t, ok := l.terms[termKey(name, "")+"/"+gender]; ok {
				return t.single, true
			}
		}
		t, ok := l.terms[termKey(name, "")]

		return t.single, ok
	}
	// A suffix for the last two digits has priority over one for the last digit: 11th, but 21st.
	for _, name := range []string{"ordinal-" + pad(n%100), "ordinal-" + pad(n%10)} {
		if name == "ordinal-"+pad(n%10) && n%100 > 10 && n%100 < 20 && l.lang[:2] == "en" {
			continue
		}

		if suffix, ok := find(name); ok {
			return itoa(n) + suffix
		}
	}
	suffix, _ := find("ordinal")

	return itoa(n) + suffix
}

// pages returns the value of the variable "page" with its ranges in the format of the style. See "Page Ranges".
func (r *renderer) pages(text string) string {
	if strings.IndexByte(text, '-') < 0 && !strings.ContainsAny(text, "–—‒") {
		return text
	}

	dash := r.locale.term("page-range-delimiter", "", false)
	if dash == "" {
		dash = "–"
	}
	r.charge(len(text))
	var out []string

	for part := range strings.SplitSeq(text, ",") {
		var both []string
		for one := range strings.SplitSeq(part, "&") {
			both = append(both, r.pageRange(strings.TrimSpace(one), dash))
		}
		out = append(out, strings.Join(both, " & "))
	}

	return strings.Join(out, ", ")
}

// pageRange formats one range of pages. In a text that is not a range, it only replaces the hyphens.
func (r *renderer) pageRange(text, dash string) string {
	m := pageRangePattern().FindStringSubmatch(text)
	switch {
	case m == nil:
		return strings.ReplaceAll(strings.ReplaceAll(text, "--", "-"), "-", dash)
	case m[3] != "" && m[3] != m[1]:
		return m[1] + m[2] + dash + m[3] + m[4]
	}

	return m[1] + m[2] + dash + shortenedEnd(r.style.root.attr["page-range-format"], m[2], m[4], m[1])
}

// shortenedEnd returns the end of the range of pages from–to in a page-range-format, such as "28" for 321–328.
// Appendix V describes the formats. prefix is the text before both numbers, such as the N of N110.
func shortenedEnd(format, from, to, prefix string) string {
	full := to
	if len(to) < len(from) {
		full = from[:len(from)-len(to)] + to
	}

	if len(full) != len(from) {
		if format == "expanded" {
			return prefix + full
		}

		return full
	}
	// minimal returns the digits of the end from the first different one on, but at least minDigits.
	minimal := func(minDigits int) string {
		i := 0
		for i < len(full)-minDigits && full[i] == from[i] {
			i++
		}

		return full[i:]
	}

	switch format {
	case "expanded":
		return prefix + full
	case "minimal":
		return minimal(1)
	case "minimal-two":
		return minimal(2)
	case "chicago", "chicago-15", "chicago-16":
		n, err := strconv.Atoi(from)
		switch {
		case err != nil || n < 100 || n%100 == 0:
			return full
		case n%100 < 10:
			return minimal(1)
		case format != "chicago-16" && len(from) == 4 && len(minimal(1)) > 2:
			return full
		}

		return minimal(2)
	}

	return to
}
