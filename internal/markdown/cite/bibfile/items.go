// Package bibfile reads the works of bibliography files, CSL-JSON and BibTeX, in the terms of the Citation Style
// Language (https://docs.citationstyles.org/en/stable/specification.html). Comments name the sections and appendices
// of that specification. Read returns a Bibliography of Items; its text is in the markup of CSL-JSON, whose tags Tags
// finds.
package bibfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const (
	// maxBibliography is the largest size of a bibliography, in bytes, and maxItems its largest number of works.
	maxBibliography = 8 << 20
	maxItems        = 50_000
	// maxField is the largest size of a field, in bytes. Longer fields are dropped.
	maxField = 16 << 10
)

// Item is a work in the terms of CSL.
type Item struct {
	// ID is the key by which a document cites the work.
	ID string
	// Type is one of the types of appendix III, such as "article-journal".
	Type string
	// Vars has the standard and number variables of appendix IV, by name. The values may have the markup of
	// CSL-JSON: i, b, sup, sub and span elements.
	Vars map[string]string
	// Names has the name variables, such as "author".
	Names map[string][]Name
	// Dates has the date variables, such as "issued".
	Dates map[string]Date
}

// Name is the name of a person, or of an institution if Literal is set. See "Name Particles".
type Name struct {
	// Family and Given are the parts of a person's name. Either may be "".
	Family, Given string
	// Dropping is a particle that is left out with the given name: the "de" of Jean de La Fontaine.
	Dropping string
	// NonDropping is a particle that stays with the family name: the "van" of Ludwig van Beethoven.
	NonDropping string
	// Suffix is "Jr." or "III". CommaSuffix reports whether a comma precedes it.
	Suffix      string
	CommaSuffix bool
	// Literal is the name of an institution, which is never inverted or shortened.
	Literal string
}

// Date is a date, or a range of dates.
type Date struct {
	// From and To have a year, a month and a day, 0 for unknown parts. To is zero unless the date is a range. A
	// negative year is before Christ. A month from 13 to 24 is a season.
	From, To [3]int
	// Season is 1 for spring to 4 for winter, 0 for none.
	Season int
	// Circa reports whether the date is approximate.
	Circa bool
	// Literal is the text of a date that cannot be read. It counts only if From is zero.
	Literal string
}

// Sortable returns a text whose alphabetical order is the order of the dates.
func (d Date) Sortable() string {
	if d.From[0] == 0 {
		return d.Literal
	}

	// The offset makes years before Christ positive: as text, "-" would sort them in reverse.
	return fmt.Sprintf("%07d%02d%02d%07d", d.From[0]+1_000_000, d.From[1], d.From[2], d.To[0])
}

// IsDate reports whether a variable of CSL is a date variable.
func IsDate(variable string) bool {
	switch variable {
	case "accessed", "available-date", "event-date", "issued", "original-date", "submitted":
		return true
	}

	return false
}

// Bibliography has the works of a file.
type Bibliography struct {
	// Items are the works by their keys.
	Items map[string]*Item
	// Problems has the entries that cannot be read, in the order of the file.
	Problems []Problem
}

// Problem is an entry of a bibliography that cannot be read.
type Problem struct {
	// Line is the line of the entry, from 1, or 0 if it is unknown, as in CSL-JSON.
	Line int
	// Text describes the problem to the author of the file.
	Text string
}

// Read reads a bibliography in CSL-JSON or BibTeX. lang is the language (BCP 47) of works in BibTeX that do not name
// their own. Read skips entries that it cannot read: see Problems. It returns an error, whose text is for the author of
// the file, if the file exceeds a limit or has another format. An empty file has no works.
func Read(data []byte, lang string) (Bibliography, error) {
	if len(data) > maxBibliography {
		return Bibliography{}, fmt.Errorf("it has %d MB; at most %d are allowed", len(data)>>20, maxBibliography>>20)
	}

	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	switch text := bytes.TrimSpace(data); {
	case len(text) == 0:
		return Bibliography{}, nil
	case text[0] == '[', text[0] == '{':
		return readJSON(text)
	}

	return readBibTeX(string(data), lang)
}

// readJSON reads CSL-JSON: an array of works, or the object of Zotero with the array "items".
func readJSON(data []byte) (Bibliography, error) {
	var raw []map[string]json.RawMessage
	if data[0] == '{' {
		var whole struct {
			Items []map[string]json.RawMessage `json:"items"`
		}
		if err := json.Unmarshal(data, &whole); err != nil {
			return Bibliography{}, errors.New("it is neither CSL-JSON nor BibTeX")
		}
		raw = whole.Items
	} else if err := json.Unmarshal(data, &raw); err != nil {
		return Bibliography{}, fmt.Errorf("it is not CSL-JSON: %w", err)
	}

	if len(raw) > maxItems {
		return Bibliography{}, fmt.Errorf("it has %d works; at most %d are allowed", len(raw), maxItems)
	}

	b := Bibliography{Items: make(map[string]*Item, len(raw))}
	for n, fields := range raw {
		item := itemOf(fields)
		if item.ID == "" {
			b.Problems = append(b.Problems, Problem{Text: fmt.Sprintf("work %d has no id", n+1)})
			continue
		}
		b.Items[item.ID] = item
	}

	return b, nil
}

// newItem returns an item without variables.
func newItem(id, kind string) *Item {
	return &Item{ID: id, Type: kind, Vars: map[string]string{}, Names: map[string][]Name{}, Dates: map[string]Date{}}
}

