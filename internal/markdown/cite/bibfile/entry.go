package bibfile

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// kindOf returns the CSL type for the type of an entry of BibTeX or BibLaTeX, "document" for unknown types.
func kindOf(e entry) string {
	switch e.kind {
	case "article", "suppperiodical":
		switch strings.ToLower(e.fields["entrysubtype"]) {
		case "magazine":
			return "article-magazine"
		case "newspaper":
			return "article-newspaper"
		}

		return "article-journal"
	case "book", "mvbook", "collection", "mvcollection", "proceedings", "mvproceedings", "reference", "mvreference",
		"bookinbook":
		return "book"
	case "inbook", "incollection", "suppbook", "suppcollection":
		return "chapter"
	case "inreference":
		return "entry-encyclopedia"
	case "inproceedings", "conference":
		return "paper-conference"
	case "phdthesis", "mastersthesis", "thesis":
		return "thesis"
	case "techreport", "report", "manual":
		return "report"
	case "unpublished":
		return "manuscript"
	case "online", "electronic", "www":
		return "webpage"
	case "booklet":
		return "pamphlet"
	case "patent", "dataset", "software", "standard", "periodical":
		return e.kind
	case "image", "artwork":
		return "graphic"
	case "video", "movie":
		return "motion_picture"
	case "audio", "music":
		return "song"
	case "legislation":
		return "legislation"
	case "jurisdiction":
		return "legal_case"
	case "letter":
		return "personal_communication"
	}

	if e.fields["url"] != "" && e.fields["howpublished"] == "" && e.fields["publisher"] == "" {
		return "webpage"
	}

	return "document"
}

// plainFields maps variables of CSL to the fields that may hold them, by priority.
var plainFields = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}

	for variable, fields := range map[string]string{
		"container-title":       "journaltitle journal booktitle maintitle",
		"container-title-short": "shortjournal",
		"collection-title":      "series",
		"publisher":             "publisher institution school organization",
		"publisher-place":       "location address",
		"event-title":           "eventtitle",
		"event-place":           "venue",
		"volume":                "volume",
		"number-of-volumes":     "volumes",
		"number-of-pages":       "pagetotal",
		"chapter-number":        "chapter",
		"edition":               "edition",
		"version":               "version",
		"genre":                 "type",
		"note":                  "note addendum",
		"medium":                "howpublished",
		"status":                "pubstate",
		"keyword":               "keywords",
		"language":              "langid language",
		"archive":               "archiveprefix eprinttype",
		"section":               "section",
	} {
		all[variable] = strings.Fields(fields)
	}

	return all
})

// item returns the entry as an item of CSL. lang is the language of the work unless the entry names one.
func (e entry) item(lang string) *Item {
	item := newItem(e.key, kindOf(e))
	for variable, fields := range plainFields() {
		e.setText(item, variable, fields...)
	}

	if sub := texText(e.fields["booksubtitle"], false); sub != "" && e.fields["booktitle"] != "" {
		item.Vars["container-title"] += ": " + sub
	}
	english := isEnglish(cmp.Or(e.fields["langid"], e.fields["language"], lang))
	e.setTitle(item, "title", english, "title", "subtitle")
	e.setTitle(item, "title-short", english, "shorttitle", "")
	e.setNumbers(item)
	e.setIdentifiers(item)

	if item.Vars["genre"] == "" {
		switch e.kind {
		case "phdthesis":
			item.Vars["genre"] = "PhD thesis"
		case "mastersthesis":
			item.Vars["genre"] = "Master’s thesis"
		}
	}

	for _, variable := range []string{"author", "editor", "translator", "director", "container-author"} {
		field := variable
		if variable == "container-author" {
			field = "bookauthor"
		}

		if list := readNames(e.fields[field]); len(list) > 0 {
			item.Names[variable] = list
		}
	}
	item.Dates = e.dates()

	return item
}

// isEnglish reports whether a language, a BCP 47 tag or a name of the TeX package babel, is English.
func isEnglish(language string) bool {
	language = strings.ToLower(language)

	return strings.HasPrefix(language, "en") ||
		slices.Contains([]string{"american", "british", "usenglish", "ukenglish"}, language)
}

// setText sets a variable to the text of the first field that is not empty. Without one, the variable stays unset.
func (e entry) setText(item *Item, variable string, fields ...string) {
	for _, field := range fields {
		if text := texText(e.fields[field], false); text != "" {
			item.Vars[variable] = text
			return
		}
	}
}

// setTitle sets a variable to the title and the subtitle in two fields. It converts an English title to sentence case,
// except in braces: CSL expects that case, and a style with title case sets the capitals.
func (e entry) setTitle(item *Item, variable string, english bool, main, sub string) {
	text := texText(e.fields[main], true)
	if more := texText(e.fields[sub], true); more != "" && text != "" {
		text += ": " + more
	}

	if english {
		text = sentenceCase(text)
	}

	if text != "" {
		item.Vars[variable] = text
	}
}

