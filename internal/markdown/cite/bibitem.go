package cite

import (
	"cmp"
	"strings"
	"unicode"
)

// kindOf returns the CSL type for the type of an entry of BibTeX or BibLaTeX.
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
	case "book",
		"mvbook",
		"collection",
		"mvcollection",
		"proceedings",
		"mvproceedings",
		"reference",
		"mvreference",
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

// item returns the entry as an item of CSL. lang is the language of the work unless the entry names one.
// Titles of English works are in sentence case, outside braces: the style sets capitals if it needs them.
func (e entry) item(lang string) *Item {
	f := e.fields
	item := newItem(e.key, kindOf(e))
	set := func(name string, fields ...string) {
		for _, field := range fields {
			if text := texText(f[field], false); text != "" {
				item.Vars[name] = text
				return
			}
		}
	}
	own := strings.ToLower(cmp.Or(f["langid"], f["language"], lang))
	english := strings.HasPrefix(own, "en") || own == "american" || own == "british" || own == "usenglish" ||
		own == "ukenglish"
	title := func(name, main, sub string) {
		text := texText(f[main], true)
		if more := texText(f[sub], true); more != "" && text != "" {
			text += ": " + more
		}

		if english {
			text = sentenceCase(text)
		}

		if text != "" {
			item.Vars[name] = text
		}
	}
	title("title", "title", "subtitle")
	title("title-short", "shorttitle", "")
	set("container-title", "journaltitle", "journal", "booktitle", "maintitle")

	if sub := texText(f["booksubtitle"], false); sub != "" && f["booktitle"] != "" {
		item.Vars["container-title"] += ": " + sub
	}
	set("container-title-short", "shortjournal")
	set("collection-title", "series")
	set("publisher", "publisher", "institution", "school", "organization")
	set("publisher-place", "location", "address")
	set("event-title", "eventtitle")
	set("event-place", "venue")
	set("volume", "volume")
	set("number-of-volumes", "volumes")
	set("number-of-pages", "pagetotal")
	set("chapter-number", "chapter")
	set("edition", "edition")
	set("version", "version")
	set("genre", "type")
	set("note", "note", "addendum")
	set("medium", "howpublished")
	set("status", "pubstate")
	set("keyword", "keywords")
	set("language", "langid", "language")
	set("archive", "archiveprefix", "eprinttype")
	set("section", "section")

	switch item.Type {
	case "article-journal", "article-magazine", "article-newspaper", "periodical":
		set("issue", "number", "issue")
	case "book", "chapter", "paper-conference":
		set("collection-number", "number")
	default:
		set("number", "number")
	}

	// Identifiers are not TeX, but some programs escape them.
	verbatim := strings.NewReplacer(`\_`, "_", `\%`, "%", `\&`, "&", `\#`, "#", "{", "", "}", "")
	for _, name := range []string{"DOI", "ISBN", "ISSN", "URL", "PMID"} {
		if v := strings.TrimSpace(verbatim.Replace(f[strings.ToLower(name)])); v != "" {
			item.Vars[name] = v
		}
	}

	if url := item.Vars["medium"]; item.Vars["URL"] == "" && strings.HasPrefix(url, "http") {
		item.Vars["URL"] = url
		delete(item.Vars, "medium")
	}

	isArXiv := strings.EqualFold(f["archiveprefix"]+f["eprinttype"], "arxiv")
	if eprint := f["eprint"]; eprint != "" && isArXiv && item.Vars["URL"] == "" {
		item.Vars["URL"] = "https://arxiv.org/abs/" + plainTeX(eprint)
	}

	if pages := plainTeX(f["pages"]); pages != "" {
		item.Vars["page"] = strings.NewReplacer("—", "-", "–", "-", "--", "-").Replace(pages)
	}

	if item.Vars["genre"] == "" {
		switch e.kind {
		case "phdthesis":
			item.Vars["genre"] = "PhD thesis"
		case "mastersthesis":
			item.Vars["genre"] = "Master’s thesis"
		}
	}

	for _, field := range []string{"author", "editor", "translator", "director"} {
		if list := readNames(f[field]); len(list) > 0 {
			item.Names[field] = list
		}
	}

	if list := readNames(f["bookauthor"]); len(list) > 0 {
		item.Names["container-author"] = list
	}
	item.Dates = e.dates()

	return item
}

// inherit copies the fields that an entry lacks from the entry in its crossref field. The title of that
// entry becomes the booktitle. It returns the size of the copied fields in bytes.
func (e *entry) inherit(parent entry) (size int) {
	for name, value := range parent.fields {
		switch name {
		case "title":
			name = "booktitle"
		case "subtitle":
			name = "booksubtitle"
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

// sentenceCase makes the first letters of the words of a title small. It keeps the first words of the title
// and of a subtitle, words with capitals or digits within, and text in <span class="nocase">.
func sentenceCase(title string) string {
	after, kept := true, 0

	return eachWord(title, func(w string) string {
		begins := after
		after = strings.HasSuffix(w, ":") || strings.HasSuffix(w, "?") || strings.HasSuffix(w, "!") ||
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

			if first == len(letters) ||
				strings.ContainsFunc(
					string(letters[first+1:]),
					func(r rune) bool { return unicode.IsUpper(r) || unicode.IsDigit(r) },
				) {
				continue
			}
			letters[first] = unicode.ToLower(letters[first])
			parts[i] = string(letters)
		}

		return strings.Join(parts, "-")
	})
}
