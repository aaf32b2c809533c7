package cite

import (
	"cmp"
	"maps"
	"slices"

	"presswork/internal/markdown/cite/bibfile"
	"presswork/internal/markdown/numeral"
)

// date renders a date element: in a form of the locale ("Localized Date Formats"), or part by part. An unknown
// date has the state empty.
func (r *renderer) date(n *node) (rich, state) {
	name := n.attr["variable"]

	d := r.work.item.Dates[name]
	if r.suppressed[name] || d.From[0] == 0 && d.Literal == "" {
		return nil, empty
	}

	if d.From[0] == 0 {
		return r.finished(n, parseText(d.Literal)), filled
	}

	parts, delimiter := n.children, n.attr["delimiter"]
	if form := n.attr["form"]; form != "" {
		localized := r.locale.dates[form]
		if localized == nil {
			return nil, empty
		}
		r.charge(len(n.children) + len(localized.children))

		own := map[string]*node{}
		for _, k := range n.children {
			own[k.attr["name"]] = k
		}
		delimiter = localized.attr["delimiter"]
		parts = nil

		wanted := n.attr["date-parts"]
		for _, k := range localized.children {
			part := k.attr["name"]
			if wanted == "year" && part != "year" || wanted == "year-month" && part == "day" {
				continue
			}

			if mine := own[part]; mine != nil { // the attributes of the style override those of the locale
				merged := &node{name: "date-part", attr: maps.Clone(k.attr)}
				maps.Copy(merged.attr, mine.attr)
				k = merged
			}
			parts = append(parts, k)
		}
	}

	if r.sorting {
		return plain(onlyParts(d, parts).Sortable()), filled
	}

	out := r.dateRange(d, parts, delimiter, name)
	if len(out) == 0 {
		return nil, empty
	}

	return r.finished(n, out), filled
}

// onlyParts returns a date with only the parts that are rendered. A sort key must not order by the others.
func onlyParts(d bibfile.Date, parts []*node) bibfile.Date {
	for i, name := range []string{"year", "month", "day"} {
		if !slices.ContainsFunc(parts, func(k *node) bool { return k.attr["name"] == name }) {
			d.From[i], d.To[i] = 0, 0
		}
	}

	return d
}

// dateRange renders a date or a range of dates. Parts that are equal in both dates are rendered once:
// "3–5 May 2001". See "Date Ranges".
func (r *renderer) dateRange(d bibfile.Date, parts []*node, delimiter, name string) rich {
	if d.To[0] == 0 || d.To == d.From {
		return r.dateParts(d.From, d.Season, parts, delimiter, name, false, false)
	}
	index := map[string]int{"year": 0, "month": 1, "day": 2}
	// differs is the largest part that differs. All smaller parts count as different.
	differs := 0
	for differs < 2 && d.From[differs] == d.To[differs] {
		differs++
	}
	varies := func(k *node) bool { return index[k.attr["name"]] >= differs }

	first := slices.IndexFunc(parts, varies)
	if first < 0 {
		return r.dateParts(d.From, d.Season, parts, delimiter, name, false, false)
	}

	last := len(parts) - 1
	for last > first && !varies(parts[last]) {
		last--
	}

	largest := first
	for i, k := range parts {
		if varies(k) && index[k.attr["name"]] < index[parts[largest].attr["name"]] {
			largest = i
		}
	}
	dash := cmp.Or(parts[largest].attr["range-delimiter"], "–")
	l := r.locale
	out := r.dateParts(d.From, d.Season, parts[:last+1], delimiter, name, false, true)
	out = l.join(out, plain(dash))

	return l.join(out, r.dateParts(d.To, 0, parts[first:], delimiter, name, true, false))
}

// dateParts renders those parts of a date that have a value. In a range, the first part after the dash loses its
// prefix, and the last part before the dash its suffix.
func (r *renderer) dateParts(
	date [3]int,
	season int,
	parts []*node,
	delimiter, name string,
	afterDash, beforeDash bool,
) (out rich) {
	for i, k := range parts {
		r.step()

		piece := r.datePart(date, season, k, name)
		if piece == "" {
			continue
		}

		bare := &node{attr: maps.Clone(k.attr)}
		if afterDash && len(out) == 0 {
			delete(bare.attr, "prefix")
		}

		if beforeDash && i == len(parts)-1 {
			delete(bare.attr, "suffix")
		}

		if len(out) > 0 && delimiter != "" {
			out = r.locale.join(out, plain(delimiter))
		}
		out = r.locale.join(out, r.finished(bare, plain(piece)))
	}

	return out
}

// datePart returns the text of one part of a date, "" if the date does not have it. The first year that is rendered of
// the variable "issued" gets the suffix of the work. See "Date-part", "AD and BC" and "Seasons".
func (r *renderer) datePart(date [3]int, season int, k *node, name string) string {
	form := k.attr["form"]
	switch k.attr["name"] {
	case "year":
		year := date[0]

		text := itoa(year)
		switch {
		case year < 0:
			text = itoa(-year) + r.locale.term("bc", "", false)
		case year < 1000:
			text += r.locale.term("ad", "", false)
		case form == "short":
			text = pad(year % 100)
		}

		// The year has a letter if it would otherwise be ambiguous, unless the style prints the letter itself.
		if name == "issued" && r.work.suffix > 0 && !r.style.yearSuffixed && !r.dated && !r.sorting {
			text += numeral.Letters(r.work.suffix)
			r.dated = true
		}

		return text
	case "month":
		month := date[1]
		switch {
		case month == 0 && season > 0 || month > 12:
			if month > 12 {
				season = (month-1)%4 + 1
			}

			return r.locale.term("season-0"+itoa(min(season, 4)), "", false)
		case month == 0:
			return ""
		case form == "numeric":
			return itoa(month)
		case form == "numeric-leading-zeros":
			return pad(month)
		}

		return r.locale.term("month-"+pad(month), form, false)
	case "day":
		switch day := date[2]; {
		case day == 0:
			return ""
		case form == "numeric-leading-zeros":
			return pad(day)
		case form == "ordinal" && (day == 1 || !r.locale.firstDayOnly):
			return r.locale.ordinal(day, "month-"+pad(date[1]))
		default:
			return itoa(day)
		}
	}

	return ""
}