// itemOf returns the item for an object of CSL-JSON. It drops fields longer than maxField, and fields of unknown types.
func itemOf(fields map[string]json.RawMessage) *Item {
	item := newItem(jsonText(fields["id"]), jsonText(fields["type"]))
	for key, raw := range fields {
		switch {
		case key == "id" || key == "type" || len(raw) > maxField:
		case IsDate(key):
			item.Dates[key] = jsonDate(raw)
		case raw[0] == '[':
			if names := jsonNames(raw); len(names) > 0 {
				item.Names[key] = names
			}
		case raw[0] != '{':
			if text := jsonText(raw); text != "" {
				item.Vars[key] = text
			}
		}
	}

	return item
}

// jsonText returns a string or a number as text, "" for any other value.
func jsonText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return joinSpaces(text)
	}

	var number json.Number
	if json.Unmarshal(raw, &number) == nil {
		return number.String()
	}

	return ""
}

// jsonNames reads an array of names. It returns nil for any other array.
func jsonNames(raw json.RawMessage) (names []Name) {
	var list []struct {
		Family      string          `json:"family"`
		Given       string          `json:"given"`
		Dropping    string          `json:"dropping-particle"`
		NonDropping string          `json:"non-dropping-particle"`
		Suffix      string          `json:"suffix"`
		CommaSuffix json.RawMessage `json:"comma-suffix"`
		Literal     string          `json:"literal"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}

	for _, n := range list {
		if given, suffix, ok := strings.Cut(n.Given, ", "); ok && n.Suffix == "" { // "John, III" or "John,! Jr."
			n.Given, n.Suffix = given, suffix
		} else if given, suffix, ok := strings.Cut(n.Given, ",! "); ok && n.Suffix == "" {
			n.Given, n.Suffix, n.CommaSuffix = given, suffix, json.RawMessage("true")
		}

		// Quotation marks mean that the family name has no particle to split off.
		if text, quoted := strings.CutPrefix(n.Family, `"`); quoted && strings.HasSuffix(text, `"`) {
			n.Family = strings.TrimSuffix(text, `"`)
		}

		name := Name{
			Family:      n.Family,
			Given:       n.Given,
			Dropping:    n.Dropping,
			NonDropping: n.NonDropping,
			Suffix:      n.Suffix,
			Literal:     n.Literal,
			CommaSuffix: len(n.CommaSuffix) > 0 && string(n.CommaSuffix) != "false",
		}
		if name.Literal == "" && name.Family == "" {
			name.Literal, name.Given = name.Given, ""
		}

		if name.Family != "" || name.Literal != "" {
			names = append(names, name)
		}
	}

	return names
}

// jsonDate reads a date: an object with "date-parts", "raw" or "literal", or a string.
func jsonDate(raw json.RawMessage) Date {
	var value struct {
		Parts   [][]json.RawMessage `json:"date-parts"`
		Season  json.RawMessage     `json:"season"`
		Circa   json.RawMessage     `json:"circa"`
		Literal string              `json:"literal"`
		Raw     string              `json:"raw"`
	}
	if json.Unmarshal(raw, &value) != nil {
		return parseDate(jsonText(raw))
	}

	if len(value.Parts) == 0 {
		if value.Raw != "" {
			return parseDate(value.Raw)
		}

		return Date{Literal: value.Literal}
	}
	part := func(raws []json.RawMessage) (out [3]int) {
		for i, r := range raws[:min(len(raws), 3)] {
			out[i] = readDatePart(jsonText(r), i)
		}

		return out
	}

	d := Date{From: part(value.Parts[0]), Literal: value.Literal}
	if len(value.Parts) > 1 {
		d.To = part(value.Parts[1])
	}

	d.Season, _ = strconv.Atoi(jsonText(value.Season))
	if circa := string(value.Circa); circa != "" && circa != "false" && circa != "0" && circa != `""` {
		d.Circa = true
	}

	return d
}

// readDatePart reads a part of a date: part 0 is the year, 1 the month and 2 the day. It returns 0 for other text.
// Months from 13 to 24 are seasons.
func readDatePart(text string, part int) int {
	n, err := strconv.Atoi(strings.TrimSpace(text))

	limit := []int{99_999, 24, 31}[part] // the year, the month or season, and the day
	// Month and day are at least 1; years before Christ are negative.
	if err != nil || n > limit || n < -limit || part > 0 && n < 1 {
		return 0
	}

	return n
}

// parseDate reads a date such as 2001-02-03, 2001/2002 or 2001?. A ? or ~ at the end means that it is approximate.
// Other text becomes a Literal.
func parseDate(text string) Date {
	var d Date

	value := strings.TrimSpace(text)
	if v := strings.TrimRight(value, "?~%"); v != value {
		value, d.Circa = v, true
	}

	from, to, _ := strings.Cut(value, "/")
	if to == "" {
		for _, dash := range []string{"--", "–"} {
			if a, b, ok := strings.Cut(value, dash); ok {
				from, to = a, b
			}
		}
	}
	read := func(s string) (out [3]int, ok bool) {
		sign := 1
		if strings.HasPrefix(s, "-") {
			s, sign = s[1:], -1
		}

		for i, f := range strings.SplitN(s, "-", 4) {
			if i > 2 {
				return out, false
			}

			if i == 2 && len(f) > 2 {
				f = f[:2] // a time follows
			}

			if out[i] = readDatePart(f, i); out[i] == 0 {
				return out, false
			}
		}
		out[0] *= sign

		return out, true
	}

	var ok bool
	if d.From, ok = read(strings.TrimSpace(from)); !ok {
		return Date{Literal: text}
	}

	if to != "" {
		d.To, _ = read(strings.TrimSpace(to))
	}

	return d
}