// setNumbers sets the pages and the number. The type of the item decides which variable the number is.
func (e entry) setNumbers(item *Item) {
	switch item.Type {
	case "article-journal", "article-magazine", "article-newspaper", "periodical":
		e.setText(item, "issue", "number", "issue")
	case "book", "chapter", "paper-conference":
		e.setText(item, "collection-number", "number")
	default:
		e.setText(item, "number", "number")
	}

	if pages := plainTeX(e.fields["pages"]); pages != "" {
		item.Vars["page"] = strings.NewReplacer("—", "-", "–", "-", "--", "-").Replace(pages)
	}
}

// setIdentifiers sets the identifiers and the URL. Without a field url, the URL is that in howpublished, or that of an
// eprint on arXiv.
func (e entry) setIdentifiers(item *Item) {
	// Identifiers are not TeX, but some programs escape them.
	verbatim := strings.NewReplacer(`\_`, "_", `\%`, "%", `\&`, "&", `\#`, "#", "{", "", "}", "")
	for _, name := range []string{"DOI", "ISBN", "ISSN", "URL", "PMID"} {
		if v := strings.TrimSpace(verbatim.Replace(e.fields[strings.ToLower(name)])); v != "" {
			item.Vars[name] = v
		}
	}

	if url := item.Vars["medium"]; item.Vars["URL"] == "" && strings.HasPrefix(url, "http") {
		item.Vars["URL"] = url
		delete(item.Vars, "medium")
	}

	// BibTeX names the archive in archiveprefix, BibLaTeX in eprinttype.
	isArXiv := strings.EqualFold(e.fields["archiveprefix"]+e.fields["eprinttype"], "arxiv")
	if eprint := e.fields["eprint"]; eprint != "" && isArXiv && item.Vars["URL"] == "" {
		item.Vars["URL"] = "https://arxiv.org/abs/" + plainTeX(eprint)
	}
}

// inherit copies the fields that an entry lacks from parent, the entry in its crossref field. The title of a
// parent without a booktitle becomes the booktitle. inherit returns the size of the copied fields in bytes.
func (e *entry) inherit(parent entry) (size int) {
	for name, value := range parent.fields {
		switch name {
		case "title", "subtitle":
			if parent.fields["booktitle"] != "" || parent.fields["book"+name] != "" {
				continue
			}
			name = "book" + name
		case "crossref", "keywords", "shorttitle", "author":
			continue
		}

		if _, has := e.fields[name]; !has {
			e.fields[name] = value
			size += len(value)
		}
	}

	return size
}

// dates returns the dates of the entry. BibLaTeX has them in one field, BibTeX in year, month and day.
func (e entry) dates() map[string]Date {
	dates := map[string]Date{}
	set := func(name, text string) {
		// In BibLaTeX "1850~" is about 1850; in TeX ~ is a space.
		if text = plainTeX(strings.ReplaceAll(text, "~", "?")); text != "" {
			dates[name] = parseDate(text)
		}
	}
	set("accessed", e.fields["urldate"])
	set("original-date", e.fields["origdate"])
	set("event-date", e.fields["eventdate"])
	set("issued", e.fields["date"])

	if _, ok := dates["issued"]; !ok && e.fields["year"] != "" {
		d := parseDate(plainTeX(e.fields["year"]))

		month := strings.ToLower(plainTeX(e.fields["month"]))
		if n := readDatePart(month, 1); n > 0 {
			d.From[1] = n
		} else if len(month) >= 3 {
			d.From[1] = readDatePart(months()[month[:3]], 1)
		}

		if d.From[0] == 0 {
			d.From[1] = 0
		} else if d.From[1] > 0 {
			d.From[2] = readDatePart(e.fields["day"], 2)
		}
		dates["issued"] = d
	}

	return dates
}

// sentenceCase makes the first letters of the words of a title small. It keeps the first words of the title and of a
// subtitle, and text in <span class="nocase">. It also keeps words with later capitals or digits, such as pH or H2O.
func sentenceCase(title string) string {
	next, kept := true, 0 // whether the next word begins a part of the title; the number of open spans

	return EachWord(title, func(w string) string {
		begins := next
		// The word after one of these marks begins a part of the title. A single letter with a full stop is an
		// initial.
		next = strings.HasSuffix(w, ":") || strings.HasSuffix(w, "?") || strings.HasSuffix(w, "!") ||
			strings.HasSuffix(w, ".") && len(w) > 2
		inside := kept > 0

		kept += strings.Count(w, "<span") - strings.Count(w, "</span")
		if begins || inside || strings.Contains(w, "<") {
			return w
		}

		parts := strings.Split(w, "-")
		for i, part := range parts {
			letters := []rune(part)
			if len(letters) < 2 && w != "A" { // a symbol or an initial, but not the article
				continue
			}

			first := 0
			for first < len(letters) && !unicode.IsLetter(letters[first]) {
				first++
			}

			if first == len(letters) || slices.ContainsFunc(letters[first+1:], func(r rune) bool {
				return unicode.IsUpper(r) || unicode.IsDigit(r)
			}) {
				continue
			}
			letters[first] = unicode.ToLower(letters[first])
			parts[i] = string(letters)
		}

		return strings.Join(parts, "-")
	})
}
